"""How does a schedule happen on real brokers? The runner takes its steps and judges nothing.

Every step ends at rest (contract 1). What the runner sees goes to the recorder and the ledger;
whatever stops it is a ``RunInterruption`` that says which verdict it means.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from conformance.interruption import AwaitedStateMissingError, HarnessError
from conformance.probes.connection import ProbeError
from conformance.record.timeline import Event
from conformance.running.asking import Asking
from conformance.running.election_requests import request_election, request_reassignment, request_settings
from conformance.running.holding import Holding
from conformance.running.lag_time import LagTime, await_view
from conformance.running.obstacles import RaisedObstacles
from conformance.running.processes import Processes
from conformance.running.producing import AWAIT_DEADLINE_S, RecordSender
from conformance.running.standstill import Standstill, limits_of
from conformance.running.topic_requests import TopicRequests
from conformance.schedules.topic_settings import configs_of
from fault_injection.waiting import DeadlineExceededError, until
from oracle.steps.brokers import (
    Isolate,
    Kill,
    KillTogether,
    LoseCheckpoint,
    LoseTail,
    Pause,
    Rejoin,
    Resume,
    Start,
    Stop,
)
from oracle.steps.frames import AwaitHold, Close, CutLink, DelayFrame, Drop, Heal, Hold, ReleaseHold, name_of_delay
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.questions import Ask
from oracle.steps.topic import AddPartitions, Alter, CreateTopic, DeleteRecords, DeleteTopic, Elect, Reassign
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader, Checkpoint
from oracle.vocabulary import BrokerId, ElectionKind, PointName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.probes.controller import CommittedPartition
    from conformance.probes.replica_probe import ReplicaProbe
    from conformance.record.ledger import LedgerWriter
    from conformance.record.observations import MeasuredCheckpoint
    from conformance.running.processes import FatalExits
    from conformance.running.recorder import Recorder
    from conformance.running.rest import Rest
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.faults.account import FaultAccount
    from fault_injection.wire.proxy import GateProxy
    from oracle.schedule import Schedule
    from oracle.steps.step import Step


class Runner:
    """Takes a schedule's steps on one cluster and one topic.

    Attributes:
        look: called at each checkpoint, after which the run goes on; None if nobody looks.
    """

    look: Callable[[Standstill], None] | None = None

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
        faults: FaultAccount,
        topic: str,
        record_id_base: int,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._schedule, self._settings = schedule, schedule.settings
        self._cluster, self._rest, self._faults = cluster, rest, faults
        self._recorder, self._topic, self._progress = recorder, topic, progress
        self._producing = RecordSender(
            schedule,
            cluster=cluster,
            probe=probe,
            rest=rest,
            ledger=ledger,
            recorder=recorder,
            topic=topic,
            record_id_base=record_id_base,
        )
        self._asking = Asking(schedule, self._producing, rest, recorder)
        self._holding = Holding(gate, topic, faults=faults, steps=schedule.steps)
        self._lag_time, timing, self._began = LagTime(schedule.timing), schedule.timing, time.monotonic()
        self._processes = Processes(
            cluster, recorder, topic, timing, holding=self._holding, faults=faults, await_view=self._await_view
        )
        reacted = self._processes.await_reaction
        self._obstacles = RaisedObstacles(
            cluster, gate, recorder, timing, faults=faults, holding=self._holding, await_reaction=reacted
        )
        self._topics = TopicRequests(cluster, recorder, topic, hearing=self._hearing, replicas=lambda: rest.replicas)
        self._tell_of_silence(rest)

    def expect_fatal_exits(self, ends: Mapping[int, FatalExits]) -> None:
        """Have it awaited that brokers end by themselves: who, by the index of the step."""
        self._processes.fatal_exits = ends

    def _tell_of_silence(self, rest: Rest) -> None:
        """Let everybody who waits for brokers know which of them are cut off, and how."""
        self._processes.unreachable = rest.unreachable = self._obstacles.unhearing
        self._processes.unlisted = self._obstacles.unlisted
        self._processes.on_death = self._obstacles.discharge
        self._holding.silent_brokers = self._obstacles.unreachable
        self._holding.leader = lambda: rest.view().leader
        rest.blocked = lambda: self._holding.blocked_links() | self._obstacles.severed()
        rest.idle = self._obstacles.unreachable
        rest.paused = lambda: self._obstacles.paused
        rest.pending = self._holding.pending
        rest.undecided = self._holding.undecided

    def run(self) -> None:
        """Take every step, then give up what is still pending.

        Raises:
            RunInterruption: the run could not go on; the class says what that means.
        """
        try:
            self._asking.note_leader()
            for index, step in enumerate(self._schedule.steps):
                self._take_whole(index, step)
        finally:
            self._recorder.step = None
            self._producing.give_up_pending()
            self._topics.remove_others()

    def _take_whole(self, index: int, step: Step) -> None:
        text = step.sentence()
        self._recorder.begin(index, step.word, text)
        self._processes.expect_ends()
        self._progress(text)
        measured = None
        try:
            self._take(step)
            self._processes.await_fatal_exits()
            if isinstance(step, Checkpoint):
                measured = self._rest.measure(step.name)
                self._holding.require_undisturbed()
                self._recorder.observe(measured)
            else:
                self._rest.wait()
                self._await_updates()
                self._processes.note_fatal_exits()
                self._holding.require_undisturbed()
                self._recorder.observe(self._rest.numbers())
        except AwaitedStateMissingError:
            self._holding.require_undisturbed()
            raise
        except DeadlineExceededError as late:
            raise HarnessError(f"step {index + 1} ({text}): {late}") from late
        except ProbeError as unanswered:
            raise HarnessError(f"step {index + 1} ({text}): {unanswered}") from unanswered
        self._cluster.check_alive()
        self._producing.note_answered()
        self._asking.note_leader()
        self._faults.look()
        self._lag_time.require_short(self._silent_since(), self._held_since())
        self._recorder.finish(step.word, text)
        if self.look is not None and measured is not None:
            self.look(self._standstill(index, measured))

    def _standstill(self, index: int, measured: MeasuredCheckpoint) -> Standstill:
        """Return how the run stands at a checkpoint, and what of it ends by itself."""
        held, pending = tuple(self._holding.frames()), self._producing.given_up_at()
        waited_for = {f"the frame of hold {one.name!r}": one.since for one in held}
        waited_for |= {f"broker {broker}": since for broker, since in self._obstacles.silent_since().items()}
        leaving = self._lag_time.ends(self._silent_since())
        limits = limits_of(self._began, self._cluster.spec, waited_for, pending, leaving)
        return Standstill(index, measured, held, tuple(pending), limits, self._rest.numbers)

    def _take(self, step: Step) -> None:  # noqa: C901, PLR0912 - one case per step
        if isinstance(step, Ask):
            self._asking.ask(step)
            return
        match step:
            case Produce():
                self._producing.produce(step)
            case AwaitOutcome():
                for label in step.records:
                    self._producing.collect(label, step.expect)
            case Hold() | DelayFrame() | AwaitHold() | ReleaseHold() | Drop() | Close():
                self._gate_frames(step)
            case Elect(kind):
                self._elect(kind)
            case Alter():
                self._alter(step)
            case Reassign(replicas):
                self._reassign(replicas)
            case AddPartitions() | CreateTopic() | DeleteTopic():
                self._topics.take(step)
            case DeleteRecords(offset):
                self._delete_records(offset)
            case AwaitLeader(leader):
                self._await_view(f"leader {leader or 'none'}", lambda view: view.leader == leader)
            case AwaitIsr(isr):
                wanted = sorted(isr)
                self._await_view(f"ISR {wanted}", lambda view: sorted(view.isr) == wanted)
            case AwaitLag():
                self._lag_time.let_pass(self._silent_since())
            case Checkpoint():
                pass
            case Pause() | Resume() | CutLink() | Heal() | Isolate() | Rejoin():
                self._obstacles.take(step)
            case Kill() | KillTogether() | Stop() | Start() | LoseTail() | LoseCheckpoint():
                self._processes.take(step)
            case _:
                raise HarnessError(f"the runner does not take {step.word!r}")

    def _gate_frames(self, step: Hold | DelayFrame | AwaitHold | ReleaseHold | Drop | Close) -> None:
        match step:
            case Hold():
                self._arm(step)
            case DelayFrame():
                self._holding.delay(name_of_delay(self._recorder.step or 0), step)
            case AwaitHold(name):
                self._holding.await_caught(name)
            case ReleaseHold() | Drop() | Close():
                self._holding.end(step)

    def _arm(self, step: Hold) -> None:
        """Arm a hold; one of UpdateMetadata shall not catch what tells of an ISR change before it."""
        if step.point is PointName.UPDATE_METADATA and step.broker in self._hearing():
            self._rest.await_isr_told(step.broker)
        self._holding.arm(step)

    def _await_updates(self) -> None:
        """Wait until holds of UpdateMetadata have caught what tells of an ISR change, which comes seconds after it."""
        for name, broker in self._holding.awaiting_metadata():
            if broker in self._hearing():
                self._rest.await_isr_told(broker, partial(self._holding.is_caught, name))

    def _silent_since(self) -> dict[BrokerId, float]:
        """Return since when (monotonic seconds) which followers fell silent: held, killed, paused or cut off."""
        return self._processes.gone_since | self._obstacles.silent_since() | self._held_since()

    def _held_since(self) -> dict[BrokerId, float]:
        return {follower: frame.caught_ns / 1e9 for follower, frame in self._holding.silent().items()}

    def _hearing(self) -> list[BrokerId]:
        """Return the brokers that run and hear the controller, which an operator can ask."""
        unreachable = self._obstacles.unhearing()
        return [BrokerId(broker) for broker in sorted(self._cluster.live_brokers) if broker not in unreachable]

    def _asked(self) -> BrokerId:
        """Return the broker that an operator asks; it is a failure of ours if none hears the controller."""
        if not (hearing := self._hearing()):
            raise HarnessError("nobody can be asked: no broker runs and hears the controller")
        return hearing[0]

    def _elect(self, kind: ElectionKind) -> None:
        request_election(self._cluster, self._asked(), self._topic, kind)
        self._recorder.mark(Event.ELECTION_REQUESTED, kind.value, f"{kind.value} election requested")
        preferred = self._rest.replicas[0]
        self._await_view(
            f"the {kind.value} election",
            lambda view: view.leader == preferred if kind is ElectionKind.PREFERRED else view.leader is not None,
        )

    def _reassign(self, replicas: tuple[BrokerId, ...]) -> None:
        request_reassignment(self._cluster, self._asked(), self._topic, replicas)
        wanted = ", ".join(map(str, replicas))
        self._recorder.mark(Event.REASSIGNMENT_REQUESTED, wanted, f"reassignment to {wanted} requested")
        self._rest.expect_replicas(replicas)
        until(self._rest.has_begun, deadline_s=AWAIT_DEADLINE_S, what="the brokers to know the reassignment")

    def _delete_records(self, offset: int) -> None:
        leader = self._rest.view().leader
        if leader is None:
            raise HarnessError("nobody leads: there is no leader to delete records")
        self._topics.delete_records(BrokerId(leader), offset)

    def _alter(self, step: Alter) -> None:
        self._settings = self._settings.altered(step)
        configs = configs_of(self._settings)
        request_settings(self._cluster, self._asked(), self._topic, configs)
        self._recorder.mark(Event.SETTINGS_CHANGED, self._topic, step.sentence())
        self._rest.min_insync_replicas = self._settings.min_insync_replicas

    def _await_view(self, what: str, holds: Callable[[CommittedPartition], bool]) -> None:
        await_view(self._cluster, self._rest, AWAIT_DEADLINE_S, what, holds)
