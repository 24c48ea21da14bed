"""How do a schedule's brokers die, come back, and lose what their disks held?

Under ``timing: lag`` nobody but the leader notices a ``kill -9``: its session is longer than a schedule.
A broker whose channel from the controller is held notices neither a death nor a return: nobody asks it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from conformance.interruption import HarnessError, missed
from conformance.record.timeline import Event, ProcessOfFault
from conformance.running.lag_time import await_return
from fault_injection.cluster.backend import NodeDiedError
from fault_injection.cluster.readiness import DEADLINE_S, await_unregistered, is_hung, registered_brokers
from fault_injection.faults import disk
from fault_injection.faults import process as fault
from fault_injection.faults.process import KillProcesses as Together
from fault_injection.waiting import DeadlineExceededError, until
from oracle.steps.brokers import Kill, KillTogether, LoseCheckpoint, LoseTail, Start, Stop
from oracle.vocabulary import BrokerId, Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.probes.controller import CommittedPartition
    from conformance.record.prediction import FrozenPrediction, PredictedMoment, PredictedNumbers
    from conformance.running.holding import Holding
    from conformance.running.recorder import Recorder
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.faults.account import FaultAccount, FaultEntry

    AwaitView = Callable[[str, Callable[[CommittedPartition], bool]], None]
    from oracle.schedule import Schedule
    from oracle.steps.step import Step


PARTITION = 0
OWN_END_DEADLINE_S = 30.0
"""How long a broker may take to end by itself: it shuts down in order."""


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
        gone_since: when (monotonic seconds) brokers fell silent that were killed; one that was stopped is in no ISR
            that a leader could take it from.
        unreachable: tells which brokers hear no decision.
        unlisted: tells which brokers nobody need list among the live ones.
        on_death: told of each broker that is gone.
        fatal_exits: who ends by itself in which step, by its index, as the model says.
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
        self.fatal_exits: Mapping[int, FatalExits] = {}
        self._ended: set[BrokerId] = set()
        self.gone_since: dict[BrokerId, float] = {}
        self.unreachable: Callable[[], frozenset[int]] = holding.unreachable
        self.unlisted: Callable[[], frozenset[int]] = frozenset
        self.on_death: Callable[[BrokerId], None] = _ignore

    def take(self, step: Kill | KillTogether | Stop | Start | LoseTail | LoseCheckpoint) -> None:
        """Do to a broker what a step says, and wait for what follows from it."""
        match step:
            case Kill(broker):
                self._kill(broker)
            case KillTogether(brokers):
                self._kill(*brokers)
            case Stop(broker):
                self._end(fault.StopProcess(broker), broker, event=Event.BROKER_STOPPED, how="stopped (SIGTERM)")
                self.await_reaction(broker)
            case Start(broker):
                self._start(broker)
                self._await_registered(broker)
                self.gone_since.pop(broker, None)
                self._recorder.mark(Event.BROKER_STARTED, broker, f"broker {broker} started")
            case LoseTail(broker, offset):
                self._cluster.end_hung(broker)
                tail = disk.LoseLogTail(broker, offset, self._topic, PARTITION)
                end = tail.log_end_offset(self._cluster)
                lost = self._faults.inject(tail)
                last = None if end is None else end - 1
                self._recorder.mark(Event.TAIL_LOST, broker, lost.done, offset=offset, last_offset=last)
            case LoseCheckpoint(broker):
                self._cluster.end_hung(broker)
                checkpoint = disk.LoseHighWatermarkCheckpoint(broker, self._topic, PARTITION)
                high_watermark = checkpoint.high_watermark(self._cluster)
                lost = self._faults.inject(checkpoint)
                self._recorder.mark(Event.CHECKPOINT_LOST, broker, lost.done, offset=high_watermark)

    def _kill(self, *brokers: BrokerId) -> None:
        """End brokers, several at once: every signal is under way before any end is waited for."""
        ending = fault.KillProcess(*brokers) if len(brokers) == 1 else Together(brokers)
        self._end(ending, *brokers, event=Event.BROKER_KILLED, how="killed (kill -9)")
        if self._timing is Timing.SESSION:
            self.await_reaction(*brokers)

    def _end(
        self, ending: fault.StopProcess | fault.KillProcess | Together, *brokers: BrokerId, event: Event, how: str
    ) -> None:
        since = time.monotonic()
        self._faults.inject(ending)
        if not isinstance(ending, fault.StopProcess):
            self.gone_since |= dict.fromkeys(brokers, since)
        for broker in brokers:
            self._recorder.mark(event, broker, f"broker {broker} {how}")
            self._holding.discharge(broker)
            self.on_death(broker)

    def _start(self, broker: BrokerId) -> None:
        """Heal what ended a broker; what ended several is healed when the last of them is started."""
        if broker in self._ended:
            self._ended.remove(broker)
            fault.started(self._cluster, broker)
            self._faults.expect(broker)
            return
        entry = self._faults.find(fault.KillProcess(broker)) or self._faults.find(fault.StopProcess(broker))
        if entry is None:
            entry = self._start_of_several(broker)
        if entry is not None:
            self._faults.heal(entry)

    def _start_of_several(self, broker: BrokerId) -> FaultEntry | None:
        for entry in self._faults.standing:
            if isinstance(entry.fault, Together) and broker in entry.fault.brokers:
                fault.started(self._cluster, broker)
                return entry if all(map(self._cluster.is_alive, entry.fault.brokers)) else None
        raise HarnessError(f"broker {broker} is to start, and no step has ended it")

    def _await_registered(self, broker: BrokerId) -> None:
        """Wait until a broker is registered; one that is to end by itself may be gone before anybody looks."""
        if broker in self._ending_now().hanging:
            until(partial(self._has_come, broker), deadline_s=DEADLINE_S, what=f"broker {broker} to be registered")
            return
        try:
            await_return(self._cluster, broker, unreachable=self.unreachable, unlisted=self.unlisted)
        except NodeDiedError:
            if broker not in self._ending_now().all:
                raise

    def _has_come(self, broker: BrokerId) -> bool:
        """Return whether a broker is registered, whatever has become of it since."""
        self._cluster.check_alive(broker)
        return broker in registered_brokers(self._cluster)

    def _ending_now(self) -> FatalExits:
        """Return who ends by itself in the step that is being taken."""
        step = self._recorder.step
        return NOBODY if step is None else self.fatal_exits.get(step, NOBODY)

    def expect_ends(self) -> None:
        """Tell whoever watches the nodes which brokers may end by themselves in the step that begins."""
        self._cluster.may_end = self._ending_now().all

    def await_fatal_exits(self) -> None:
        """Wait for the brokers that end by themselves in this step, and for what follows from that.

        Raises:
            RunInterruption: one goes on running.
        """
        for broker in sorted(self._ending_now().certain):
            how = "hang in its own shutdown" if broker in self._ending_now().hanging else "end its process by itself"
            what = f"broker {broker} to {how}"
            try:
                until(partial(self._is_gone, broker), deadline_s=OWN_END_DEADLINE_S, what=what)
            except DeadlineExceededError as late:
                raise missed(late) from late
            self._note_own_end(broker)

    def _is_gone(self, broker: BrokerId) -> bool:
        """Return whether a broker has ended, or hangs where the model says that its end does."""
        if broker in self._ending_now().hanging:
            return is_hung(self._cluster, broker)
        return not self._cluster.is_alive(broker)

    def note_fatal_exits(self) -> None:
        """Note those who have ended although only some of the open outcomes have it so."""
        for broker in sorted(self._ending_now().possible):
            if self._is_gone(broker):
                self._note_own_end(broker)

    def _note_own_end(self, broker: BrokerId) -> None:
        """Account for a process that has ended by itself: in order, or it is not the end that was predicted.

        A broker that gives up exits with 1 (``Exit.exit``, ``Exit.halt``, ``FatalExitError``), and one that has shut
        down with 0. A JVM that a signal ends exits with 128 and the signal's number, also when it shut down in order.

        Raises:
            HarnessError: a signal that the tester did not send has ended it, or it was never started.
        """
        state = self._cluster.process_state(broker)
        if state is None:
            raise HarnessError(f"broker {broker} was to end by itself, and was never started")
        if state.signal_number is not None:
            by = f"signal {state.signal_number}, which the tester did not send"
            raise HarnessError(f"broker {broker} was ended by {by}, when it was to end by itself")
        self.gone_since[broker] = time.monotonic()
        self._ended.add(broker)
        self._cluster.note_end(broker)
        self._faults.excuse(broker)
        hangs = state.exit_code is None
        how = "hangs in its own shutdown, its port closed" if hangs else f"ended by itself: {state.text}"
        ended = ProcessOfFault(broker, state.exit_code, state.signal_number, state.is_paused)
        self._recorder.mark(Event.BROKER_ENDED, broker, f"broker {broker} {how}", processes=(ended,))
        self._holding.discharge(broker)
        self.on_death(broker)
        if hangs:
            self._await_handed_over(broker)
        else:
            self.await_reaction(broker)

    def await_reaction(self, *brokers: BrokerId) -> None:
        """Wait until the controller has noticed that brokers are gone, and has done something about it."""
        for broker in brokers:
            await_unregistered(self._cluster, broker, DEADLINE_S, unreachable=self.unreachable)
        self._await_handed_over(*brokers)

    def _await_handed_over(self, *brokers: BrokerId) -> None:
        """Wait until the controller has taken brokers out of the leadership and the ISR, registered or not."""
        self._await_view(
            f"the controller to have reacted to the end of {fault.named(*brokers)}",
            lambda view: view.leader is None or {view.leader, *view.isr}.isdisjoint(brokers),
        )


def _ignore(_: BrokerId) -> None:
    """Nobody asked to be told."""


# Which brokers end by themselves, in which step? What the model says, for whoever waits for brokers.
#
# A follower that is ahead of its leader ends its broker in some releases (KAFKA-7414). Nobody can tell a process that
# may end from one that must not but by the prediction: an end that is predicted is awaited like any other state, an end
# that is not is a broker lost.
#
# In 0.10 the end hangs half-way: the process stays, registered, with its ports closed. That is out of service as well,
# and nobody asks such a broker anything.


@dataclass(frozen=True, slots=True)
class FatalExits:
    """The brokers that end by themselves in one step.

    Attributes:
        certain: whose end every open outcome has.
        possible: whose end only some have.
        hanging: those of both whose end hangs: the process stays with its ports closed.
    """

    certain: frozenset[BrokerId] = frozenset()
    possible: frozenset[BrokerId] = frozenset()
    hanging: frozenset[BrokerId] = frozenset()

    @property
    def all(self) -> frozenset[BrokerId]:
        """Return everybody whose end is no surprise."""
        return self.certain | self.possible


NOBODY = FatalExits()


def fatal_exits(schedule: Schedule, prediction: FrozenPrediction) -> dict[int, FatalExits]:
    """Return who ends by itself by the index of the step, for steps in which anybody does.

    Args:
        schedule: what was predicted.
        prediction: what was predicted.
    """
    outcomes: Sequence[PredictedNumbers] = prediction.alternatives or (prediction,)
    found: dict[int, FatalExits] = {}
    for index, step in enumerate(schedule.steps):
        ends = [_of_step(step, outcome.steps[:index], outcome.steps[index]) for outcome in outcomes]
        certain = frozenset.intersection(*ends)
        if any(ends):
            everybody = frozenset.union(*ends)
            hung = {BrokerId(broker) for outcome in outcomes for broker in outcome.steps[index].hung}
            found[index] = FatalExits(certain, everybody - certain, everybody & hung)
    return found


def _of_step(step: Step, earlier: Sequence[PredictedMoment], after: PredictedMoment) -> frozenset[BrokerId]:
    """Return who ran before a step or was started by it, was not ended by it, and does not run after it."""
    dead = _dead(after)
    were_dead = _dead(earlier[-1]) if earlier else set()
    match step:
        case Kill(broker) | Stop(broker):
            were_dead.add(broker)
        case KillTogether(brokers):
            were_dead.update(brokers)
        case Start(broker):
            were_dead.discard(broker)
        case _:
            pass
    return frozenset(dead - were_dead)


def _dead(moment: PredictedMoment) -> set[BrokerId]:
    return {BrokerId(broker) for broker, numbers in moment.replicas.items() if not numbers.alive}
