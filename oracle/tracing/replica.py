"""What may one broker's replica be by now? Every possibility that agrees with what was seen of the broker.

Almost always there is one. More arise where the trace does not tell the order of hidden steps: whether a
broker has applied a decision that has reached it, whether it took an answer before. What it sends next
tells, and the others are dropped.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from oracle.log import NO_EPOCH
from oracle.replacing import replace
from oracle.tracing.fetcher import partly_taken, taken
from oracle.tracing.known_log import START
from oracle.tracing.possibility import OffsetBounds, Possibility, applied, with_first_record
from oracle.vocabulary import Offset

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.exchange import Exchange
    from oracle.tracing.leadership import Leadership
    from oracle.tracing.observed import LeadershipHeard, RequestKey
    from oracle.vocabulary import BrokerId, LeaderEpoch


HISTORY = 64
"""So many earlier numbers of a replica are kept, for measurements that took a while."""
POSSIBLE_MAX = 64
"""So many possibilities of a replica are followed; brokers of the release that is replayed leave hardly ten open."""


class TooManyPossibleError(Exception):
    """What a replica may be is not followed any more: too much is possible."""

    def __init__(self, broker: BrokerId) -> None:
        """Say whose replica it is."""
        super().__init__(f"more than {POSSIBLE_MAX} possibilities of what the replica of broker {broker} may be")


class Held(NamedTuple):
    """Numbers that a replica had until some moment."""

    until: int
    end: OffsetBounds
    high_watermark: OffsetBounds


class TracedReplica:
    """One broker's replica of one partition."""

    def __init__(self, broker: BrokerId, rules: RuleSet, earlier: Iterable[Possibility] = ()) -> None:
        """Begin with an empty log, before the broker has heard of the partition, or after its replica was deleted."""
        self.broker = broker
        self.possible: list[Possibility] = [Possibility()]
        self.leadership: Leadership | None = None
        self.under_way: Exchange | None = None
        self.log_start_offset = Offset(0)
        self.has_served = False  # until it has, its broker may not know the topic
        self.earlier = list(earlier)
        self.late_until: int | None = None  # when a request of ``earlier`` is too late; None if nothing counts yet
        self.history: deque[Held] = deque(maxlen=HISTORY)
        self._decisions: list[LeadershipHeard] = []
        self._void: set[int] = set()
        self._highest_ever = Offset(0)
        self._last_epoch = NO_EPOCH
        self._last_connection = -1
        self._connections_before = -1
        self._rules = rules

    def is_of_earlier_life(self, key: RequestKey) -> bool:
        """Return whether a request went out on a connection from before the broker's last end; note it if not."""
        self._last_connection = max(self._last_connection, key.connection)
        return key.connection <= self._connections_before

    def hear(self, decision: LeadershipHeard) -> None:
        """Note a decision that the broker may apply from now on, unless that would change nothing."""
        if decision.key is not None or not self._is_known(decision):
            self._decisions.append(decision)

    def _is_known(self, decision: LeadershipHeard) -> bool:
        """Return whether a decision says of leader and epoch what the broker has heard before: only the ISR changed."""
        told = (decision.leader, decision.leader_epoch)
        if not self._decisions:
            return all((replica.leader, replica.leader_epoch) == told for replica in self.possible)
        last = self._decisions[-1]
        is_as_assigned = (self.broker in last.replicas) == (self.broker in decision.replicas)
        return is_as_assigned and (last.leader, last.leader_epoch) == told

    def has_applied(self, key: RequestKey) -> LeadershipHeard | None:
        """Drop what has not applied the decision of a request that is answered by now; return the decision."""
        decision = next((known for known in self._decisions if known.key == key), None)
        places = [place for place, decision in enumerate(self._decisions, 1) if decision.key == key]
        if places:
            reachable = self.reachable()
            self.earlier = [replica for replica in reachable if replica.heard < places[0]]
            self.late_until = None
            self.keep(replica for replica in reachable if replica.heard >= places[0])
        return decision

    def has_refused(self, key: RequestKey) -> None:
        """Note that the broker refused a decision: it never applies it."""
        for place, decision in enumerate(self._decisions):
            if decision.key == key:
                del self._decisions[place]
                self.possible = [replace(one, heard=one.heard - (one.heard > place)) for one in self.possible]
                return

    def reachable(self) -> list[Possibility]:
        """Return every possibility after any hidden steps, those with the most steps last.

        Raises:
            TooManyPossibleError: there are too many.
        """
        if not self._may_step():
            return self.possible
        queue = _distinct(self.possible)
        for replica in queue:
            for after in self._steps(replica, queue):
                if after not in queue:  # so few are compared sooner than hashed
                    queue.append(after)
                    self._require_few(queue)
        return queue

    def _require_few(self, possible: list[Possibility]) -> None:
        if len(possible) > POSSIBLE_MAX:
            raise TooManyPossibleError(self.broker)

    def _may_step(self) -> bool:
        """Return whether anything hidden may have happened."""
        exchange = self.under_way
        if self._decisions or (exchange is not None and exchange.is_answered):
            return True
        return self.leadership is not None and not self._rules.writes_epoch_on_election

    def _steps(self, replica: Possibility, known: list[Possibility]) -> Iterator[Possibility]:
        """Yield what the replica may be one hidden step later; no first record that is known, or part of what is."""
        exchange = self.under_way
        if replica.leader != self.broker:  # who leads drops it, sooner or later
            if exchange is not None and exchange.is_answered and not replica.has_taken:
                yield from taken(replica, exchange, self._rules)
        else:
            begun = with_first_record(replica, self._rules)
            yield from (after for after in begun if not any(one.covers(after) for one in known))
        merges = self._rules.delivery.merges
        until = len(self._decisions) if merges else min(replica.heard + 1, len(self._decisions))
        for place in range(replica.heard, until):
            led = None if self.leadership is None else OffsetBounds(self.leadership.low, self.leadership.high)
            for after in applied(replica, self._decisions[place], led, self._rules):
                yield replace(after, heard=place + 1)

    def keep(self, possible: Iterable[Possibility]) -> None:
        """Keep these possibilities; forget decisions that all of them have applied, and a leadership that is over.

        Raises:
            TooManyPossibleError: there are too many.
        """
        kept = _distinct(possible)
        self._require_few(kept)
        done = min((replica.heard for replica in kept), default=0) if self._decisions else 0
        if done:
            kept = [replace(replica, heard=replica.heard - done) for replica in kept]
            self._decisions = self._decisions[done:]
        self.possible = kept
        for replica in kept:
            if replica.high_watermark.high > self._highest_ever:
                self._highest_ever = replica.high_watermark.high
        if self.leadership is not None and not self.may_lead():
            self._highest_ever = max(self._highest_ever, self.leadership.high)
            self.leadership = None

    def begin_at(self, start: Offset) -> None:
        """Note that the broker's log begins there, or later."""
        if start > self.log_start_offset:
            self.log_start_offset = start
            self.keep(one.with_log(log) for one in self.possible for log in one.log.starting_at(start))

    def may_begin_at(self, start: Offset) -> None:
        """Note that the broker's log may begin there from now on: it was asked to, and no answer tells yet."""
        self.keep((*self.possible, *(one.with_log(log) for one in self.possible for log in one.log.starting_at(start))))

    def resolve(self, at: int, possible: Iterable[Possibility]) -> None:
        """Keep these possibilities, and remember which numbers the replica may have had until now."""
        before = [(replica.log.low.end, replica.log.high.end, replica.high_watermark) for replica in self.possible]
        self.keep(possible)
        after = [(replica.log.low.end, replica.log.high.end, replica.high_watermark) for replica in self.possible]
        if before != after:
            self.history.extend(Held(at, OffsetBounds(low, high), watermark) for low, high, watermark in before)

    def may_lead(self) -> bool:
        """Return whether the broker may believe that it leads, now or once it applies what it was told."""
        leads = any(replica.leader == self.broker for replica in self.possible)
        return leads or any(decision.leader == self.broker for decision in self._decisions)

    def epochs(self) -> frozenset[LeaderEpoch]:
        """Return the leader epochs that the broker may be in."""
        return frozenset(replica.leader_epoch for replica in self.reachable())

    def end(self, *, clean: bool) -> None:
        """End the process: the log stays; whom it followed, and what was under way, is forgotten.

        One that is killed while it appends an answer has written part of it, at most.
        """
        reachable = self.reachable()
        if not clean:
            reachable = [*reachable, *self._cut_short(reachable)]
        self._last_epoch = max(self._last_epoch, *(replica.log.high.latest_epoch for replica in reachable))
        stopped = [after for replica in reachable for after in self._stopped(replica, clean=clean)]
        self.possible = list(dict.fromkeys(stopped))
        self.earlier = []
        self.late_until = None
        self.has_served = False
        self.leadership = None
        self.under_way = None
        self._decisions = []
        self._connections_before = self._last_connection

    def _cut_short(self, reachable: list[Possibility]) -> Iterator[Possibility]:
        """Yield what the replica may be if the answer that has reached it was not appended to its end."""
        exchange = self.under_way
        if exchange is not None and exchange.is_answered:
            awaiting = (replica for replica in reachable if not replica.has_taken)
            yield from (partial for replica in awaiting for partial in partly_taken(replica, exchange, self._rules))

    def _stopped(self, replica: Possibility, *, clean: bool) -> Iterator[Possibility]:
        """Return the replica as it will start: at the high watermark of its end, or of some moment before."""
        current = replica.high_watermark
        if self.leadership is not None and replica.leader == self.broker:
            current = OffsetBounds(self.leadership.low, self.leadership.high)
        start = current if clean else OffsetBounds(Offset(0), max(self._highest_ever, current.high))
        log_start = max(replica.log_start, self.log_start_offset)
        read_again = () if clean else replica.log.with_epoch_read_again(self._last_epoch)
        for log in (*replica.log.restarted(log_start, is_written=clean), *read_again):
            watermark = start.at_most(log.low.end, log.high.end)
            yield Possibility(log=log, high_watermark=watermark, log_start=log_start if clean else START)


def _distinct(possible: Iterable[Possibility]) -> list[Possibility]:
    """Return each possibility once."""
    kept = list(possible)
    if len(kept) == 2:  # two are compared sooner than hashed
        return kept[:1] if kept[0] == kept[1] else kept
    return kept if len(kept) == 1 else list(dict.fromkeys(kept))
