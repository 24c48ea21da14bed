"""Who breaks the brokers of a soak while load runs? A thread that carries a timeline of faults out, and heals it all.

One fault after the other: the next one comes when it is due, and every replica is in sync again. Every deed is on the
run's timeline and in an account of faults (``fault_injection.faults.account``). What does not go as planned, such as a
frame that was lain in wait for and never came, is said and marked, and breaks nothing off: the next wait for every
replica to be in sync decides. If that is in vain for long, the rest of the timeline is left out, and that is said.
"""

from __future__ import annotations

import time
from threading import Thread
from typing import TYPE_CHECKING, Self

from conformance.interruption import HarnessError
from conformance.probes.connection import ProbeError
from conformance.record.soak_faults import CutBy, FaultKind, HeldFrame
from conformance.record.timeline import Event
from conformance.running.election_requests import request_preferred_leaders
from conformance.running.recorder import fault_marks
from conformance.soak.brokers import SoakTopic
from conformance.soak.harming import Harms, Patience, StoppedError
from conformance.soak.provoking import kill_ahead, kill_leaders, second_leader, succession
from fault_injection.faults.account import FaultAccount
from fault_injection.faults.fault import FaultError
from fault_injection.waiting import DeadlineExceededError, NotYetError
from fault_injection.wire.points import Point

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import TracebackType

    from conformance.record.soak_faults import FaultTimeline, PlannedFault
    from conformance.running.recorder import Recorder
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.wire.proxy import GateProxy

ELECTED_S = 20.0
NOT_AS_PLANNED = (DeadlineExceededError, FaultError, HarnessError, ProbeError)


class Breaker:
    """Carries the faults of a soak out, in a thread of its own; a context manager.

    The gate must have been made with ``on_event=hold_marks(recorder)``, so that holds are on the timeline.

    Args:
        cluster: the brokers: healthy, and every replica in sync.
        gate: what every link of theirs goes through.
        timeline: which faults come when.
        topic: the soak's topic.
        partitions: how many it has.
        recorder: gets every deed onto the run's timeline.
        tell: told in words what is done, and what does not go as planned.

    Attributes:
        done: how many faults of the timeline have been carried out as planned, and healed.
        begun: how many were begun: those, what did not go as planned, and what the end cut short.
        said: what did not go as planned, in words.
        left_out: the faults that never came: it was stopped, or replicas did not come back in sync.
        is_over: no fault is under way, and none is to come.
        failure: what ended it before its time.
    """

    def __init__(
        self,
        cluster: Cluster,
        gate: GateProxy,
        timeline: FaultTimeline,
        topic: tuple[str, int],
        recorder: Recorder,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._cluster, self._gate, self._faults = cluster, gate, timeline.faults
        self._topic, self._recorder, self._tell = SoakTopic(cluster, *topic), recorder, tell
        self._patience = Patience()
        self._account: FaultAccount | None = None
        self._thread = Thread(target=self._keep_failure, name="soak-faults")
        self.done = 0
        self.begun = 0
        self.said: list[str] = []
        self.failure: BaseException | None = None

    def __enter__(self) -> Self:
        """Begin: seconds of the timeline count from now."""
        self._began_s = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Heal everything; if the block failed, nothing is awaited after that.

        Raises:
            BaseException: what ended it before its time, or a fault that was not healed.
        """
        if error is not None:
            self._hurry()
        self.stop()
        if error is None and self.failure is not None:
            raise self.failure
        if error is not None and self.failure is not None:
            error.add_note(f"the faults of the soak ended by {self.failure!r}")

    @property
    def left_out(self) -> tuple[PlannedFault, ...]:
        """Return the faults that have not come."""
        return self._faults[self.begun :]

    @property
    def is_over(self) -> bool:
        """Return whether no fault is under way, and none is to come: carried out or not, all are healed."""
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Take back what stands, wait until every replica is in sync, and return.

        To be called while load still runs: some logs have to grow before a broker can be started whole.
        """
        self._patience.end()
        if self._thread.is_alive():
            self._thread.join()
        self._topic.close()

    def _hurry(self) -> None:
        self._patience.is_hurried = True
        if self._account is not None:
            self._account.forgo_recovery()

    def _keep_failure(self) -> None:
        try:
            self._break()
        except BaseException as failure:  # noqa: BLE001 - raised again where the block ends
            self.failure = failure
            self._tell(f"no more faults: {failure}")

    def _break(self) -> None:
        """Carry out fault after fault; whatever ends this, all are healed, the last one first."""
        with FaultAccount(self._cluster, fault_marks(self._recorder)) as self._account:
            harms = Harms(
                self._cluster,
                self._gate,
                self._topic,
                self._recorder,
                faults=self._account,
                patience=self._patience,
                say=self._say,
            )
            try:
                self._learn_topic()
                self._carry_out_all(harms)
            except StoppedError:
                pass
            if self._patience.is_hurried:
                self._account.forgo_recovery()

    def _learn_topic(self) -> None:
        """Tell the gate the topic's id: from Fetch v13 on (KIP-516) frames do not name it."""
        seen = self._topic.replicas.believed(self._cluster.live_brokers[0])
        topic_id = next((one.topic_id for one in seen.values()), None)
        if topic_id is not None:
            self._gate.learn_topic(topic_id, self._topic.name)

    def _carry_out_all(self, harms: Harms) -> None:
        for planned in self._faults:
            self._patience.pause(self._began_s + planned.at_s - time.monotonic())
            if not self._is_in_sync(harms):
                return
            self._tell(planned.sentence().strip())
            self.begun += 1
            try:
                carry_out(planned, harms)
            except NOT_AS_PLANNED as late:
                self._say(f"{planned.kind} of {planned.at_s:g} s did not go as planned: {late}")
            except StoppedError:
                self._say(f"{planned.kind} of {planned.at_s:g} s was cut short by the end of the load")
                raise
            else:
                self.done += 1

    def _is_in_sync(self, harms: Harms) -> bool:
        """Wait until every replica is in sync; return whether they are in time."""
        try:
            harms.await_in_sync("every replica to be in sync")
        except DeadlineExceededError as late:
            self._say(f"faults left out: {len(self.left_out)}; {late}")
            return False
        return True

    def _say(self, what: str) -> None:
        self.said.append(what)
        self._recorder.mark(Event.EVIDENCE_MISSING, "faults", what)
        self._tell(what)


def carry_out(planned: PlannedFault, harms: Harms) -> None:
    """Do one fault of a timeline, and take it back.

    Raises:
        StoppedError: it was told to stop; what stood is taken back.
        DeadlineExceededError: it does not go as planned; what stood is taken back.
    """
    match planned.kind:
        case FaultKind.KILL | FaultKind.STOP | FaultKind.FREEZE | FaultKind.ISOLATE:
            with _upon_broker(planned, harms):
                harms.patience.pause(planned.for_s)
        case FaultKind.CUT:
            with harms.cut(*_link(planned, harms), planned.by or CutBy.BLACKHOLE):
                harms.patience.pause(planned.for_s)
        case FaultKind.HOLD:
            _hold(planned, harms)
        case FaultKind.ROLL:
            _roll(planned, harms)
        case FaultKind.ELECTION:
            _elect(harms)
        case FaultKind.KILL_AHEAD | FaultKind.KILL_LEADERS | FaultKind.SECOND_LEADER:
            _PROVOKED[planned.kind](harms, planned.partition or 0, planned.for_s)


_PROVOKED = {
    FaultKind.KILL_AHEAD: kill_ahead,
    FaultKind.KILL_LEADERS: kill_leaders,
    FaultKind.SECOND_LEADER: second_leader,
}


def _upon_broker(planned: PlannedFault, harms: Harms) -> AbstractContextManager[None]:
    broker = _broker(planned, harms)
    upon: dict[FaultKind, Callable[[int], AbstractContextManager[None]]] = {
        FaultKind.KILL: harms.killed,
        FaultKind.STOP: harms.stopped,
        FaultKind.FREEZE: harms.frozen,
        FaultKind.ISOLATE: harms.isolated,
    }
    return upon[planned.kind](broker)


def _broker(planned: PlannedFault, harms: Harms) -> int:
    """Return whom a fault is about: the broker that it names, or who leads its partition now."""
    return succession(harms, planned.partition or 0, 1)[0] if planned.broker is None else planned.broker


def _link(planned: PlannedFault, harms: Harms) -> tuple[int, int]:
    """Return follower and leader: those that a fault names, or those of its partition now."""
    if planned.follower is not None and planned.leader is not None:
        return planned.follower, planned.leader
    leader, follower, *_ = succession(harms, planned.partition or 0, 2)
    return follower, leader


def _hold(planned: PlannedFault, harms: Harms) -> None:
    follower, leader = _link(planned, harms)
    name = "fetch_response" if planned.frame is HeldFrame.ANSWER else "fetch_request"
    with harms.held(Point(name, source=follower, destination=leader)) as held:
        harms.await_caught(held)
        harms.patience.pause(planned.for_s)


def _roll(planned: PlannedFault, harms: Harms) -> None:
    """Stop and start every broker that has replicas, one after the other, each awaited in sync before the next."""
    for broker in harms.cluster.spec.broker_ids:
        with harms.stopped(broker):
            harms.patience.pause(planned.for_s)
        harms.await_in_sync(f"every replica to be in sync after broker {broker} was started")


def _elect(harms: Harms) -> None:
    """Have preferred leaders elected, and wait until each partition has its own."""
    topic = harms.topic
    asked = harms.cluster.spec.broker_ids[0]
    request_preferred_leaders(harms.cluster, asked, topic.name, topic.partitions)
    harms.mark(Event.ELECTION_REQUESTED, topic.name, f"preferred leaders of {topic.name} asked for")

    def are_elected() -> bool:
        others = [number for number, seen in topic.agreed().items() if seen.leader != seen.replicas[0]]
        if others:
            raise NotYetError(f"partitions {others} have other leaders")
        return True

    harms.patience.until(are_elected, deadline_s=ELECTED_S, what="preferred leaders to be elected")
