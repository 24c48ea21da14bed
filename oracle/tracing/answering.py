"""May a leader answer this? It serves, refuses, or tells where logs diverge: invariant 18, and who checks the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.error_codes import ErrorCode
from oracle.log import NO_EPOCH
from oracle.rules.reassignment import UnknownReplica
from oracle.tracing.epoch_answers import EpochAnswers, is_prefix_possible
from oracle.tracing.exchange import NO_ERROR
from oracle.tracing.invariants import Invariant
from oracle.tracing.observed import FetchAnswered, FetchSent, LookupAnswered, LookupSent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.exchange import Exchange
    from oracle.tracing.invariants import Judge
    from oracle.tracing.leadership import Leadership
    from oracle.tracing.possibility import Possibility
    from oracle.tracing.replica import TracedReplica
    from oracle.vocabulary import LeaderEpoch, Offset


class Answering:
    """Checks what leaders answer, and so resolves what they may be."""

    def __init__(self, rules: RuleSet, judge: Judge) -> None:
        """Check under a release's rules."""
        self._rules = rules
        self._judge = judge
        self._epochs = EpochAnswers(rules, judge)
        self._watermarks = Watermarks(rules, judge)

    def receive(self, leader: TracedReplica, exchange: Exchange, at: int) -> None:
        """Note what is known when a request reaches its leader; a fetch may be recorded from now on."""
        request = exchange.request
        exchange.received_at = at
        reachable = leader.reachable()
        _note_roles(exchange, reachable, leader)
        view = leader.leadership
        if view is None or not isinstance(request, FetchSent):
            return
        leading = [replica for replica in reachable if replica.leader == leader.broker]
        view.pass_time(at)
        exchange.low, exchange.high = view.low, view.high
        exchange.offset_before = view.follower(request.follower).received
        exchange.is_immediate = bool(leading) and all(one.log.low.end > request.fetch_offset for one in leading)
        exchange.may_be_recorded = any(self._may_be_recorded(replica, request) for replica in leading)
        if exchange.may_be_recorded:
            view.received(request.follower, request.fetch_offset, at)
            self._note_join(view, request, leading)

    def hear(self, leader: TracedReplica, exchanges: Iterable[Exchange], at: int) -> None:
        """Note that a leader heard a decision: what reached it before, and waits, it may handle in the new epoch."""
        for exchange in exchanges:
            is_waiting = exchange.received_at is not None and exchange.answer is None
            if is_waiting and not exchange.may_be_recorded and exchange.request.leader == leader.broker:
                self.receive(leader, exchange, at)

    def _note_join(self, view: Leadership, request: FetchSent, leading: list[Possibility]) -> None:
        """Note whether this fetch lets its follower join the ISR, whatever else is unknown."""
        starts = [one.log.low.start_of(one.leader_epoch) for one in leading]
        if any(self._rules.joins_isr(request.fetch_offset, view.low, start) for start in starts):
            view.follower(request.follower).may_join = True

    def _may_be_recorded(self, replica: Possibility, request: FetchSent) -> bool:
        """Tell whether a leader records the follower's end: unless it is of another epoch, or diverges for certain."""
        epoch = _named_epoch(request, self._rules)
        if epoch is not None and not self._rules.serves_epoch(epoch, replica.leader_epoch):
            return False
        return self._rules.counts_diverging_fetch or is_prefix_possible(replica, request, self._rules)

    def answer(self, leader: TracedReplica, exchange: Exchange, answer: FetchAnswered | LookupAnswered) -> None:
        """Check an answer."""
        _note_roles(exchange, leader.reachable(), leader)
        self._check_error(leader, exchange, answer.error)
        if answer.error != NO_ERROR:
            self._not_recorded(leader, exchange)
            return
        leader.has_served |= isinstance(answer, FetchAnswered)
        if self._settle(leader, exchange):
            self._check_served(leader, exchange, answer)

    def _check_error(self, leader: TracedReplica, exchange: Exchange, error: int) -> None:
        allowed = allowed_errors(leader, exchange, self._rules)
        if not self._judge.keeps(Invariant.ERROR_CODE, error in allowed):
            observed = f"broker {leader.broker} answers broker {exchange.request.follower} with error {error}"
            listed = ", ".join(map(str, sorted(allowed)))
            is_named = _named_epoch(exchange.request, self._rules) is not None
            rule = "fence-leader-epoch" if is_named else "nobody-to-send-to"
            raise self._judge.refusal(Invariant.ERROR_CODE, observed, f"one of {listed}", rule)

    def _settle(self, leader: TracedReplica, exchange: Exchange) -> bool:
        """Drop what cannot have served the request's epoch: it was served; return whether anything is left."""
        epoch = _named_epoch(exchange.request, self._rules)
        serving = [
            one
            for one in leader.reachable()
            if one.leader == leader.broker and (epoch is None or self._rules.serves_epoch(epoch, one.leader_epoch))
        ]
        if serving:
            leader.keep(serving)
        return bool(serving)

    def _not_recorded(self, leader: TracedReplica, exchange: Exchange) -> None:
        if leader.leadership is not None and isinstance(exchange.request, FetchSent):
            leader.leadership.not_recorded(exchange.request.follower, exchange.offset_before)

    def _check_served(self, leader: TracedReplica, exchange: Exchange, answer: FetchAnswered | LookupAnswered) -> None:
        view, request = leader.leadership, exchange.request
        if isinstance(request, LookupSent):
            assert isinstance(answer, LookupAnswered)
            self._epochs.check_lookup(leader, request, answer)
            return
        assert isinstance(answer, FetchAnswered)
        self._epochs.check_divergence(leader, request, answer)
        self._epochs.check_runs(leader, answer)
        assert view is not None
        view.pass_time(answer.at)
        if answer.diverging_epoch is None or self._rules.counts_diverging_fetch:
            end = min(one.log.low.end for one in leader.possible)
            view.received(request.follower, request.fetch_offset, exchange.received_at or answer.at)
            self._note_join(view, request, leader.possible)
            view.recorded(request.follower, request.fetch_offset, end)
            if not answer.runs and end <= request.fetch_offset and exchange.received_at is not None:
                view.follower(request.follower).caught_up_at = exchange.received_at
        else:
            view.not_recorded(request.follower, exchange.offset_before)
        self._watermarks.check(view, exchange, answer)


def _named_epoch(request: FetchSent | LookupSent, rules: RuleSet) -> LeaderEpoch | None:
    """Return the leader epoch that a leader finds in a request; None if it has none, or is not looked at there."""
    is_looked_at = rules.session_names_epoch or isinstance(request, LookupSent) or not request.is_in_session
    return request.current_leader_epoch if is_looked_at else None


def _note_roles(exchange: Exchange, reachable: list[Possibility], leader: TracedReplica) -> None:
    """Note which epochs and roles the leader may have had while it handled the request, and whom it may have known."""
    view = leader.leadership
    exchange.may_be_of_stranger |= view is not None and exchange.request.follower not in view.known
    exchange.epochs |= {replica.leader_epoch for replica in reachable}
    for replica in reachable:
        if replica.leader == leader.broker:
            exchange.may_lead = True
            exchange.end = min(exchange.end, replica.log.low.end)
        else:
            exchange.may_not_lead = True


# Which errors may a broker answer to a follower? By its epochs, its role and its log; invariant 18.
#
# Sources: Partition.getPartitionOrException, checkCurrentLeaderEpoch, localLogWithEpochOrThrow; FetchSession.


SESSION_ERRORS = frozenset({ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH})
TOPIC_ID_ERRORS = frozenset(
    {ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.INCONSISTENT_TOPIC_ID, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR}
)
NO_PARTITION = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.LEADER_NOT_AVAILABLE,
    }
)
WITH_SESSIONS = 7
WITH_TOPIC_IDS = 13


def allowed_errors(leader: TracedReplica, exchange: Exchange, rules: RuleSet) -> frozenset[ErrorCode]:
    """Return the errors that a broker may answer to this request, by the epochs and roles it may have had."""
    allowed = {ErrorCode.KAFKA_STORAGE_ERROR}
    epoch = _named_epoch(exchange.request, rules)
    known = exchange.epochs - {NO_EPOCH}
    if NO_EPOCH in exchange.epochs:
        allowed |= NO_PARTITION | {ErrorCode.UNKNOWN_SERVER_ERROR}
    if not leader.has_served:
        allowed.add(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if exchange.may_lead and (epoch is None or any(rules.serves_epoch(epoch, mine) for mine in known)):
        allowed.add(ErrorCode.NONE)
    if exchange.may_not_lead and (epoch is None or epoch in known):
        allowed.add(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if exchange.is_of_earlier_start and not rules.counts_fetch_of_earlier_start:
        allowed.add(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if not exchange.is_follower_down and not _diverges(exchange):
            allowed.discard(ErrorCode.NONE)
    if epoch is not None and any(mine > epoch for mine in known):
        allowed.add(ErrorCode.FENCED_LEADER_EPOCH)
    if epoch is not None and any(mine < epoch for mine in exchange.epochs):
        allowed.add(ErrorCode.UNKNOWN_LEADER_EPOCH)
    return frozenset(allowed | _of_fetch(leader, exchange, rules) | _of_stranger(exchange))


def _diverges(exchange: Exchange) -> bool:
    """Return whether the answer is that logs diverge: then nobody looks at the start (Partition.fetchRecords)."""
    return isinstance(exchange.answer, FetchAnswered) and exchange.answer.diverging_epoch is not None


def _of_fetch(leader: TracedReplica, exchange: Exchange, rules: RuleSet) -> set[ErrorCode]:
    """Return the errors of the fetch itself: its other partitions, its session, its topic ids, its offset."""
    request = exchange.request
    if not isinstance(request, FetchSent):
        return set()
    allowed: set[ErrorCode] = set()
    if request.has_others and rules.unknown_replica is UnknownReplica.FAILS_FETCH:
        allowed.add(ErrorCode.UNKNOWN_SERVER_ERROR)
    if request.api_version >= WITH_SESSIONS:
        allowed |= SESSION_ERRORS
    if request.api_version >= WITH_TOPIC_IDS:
        allowed |= TOPIC_ID_ERRORS
    if request.fetch_offset > exchange.end or request.fetch_offset < leader.log_start_offset:
        allowed.add(ErrorCode.OFFSET_OUT_OF_RANGE)
    return allowed


def _of_stranger(exchange: Exchange) -> set[ErrorCode]:
    """Return the errors for a follower that the leader may not know to be assigned."""
    if not exchange.may_be_of_stranger:
        return set()
    return {ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER}


# Is the high watermark in an answer one that its leader may have? Invariants 14, 21 and 22.


OF_LEADER = "high-watermark-is-lowest-end-offset"
OF_FOLLOWER = "follower-learns-high-watermark-from-answer"
STRICT = "high-watermark-needs-min-isr"


class Watermarks:
    """Checks the high watermarks that leaders tell."""

    def __init__(self, rules: RuleSet, judge: Judge) -> None:
        """Check under a release's rules."""
        self._rules = rules
        self._judge = judge

    def check(self, view: Leadership, exchange: Exchange, answer: FetchAnswered) -> None:
        """Check the high watermark in an answer: an immediate one was read before its own fetch counted."""
        told = answer.high_watermark
        is_after = self._rules.answers_new_high_watermark
        low = view.low if is_after else exchange.low
        high = view.high if is_after or not exchange.is_immediate else view.highest_without(exchange)
        if view.is_frozen():
            is_still = self._judge.keeps(Invariant.FROZEN_HIGH_WATERMARK, told <= high or told > view.thawed_high)
            if not is_still:
                raise self._refusal(Invariant.FROZEN_HIGH_WATERMARK, view, told, f"at most {high}", STRICT)
        self._check_bounds(view, told, low, high)
        view.hear(told)

    def _check_bounds(self, view: Leadership, told: Offset, low: Offset, high: Offset) -> None:
        invariant, rule = Invariant.HIGH_WATERMARK_OF_LEADER, OF_LEADER
        if view.knows_start_only():
            invariant, rule = Invariant.HIGH_WATERMARK_OF_FOLLOWER, OF_FOLLOWER
        if not self._judge.keeps(invariant, low <= told <= high):
            raise self._refusal(invariant, view, told, f"between {low} and {high}" if low < high else str(low), rule)

    def _refusal(self, invariant: Invariant, view: Leadership, told: Offset, allowed: str, rule: str) -> Exception:
        return self._judge.refusal(invariant, f"leader {view.broker} tells the high watermark {told}", allowed, rule)
