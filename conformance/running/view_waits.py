"""Has the controller committed what a step waits for, or registered a broker? If not in time, whose failure is that?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.interruption import HarnessError, causes_in, missed
from conformance.probes.errors import ProbeError
from fault_injection.cluster.readiness import DEADLINE_S, await_registered
from fault_injection.waiting import DeadlineExceededError, NotYetError, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.probes.controller import ControllerView
    from conformance.running.rest import Rest
    from fault_injection.cluster.lifecycle import Cluster


def await_view(
    cluster: Cluster, rest: Rest, deadline_s: float, what: str, holds: Callable[[ControllerView], bool]
) -> None:
    """Wait until the controller's committed state of the partition is as wanted.

    Raises:
        RunInterruption: it is not within the deadline, in seconds.
        NodeDiedError: a broker ended although nobody ended it.
    """
    seen: list[ControllerView] = []

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
    cluster: Cluster, broker: int, *, deaf: Callable[[], frozenset[int]], unlisted: Callable[[], frozenset[int]]
) -> None:
    """Wait until a broker that runs is registered again, and every live broker that hears the controller knows it.

    Args:
        cluster: the brokers.
        broker: the one that returns.
        deaf: tells which brokers hear no decision.
        unlisted: tells which live brokers nobody need list: the controller cannot hear them.

    Raises:
        RunInterruption: it is not registered in time, with what the nodes logged first.
        NodeDiedError: a node ended although nobody ended it.
    """
    try:
        await_registered(cluster, broker, deadline_s=DEADLINE_S, deaf=deaf, unlisted=unlisted)
    except DeadlineExceededError as late:
        raise missed(late, causes_in(cluster)) from late
