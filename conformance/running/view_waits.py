"""Has the controller committed what a step waits for? If not in time, whose failure is that?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.interruption import HarnessError, missed
from conformance.probes.errors import ProbeError
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
        cluster.check_alive(*(b for b, alive in rest.alive().items() if alive))
        if not seen:
            raise HarnessError(f"nobody could be asked: {late}") from late
        raise missed(late) from late
