"""How do a schedule's brokers die, come back, and lose what their disks held?

Under ``timing: lag`` nobody but the leader notices a ``kill -9``: its session is longer than a schedule.
A broker whose channel from the controller is held notices neither a death nor a return: nobody asks it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fault_injection.cluster.readiness import DEADLINE_S, Views, brokers_known_to, registered_brokers
from fault_injection.faults.disk import lose_high_watermark_checkpoint, lose_tail
from fault_injection.waiting import NotYetError, until
from oracle.steps import Kill, LoseCheckpoint, LoseTail, Start, Stop
from oracle.vocabulary import Timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.holding import Holding
    from conformance.probes.controller import ControllerView
    from conformance.recorder import Recorder
    from fault_injection.cluster.lifecycle import Cluster
    from oracle.vocabulary import BrokerId

    AwaitView = Callable[[str, Callable[[ControllerView], bool]], None]

PARTITION = 0


class Processes:
    """Ends and starts the brokers of one run.

    Args:
        cluster: the brokers.
        recorder: gets every deed onto the timeline.
        topic: the topic whose replicas lose something.
        timing: who notices that a broker is gone.
        holding: is told of each broker that is gone, and knows the brokers that hear no decision.
        await_view: waits for what the controller has committed.

    Attributes:
        gone_since: when (monotonic seconds) brokers fell silent that were killed or stopped.
    """

    def __init__(
        self,
        cluster: Cluster,
        recorder: Recorder,
        topic: str,
        timing: Timing,
        *,
        holding: Holding,
        await_view: AwaitView,
    ) -> None:
        self._cluster = cluster
        self._recorder = recorder
        self._topic = topic
        self._timing = timing
        self._holding = holding
        self._await_view = await_view
        self.gone_since: dict[BrokerId, float] = {}

    def take(self, step: Kill | Stop | Start | LoseTail | LoseCheckpoint) -> None:
        """Do to a broker what a step says, and wait for what follows from it."""
        match step:
            case Kill(broker):
                self._kill(broker)
            case Stop(broker):
                self._end(broker, self._cluster.stop, "broker_stopped", f"broker {broker} stopped (SIGTERM)")
                self._await_reaction(broker)
            case Start(broker):
                self._cluster.start_broker(broker)
                self._await_registered(broker)
                self._recorder.mark("broker_started", broker, f"broker {broker} started")
            case LoseTail(broker, offset):
                lost = lose_tail(self._cluster, broker, self._topic, PARTITION, offset)
                self._recorder.mark("tail_lost", broker, lost)
            case LoseCheckpoint(broker):
                lost = lose_high_watermark_checkpoint(self._cluster, broker, self._topic, PARTITION)
                self._recorder.mark("checkpoint_lost", broker, lost)

    def _kill(self, broker: BrokerId) -> None:
        self._end(broker, self._cluster.kill, "broker_killed", f"broker {broker} killed (kill -9)")
        if self._timing is Timing.SESSION:
            self._await_reaction(broker)

    def _end(self, broker: BrokerId, end: Callable[[int], None], event: str, text: str) -> None:
        self.gone_since[broker] = time.monotonic()
        end(broker)
        self._recorder.mark(event, broker, text)
        self._holding.discharge(broker)

    def _await_reaction(self, broker: BrokerId) -> None:
        """Wait until the controller has noticed that a broker is gone, and has done something about it."""
        self._await_unregistered(broker)
        self._await_view(
            f"the controller to have reacted to the death of broker {broker}",
            lambda view: view.leader != broker and (broker not in view.isr or view.leader is None),
        )

    def _await_unregistered(self, broker: BrokerId) -> None:
        """Wait until every live broker that hears the controller knows that a broker is gone."""

        def is_gone() -> bool:
            views = self._hearing_views()
            is_listed = any(broker in view for view in views.values())
            if is_listed or self._is_registered(broker, views):
                raise _not_yet(views)
            return True

        until(is_gone, deadline_s=DEADLINE_S, what=f"broker {broker} to be unregistered")

    def _await_registered(self, broker: BrokerId) -> None:
        """Wait until every live broker that hears the controller answers and knows every live broker."""

        def is_known() -> bool:
            self._cluster.check_alive(broker)
            live = frozenset(self._cluster.live_brokers) | {broker}
            views = self._hearing_views()
            is_heard = views.keys() == live - self._holding.deaf() and all(live <= view for view in views.values())
            if not is_heard or not self._is_registered(broker, views):
                raise _not_yet(views)
            return True

        until(is_known, deadline_s=DEADLINE_S, what=f"broker {broker} to be registered")

    def _hearing_views(self) -> Views:
        """Return which brokers each live broker knows, of those that hear the controller and answer."""
        hearing = set(self._cluster.live_brokers) - self._holding.deaf()
        asked = {broker: brokers_known_to(self._cluster.client_address(broker)) for broker in hearing}
        return {broker: known for broker, known in asked.items() if known is not None}

    def _is_registered(self, broker: BrokerId, views: Views) -> bool:
        """Ask ZooKeeper, or in KRaft whoever hears the controller, whether a broker counts as alive."""
        if self._cluster.zookeeper_address is None:
            return any(broker in view for view in views.values())
        return broker in registered_brokers(self._cluster)


def _not_yet(views: Views) -> NotYetError:
    return NotYetError({viewer: sorted(view) for viewer, view in sorted(views.items())})
