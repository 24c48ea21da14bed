"""How do a schedule's brokers die, come back, and lose what their disks held?

Under ``timing: lag`` nobody but the leader notices a ``kill -9``: its session is longer than a schedule.
A broker whose channel from the controller is held notices neither a death nor a return: nobody asks it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fault_injection.cluster.readiness import DEADLINE_S, await_registered, await_unregistered
from fault_injection.faults.disk import lose_high_watermark_checkpoint, lose_tail
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
                await_registered(self._cluster, broker, deadline_s=DEADLINE_S, deaf=self._holding.deaf)
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
        await_unregistered(self._cluster, broker, DEADLINE_S, deaf=self._holding.deaf)
        self._await_view(
            f"the controller to have reacted to the death of broker {broker}",
            lambda view: view.leader != broker and (broker not in view.isr or view.leader is None),
        )
