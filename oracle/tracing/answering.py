"""May a leader answer this? It serves, refuses, or tells where logs diverge: invariant 18, and who checks the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.tracing.epoch_answers import EpochAnswers, is_prefix_possible
from oracle.tracing.errors import allowed_errors
from oracle.tracing.exchange import NO_ERROR
from oracle.tracing.invariants import Invariant
from oracle.tracing.observed import FetchAnswered, FetchSent, LookupAnswered, LookupSent
from oracle.tracing.watermarks import Watermarks

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.exchange import Exchange
    from oracle.tracing.invariants import Judge
    from oracle.tracing.leadership import Leadership
    from oracle.tracing.possibility import Possibility
    from oracle.tracing.replica import Replica


class Answering:
    """Checks what leaders answer, and so resolves what they may be."""

    def __init__(self, rules: RuleSet, judge: Judge) -> None:
        """Check under a release's rules."""
        self._rules = rules
        self._judge = judge
        self._epochs = EpochAnswers(rules, judge)
        self._watermarks = Watermarks(rules, judge)

    def receive(self, leader: Replica, exchange: Exchange, at: int) -> None:
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
        if any(self._may_be_recorded(replica, request) for replica in leading):
            view.received(request.follower, request.fetch_offset, at)
            self._note_join(view, request, leading)

    def _note_join(self, view: Leadership, request: FetchSent, leading: list[Possibility]) -> None:
        """Note whether this fetch lets its follower join the ISR, whatever else is unknown."""
        starts = [one.log.low.start_of(one.leader_epoch) for one in leading]
        if any(self._rules.joins_isr(request.fetch_offset, view.low, start) for start in starts):
            view.follower(request.follower).may_join = True

    def _may_be_recorded(self, replica: Possibility, request: FetchSent) -> bool:
        """Tell whether a leader records the follower's end: unless it is of another epoch, or diverges for certain."""
        epoch = request.current_leader_epoch
        if epoch is not None and not self._rules.serves_epoch(epoch, replica.leader_epoch):
            return False
        return self._rules.counts_diverging_fetch or is_prefix_possible(replica, request, self._rules)

    def answer(self, leader: Replica, exchange: Exchange, answer: FetchAnswered | LookupAnswered) -> None:
        """Check an answer."""
        _note_roles(exchange, leader.reachable(), leader)
        self._check_error(leader, exchange, answer.error)
        if answer.error != NO_ERROR:
            self._not_recorded(leader, exchange)
            return
        leader.has_served |= isinstance(answer, FetchAnswered)
        if self._settle(leader, exchange):
            self._check_served(leader, exchange, answer)

    def _check_error(self, leader: Replica, exchange: Exchange, error: int) -> None:
        allowed = allowed_errors(leader, exchange, self._rules)
        if not self._judge.keeps(Invariant.ERROR_CODE, error in allowed):
            observed = f"broker {leader.broker} answers broker {exchange.request.follower} with error {error}"
            listed = ", ".join(map(str, sorted(allowed)))
            rule = "fence-leader-epoch" if exchange.request.current_leader_epoch is not None else "nobody-to-send-to"
            raise self._judge.refusal(Invariant.ERROR_CODE, observed, f"one of {listed}", rule)

    def _settle(self, leader: Replica, exchange: Exchange) -> bool:
        """Drop what cannot have served the request's epoch: it was served; return whether anything is left."""
        epoch = exchange.request.current_leader_epoch
        serving = [
            one
            for one in leader.reachable()
            if one.leader == leader.broker and (epoch is None or self._rules.serves_epoch(epoch, one.leader_epoch))
        ]
        if serving:
            leader.keep(serving)
        return bool(serving)

    def _not_recorded(self, leader: Replica, exchange: Exchange) -> None:
        if leader.leadership is not None and isinstance(exchange.request, FetchSent):
            leader.leadership.not_recorded(exchange.request.follower, exchange.offset_before)

    def _check_served(self, leader: Replica, exchange: Exchange, answer: FetchAnswered | LookupAnswered) -> None:
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


def _note_roles(exchange: Exchange, reachable: list[Possibility], leader: Replica) -> None:
    """Note which epochs and roles the leader may have had while it handled the request."""
    exchange.epochs |= {replica.leader_epoch for replica in reachable}
    for replica in reachable:
        if replica.leader == leader.broker:
            exchange.may_lead = True
            exchange.end = min(exchange.end, replica.log.low.end)
        else:
            exchange.may_not_lead = True
