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
from conformance.processes import Processes
from conformance.producing import AWAIT_DEADLINE_S, Producing
from conformance.schedule_format import WORDS
from conformance.step_text import describe
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
    Produce,
    Release,
    Step,
)

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
    from oracle.vocabulary import BrokerId


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
        self._processes = Processes(
            cluster, recorder, topic, schedule.timing, when_gone=self._discharge, await_view=self._await_view
        )
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
        self._lag_time.require_short(self._silent_since())
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
            case AwaitLeader(leader):
                self._await_view(f"leader {leader or 'none'}", lambda view: view.leader == leader)
            case AwaitIsr(isr):
                wanted = sorted(isr)
                self._await_view(f"ISR {wanted}", lambda view: sorted(view.isr) == wanted)
            case AwaitLag():
                self._lag_time.let_pass()
            case Checkpoint():
                pass
            case _:
                self._processes.take(step)

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
            if hold.follower is not None
            and hold.leader is not None
            and name not in self._discharged
            and self._gate.status(name) in (HoldStatus.CAUGHT, HoldStatus.DROPPED)
        )

    def _silent_since(self) -> dict[BrokerId, float]:
        """Return since when (monotonic seconds) which followers fell silent: held, killed or stopped."""
        since = dict(self._processes.gone_since)
        for name, hold in self._holds.items():
            frame = self._gate.caught(name) if (hold.follower, hold.leader) in self._blocked_links() else None
            if frame is not None and hold.follower is not None:
                since[hold.follower] = frame.caught_ns / 1e9
        return since

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
