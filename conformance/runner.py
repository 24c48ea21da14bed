"""How does a schedule happen on real brokers? The runner takes its steps and judges nothing.

Every step ends at rest (contract 1). What the runner sees goes to the recorder and the ledger;
whatever stops it is a ``RunInterruption`` that says which verdict it means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.interruption import (
    AwaitedStateMissingError,
    HarnessError,
    HoldNeverCaughtError,
    missed,
)
from conformance.lag_time import LagTime
from conformance.probes.errors import ProbeError
from conformance.producing import AWAIT_DEADLINE_S, Producing
from conformance.schedule_format import WORDS
from conformance.step_text import describe
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.faults.disk import lose_high_watermark_checkpoint, lose_tail
from fault_injection.waiting import DeadlineExceededError, NotYetError, until
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.points import Point
from oracle.steps import (
    AwaitHold,
    AwaitIsr,
    AwaitLag,
    AwaitLeader,
    AwaitOutcome,
    Checkpoint,
    Close,
    Delay,
    Drop,
    Hold,
    Kill,
    LoseCheckpoint,
    LoseTail,
    Produce,
    Release,
    Start,
    Step,
    Stop,
)
from oracle.vocabulary import BrokerId, Timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.ledger.writer import LedgerWriter
    from conformance.probes.controller import ControllerView
    from conformance.probes.replica_probe import ReplicaProbe
    from conformance.recorder import Recorder
    from conformance.rest import Rest
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.wire.gate_events import GateEvent
    from fault_injection.wire.proxy import GateProxy
    from oracle.schedule import Schedule


class Runner:
    """Takes a schedule's steps on one cluster and one topic."""

    def __init__(  # noqa: PLR0913 - a run has this many collaborators, each with a name
        self,
        schedule: Schedule,
        *,
        cluster: Cluster,
        gate: GateProxy,
        probe: ReplicaProbe,
        rest: Rest,
        ledger: LedgerWriter,
        recorder: Recorder,
        topic: str,
        record_id_base: int,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._schedule = schedule
        self._cluster = cluster
        self._gate = gate
        self._probe = probe
        self._rest = rest
        self._recorder = recorder
        self._topic = topic
        self._progress = progress
        self._producing = Producing(
            schedule,
            cluster=cluster,
            probe=probe,
            rest=rest,
            ledger=ledger,
            recorder=recorder,
            topic=topic,
            record_id_base=record_id_base,
        )
        self._holds: dict[str, Hold] = {}
        self._discharged: set[str] = set()
        self._lag_time = LagTime(schedule.timing)
        self._killed: set[BrokerId] = set()
        rest.blocked = self._blocked_links

    def run(self) -> None:
        """Take every step, then give up what is still pending.

        Raises:
            RunInterruption: the run could not go on; the class says what that means.
        """
        try:
            for index, step in enumerate(self._schedule.steps):
                self._take_whole(index, step)
        finally:
            self._recorder.step = None
            self._producing.give_up_pending()

    def _take_whole(self, index: int, step: Step) -> None:
        self._recorder.step = index
        text = describe(step)
        self._recorder.mark("step_started", WORDS[type(step)], text)
        self._progress(text)
        began = self._lag_time.step_begins()
        try:
            self._take(step)
            if isinstance(step, Checkpoint):
                measured = self._rest.measure()
                self._require_gate_undisturbed()
                self._recorder.observe("checkpoint", name=step.name, settled=True, **measured)
            else:
                self._rest.wait()
                self._require_gate_undisturbed()
                self._recorder.observe("numbers", **self._rest.numbers())
        except AwaitedStateMissingError:
            self._require_gate_undisturbed()
            raise
        except DeadlineExceededError as late:
            raise HarnessError(f"step {index + 1} ({text}): {late}") from late
        except ProbeError as unanswered:
            raise HarnessError(f"step {index + 1} ({text}): {unanswered}") from unanswered
        self._lag_time.step_ended(began, self._killed | {BrokerId(follower) for follower, _ in self._blocked_links()})
        self._recorder.mark("step_finished", WORDS[type(step)], text)

    def _take(self, step: Step) -> None:  # noqa: C901, PLR0912 - one case per step
        match step:
            case Produce():
                self._producing.produce(step)
            case AwaitOutcome():
                for label in step.records:
                    self._producing.collect(label, step.expect)
            case Hold():
                self._hold(step)
            case Delay():
                self._delay(step)
            case AwaitHold(name):
                self._await_hold(name)
            case Release(name):
                self._gate.release(name)
            case Drop(name):
                self._gate.drop(name)
            case Close(name):
                self._gate.close_connection(name)
            case Kill(broker):
                self._end(broker, self._cluster.kill, "broker_killed", f"broker {broker} killed (kill -9)")
                if self._schedule.timing is Timing.LAG:
                    self._killed.add(broker)
                else:
                    self._await_reaction(broker)
            case Stop(broker):
                self._end(broker, self._cluster.stop, "broker_stopped", f"broker {broker} stopped (SIGTERM)")
                self._await_reaction(broker)
            case LoseTail(broker, offset):
                lost = lose_tail(self._cluster, broker, self._topic, 0, offset)
                self._recorder.mark("tail_lost", broker, lost)
            case LoseCheckpoint(broker):
                lost = lose_high_watermark_checkpoint(self._cluster, broker, self._topic, 0)
                self._recorder.mark("checkpoint_lost", broker, lost)
            case AwaitLag():
                self._lag_time.let_pass()
            case Start(broker):
                self._start(broker)
            case AwaitLeader(leader):
                self._await_view(f"leader {leader or 'none'}", lambda view: view.leader == leader)
            case AwaitIsr(isr):
                wanted = sorted(isr)
                self._await_view(f"ISR {wanted}", lambda view: sorted(view.isr) == wanted)
            case Checkpoint():
                pass

    # Gates

    def on_gate_event(self, event: GateEvent) -> None:
        """Put what happens to a hold on the timeline; called by the gate."""
        hold = self._holds.get(event.name)
        fields = {} if hold is None else {"follower": hold.follower, "leader": hold.leader, "point": hold.point.value}
        offset = event.caught.fetch_offset if event.caught is not None else None
        word = f"hold_{event.status.value}"
        shown = "" if offset is None else f" at fetch offset {offset}"
        self._recorder.mark(word, event.name, f"{event.name}: {event.status.value}{shown}", offset=offset, **fields)

    def _hold(self, step: Hold) -> None:
        self._holds[step.name] = step
        self._gate.arm(step.name, self._point(step))

    def _delay(self, step: Delay) -> None:
        name = f"delay {self._recorder.step}"
        self._gate.arm(name, self._point(step), action="delay", delay_ms=step.delay_ms)

    def _point(self, step: Hold | Delay) -> Point:
        return Point(
            step.point.value,
            source=step.follower,
            destination=step.leader,
            topic=self._topic,
            partition=0,
            fetch_offset=step.fetch_offset,
            nth=step.nth,
        )

    def _await_hold(self, name: str) -> None:
        try:
            until(lambda: self._gate.caught(name), deadline_s=AWAIT_DEADLINE_S, what=f"hold {name!r} to catch a frame")
        except DeadlineExceededError as late:
            raise HoldNeverCaughtError(f"{late}; {self._what_came(self._holds[name])}") from late

    def _what_came(self, hold: Hold) -> str:
        """Say which frames did pass where the hold waited."""
        rounds = self._gate.rounds_since(0, topic=self._topic, follower=hold.follower)
        offsets = [r.fetch_offset for r in rounds if r.leader == hold.leader][-5:]
        return (
            f"armed for {hold.point.value} of broker {hold.follower} at broker {hold.leader}, fetch offset "
            f"{hold.fetch_offset}; last fetch offsets on that link: {offsets or 'none'}"
        )

    def _blocked_links(self) -> frozenset[tuple[int, int]]:
        return frozenset(
            (hold.follower, hold.leader)
            for name, hold in self._holds.items()
            if name not in self._discharged and self._gate.status(name) in (HoldStatus.CAUGHT, HoldStatus.DROPPED)
        )

    def _require_gate_undisturbed(self) -> None:
        """Make sure that the gate works, and no held frame went with a connection that no step of ours has ended.

        Raises:
            HarnessError: what was measured is not what the schedule describes.
        """
        if self._gate.failures:
            raise HarnessError(f"the gate failed while it moved frames: {self._gate.failures[0]}")
        for name in self._holds:
            if name not in self._discharged and self._gate.status(name) is HoldStatus.DISCHARGED:
                raise HarnessError(f"hold {name!r} lost its frame: its connection ended, though no broker of it did")

    def _discharge(self, broker: BrokerId) -> None:
        """End the holds on a dead broker's links: caught frames went with it, armed ones are disarmed."""
        for name, hold in self._holds.items():
            if broker in (hold.follower, hold.leader):
                self._discharged.add(name)
                if self._gate.status(name) is HoldStatus.ARMED:
                    self._gate.disarm(name)

    # Brokers

    def _end(self, broker: BrokerId, end: Callable[[int], None], event: str, text: str) -> None:
        end(broker)
        self._recorder.mark(event, broker, text)
        self._discharge(broker)

    def _await_reaction(self, broker: BrokerId) -> None:
        """Wait until the controller has noticed that a broker is gone, and has done something about it."""
        await_unregistered(self._cluster, broker)
        self._await_view(
            f"the controller to have reacted to the death of broker {broker}",
            lambda view: view.leader != broker and (broker not in view.isr or view.leader is None),
        )

    def _start(self, broker: BrokerId) -> None:
        self._cluster.start_broker(broker)
        await_registered(self._cluster, broker)
        self._recorder.mark("broker_started", broker, f"broker {broker} started")

    def _await_view(self, what: str, holds: Callable[[ControllerView], bool]) -> None:
        seen: list[ControllerView] = []

        def condition() -> bool:
            try:
                view = self._rest.view()
            except ProbeError as unanswered:
                raise NotYetError(str(unanswered)) from unanswered
            seen[:] = [view]
            if not holds(view):
                raise NotYetError(view)
            return True

        try:
            until(condition, deadline_s=AWAIT_DEADLINE_S, what=what)
        except DeadlineExceededError as late:
            self._cluster.check_alive(*(b for b, alive in self._rest.alive().items() if alive))
            if not seen:
                raise HarnessError(f"nobody could be asked: {late}") from late
            raise missed(late) from late
