"""How do a schedule's brokers die, come back, and lose what their disks held?

Under ``timing: lag`` nobody but the leader notices a ``kill -9``: its session is longer than a schedule.
A broker whose channel from the controller is held notices neither a death nor a return: nobody asks it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from conformance.interruption import HarnessError
from fault_injection.cluster.readiness import DEADLINE_S, await_registered, await_unregistered
from fault_injection.faults import disk
from fault_injection.faults import process as fault
from fault_injection.faults.restarts import KillTogether as Together
from oracle.steps import Kill, KillTogether, LoseCheckpoint, LoseTail, Start, Stop
from oracle.vocabulary import BrokerId, Timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.holding import Holding
    from conformance.probes.controller import ControllerView
    from conformance.recorder import Recorder
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.faults.account import Entry, FaultAccount

    AwaitView = Callable[[str, Callable[[ControllerView], bool]], None]

PARTITION = 0


class Processes:
    """Ends and starts the brokers of one run.

    Args:
        cluster: the brokers.
        recorder: gets every deed onto the timeline.
        topic: the topic whose replicas lose something.
        timing: who notices that a broker is gone.
        faults: keeps account of what is done to brokers and their disks.
        holding: is told of each broker that is gone.
        await_view: waits for what the controller has committed.

    Attributes:
        gone_since: when (monotonic seconds) brokers fell silent that were killed or stopped.
        deaf: tells which brokers hear no decision.
        on_death: told of each broker that is gone.
    """

    def __init__(
        self,
        cluster: Cluster,
        recorder: Recorder,
        topic: str,
        timing: Timing,
        *,
        holding: Holding,
        faults: FaultAccount,
        await_view: AwaitView,
    ) -> None:
        self._cluster = cluster
        self._recorder = recorder
        self._topic = topic
        self._timing = timing
        self._holding = holding
        self._faults = faults
        self._await_view = await_view
        self.gone_since: dict[BrokerId, float] = {}
        self.deaf: Callable[[], frozenset[int]] = holding.deaf
        self.on_death: Callable[[BrokerId], None] = _ignore

    def take(self, step: Kill | KillTogether | Stop | Start | LoseTail | LoseCheckpoint) -> None:
        """Do to a broker what a step says, and wait for what follows from it."""
        match step:
            case Kill(broker):
                self._kill(broker)
            case KillTogether(brokers):
                self._kill(*brokers)
            case Stop(broker):
                self._end(fault.Stop(broker), broker, event="broker_stopped", how="stopped (SIGTERM)")
                self.await_reaction(broker)
            case Start(broker):
                self._start(broker)
                await_registered(self._cluster, broker, deadline_s=DEADLINE_S, deaf=self.deaf)
                self._recorder.mark("broker_started", broker, f"broker {broker} started")
            case LoseTail(broker, offset):
                lost = self._faults.inject(disk.LoseTail(broker, offset, self._topic, PARTITION))
                self._recorder.mark("tail_lost", broker, lost.done, offset=offset)
            case LoseCheckpoint(broker):
                lost = self._faults.inject(disk.LoseHighWatermarkCheckpoint(broker, self._topic, PARTITION))
                self._recorder.mark("checkpoint_lost", broker, lost.done)

    def _kill(self, *brokers: BrokerId) -> None:
        """End brokers, several at once: every signal is under way before any end is waited for."""
        ending = fault.Kill(*brokers) if len(brokers) == 1 else Together(brokers)
        self._end(ending, *brokers, event="broker_killed", how="killed (kill -9)")
        if self._timing is Timing.SESSION:
            self.await_reaction(*brokers)

    def _end(self, ending: fault.Stop | fault.Kill | Together, *brokers: BrokerId, event: str, how: str) -> None:
        self.gone_since |= dict.fromkeys(brokers, time.monotonic())
        self._faults.inject(ending)
        for broker in brokers:
            self._recorder.mark(event, broker, f"broker {broker} {how}")
            self._holding.discharge(broker)
            self.on_death(broker)

    def _start(self, broker: BrokerId) -> None:
        """Heal what ended a broker; what ended several is healed when the last of them is started."""
        entry = self._faults.find(fault.Kill(broker)) or self._faults.find(fault.Stop(broker))
        if entry is None:
            entry = self._start_of_several(broker)
        if entry is not None:
            self._faults.heal(entry)

    def _start_of_several(self, broker: BrokerId) -> Entry | None:
        for entry in self._faults.standing:
            if isinstance(entry.fault, Together) and broker in entry.fault.brokers:
                fault.started(self._cluster, broker)
                return entry if all(map(self._cluster.is_alive, entry.fault.brokers)) else None
        raise HarnessError(f"broker {broker} is to start, and no step has ended it")

    def await_reaction(self, *brokers: BrokerId) -> None:
        """Wait until the controller has noticed that brokers are gone, and has done something about it."""
        for broker in brokers:
            await_unregistered(self._cluster, broker, DEADLINE_S, deaf=self.deaf)
        self._await_view(
            f"the controller to have reacted to the end of {fault.named(*brokers)}",
            lambda view: view.leader is None or {view.leader, *view.isr}.isdisjoint(brokers),
        )


def _ignore(_: BrokerId) -> None:
    """Nobody asked to be told."""
