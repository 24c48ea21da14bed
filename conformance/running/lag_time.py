"""How does the lag time pass on real brokers? By waiting; and no follower may be silent for that long unasked.

Under ``timing: lag`` a follower that a hold, a kill or a stop has silenced is behind, and leaves the ISR, when
the lag time has passed, whatever the tester does meanwhile. The model lets it pass at ``await_lag`` only, so a
tester that was too slow before has measured another schedule: that is inconclusive.

Source: Partition.maybeShrinkIsr, every half lag time.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from conformance.interruption import HarnessError, InconclusiveError, causes_in, missed
from conformance.probes.connection import ProbeError
from fault_injection.cluster.readiness import DEADLINE_S, await_registered
from fault_injection.waiting import DeadlineExceededError, NotYetError, until
from oracle.vocabulary import Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from conformance.probes.controller import CommittedPartition
    from conformance.running.rest import Rest
    from fault_injection.cluster.lifecycle import Cluster
    from oracle.vocabulary import BrokerId


LAG_S = 3.0
"""``replica.lag.time.max.ms`` of the timing profile ``lag``."""
LAST_FETCH_S = 0.5
"""How long before its next fetch is held a follower may have fetched last."""
SHRINK_GRACE_S = 1.0
"""How long a leader may take over the ISR check and the answer of its controller."""


class LagTime:
    """Knows when the lag time has last passed on purpose; one per run.

    Args:
        timing: who removes a silent replica from the ISR.
        clock: monotonic seconds.
    """

    def __init__(self, timing: Timing, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_short = timing is Timing.LAG
        self._clock = clock
        self._passed_at = float("-inf")
        self._gone: set[BrokerId] = set()

    def require_short(self, silent_since: Mapping[BrokerId, float], held_since: Mapping[BrokerId, float]) -> None:
        """Make sure that no follower was silent for so long that it may have left the ISR, unless that was asked for.

        One that was silent when the lag time passed has left it, and whatever else silences it does not matter, until
        a fetch of its comes through.

        Args:
            silent_since: when, on the clock, which followers fell silent.
            held_since: those of them whose fetch a hold has caught.

        Raises:
            InconclusiveError: one may have left it.
        """
        self._gone &= silent_since.keys()
        self._gone -= {broker for broker, since in held_since.items() if since > self._passed_at}
        for broker, since in self._may_leave(silent_since):
            silent_s = self._clock() - since
            if silent_s > LAG_S - LAST_FETCH_S:
                raise InconclusiveError(
                    f"broker {broker} was silent for {silent_s:.1f} s before await_lag: it may have left the ISR"
                )

    def ends(self, silent_since: Mapping[BrokerId, float]) -> dict[BrokerId, float]:
        """Return when, on the clock, followers that are silent may leave the ISR unasked, of those that may."""
        return {broker: since + LAG_S - LAST_FETCH_S for broker, since in self._may_leave(silent_since)}

    def _may_leave(self, silent_since: Mapping[BrokerId, float]) -> list[tuple[BrokerId, float]]:
        """Return who may leave the ISR unasked, and since when it is silent."""
        if not self._is_short:
            return []
        counting = ((broker, since) for broker, since in silent_since.items() if broker not in self._gone)
        return [(broker, since) for broker, since in counting if since > self._passed_at]

    def let_pass(self, silent: Collection[BrokerId]) -> None:
        """Wait until every follower that is silent now has been so for the lag time, and was looked at."""
        self._passed_at = self._clock()
        self._gone = set(silent)
        end = self._passed_at + 1.5 * LAG_S + SHRINK_GRACE_S
        until(lambda: self._clock() >= end, deadline_s=2 * 1.5 * LAG_S + SHRINK_GRACE_S, what="the lag time to pass")


# Has the controller committed what a step waits for, or registered a broker? If not in time, whose failure is that?


def await_view(
    cluster: Cluster, rest: Rest, deadline_s: float, what: str, holds: Callable[[CommittedPartition], bool]
) -> None:
    """Wait until the controller's committed state of the partition is as wanted.

    Raises:
        RunInterruption: it is not within the deadline, in seconds.
        NodeDiedError: a broker ended although nobody ended it.
    """
    seen: list[CommittedPartition] = []

    def condition() -> bool:
        cluster.check_alive()
        try:
            view = rest.view()
        except ProbeError as unanswered:
            raise NotYetError(str(unanswered)) from unanswered
        seen[:] = [view]
        if not holds(view):
            raise NotYetError(view)
        return True

    try:
        until(condition, deadline_s=deadline_s, what=what)
    except DeadlineExceededError as late:
        if not seen:
            raise HarnessError(f"nobody could be asked: {late}") from late
        raise missed(late) from late


def await_return(
    cluster: Cluster, broker: int, *, unreachable: Callable[[], frozenset[int]], unlisted: Callable[[], frozenset[int]]
) -> None:
    """Wait until a broker that runs is registered again, and every live broker that hears the controller knows it.

    Args:
        cluster: the brokers.
        broker: the one that returns.
        unreachable: tells which brokers hear no decision.
        unlisted: tells which live brokers nobody need list: the controller cannot hear them.

    Raises:
        RunInterruption: it is not registered in time, with what the nodes logged first.
        NodeDiedError: a node ended although nobody ended it.
    """
    try:
        await_registered(cluster, broker, deadline_s=DEADLINE_S, unreachable=unreachable, unlisted=unlisted)
    except DeadlineExceededError as late:
        raise missed(late, causes_in(cluster)) from late
