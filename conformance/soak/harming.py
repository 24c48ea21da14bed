"""How is each harm done to the brokers of a soak, and undone, so that its marks are whole?

Each is a context: within it the harm stands, and whatever ends it takes the harm back and marks that. Marks are those
of a run (``conformance.running.processes``, ``obstacles``), in the same order: a kill is noted when the process is
gone, a start when the broker is registered, a pause when it stands still.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from threading import Event as Flag
from typing import TYPE_CHECKING, TypeVar

from conformance.record.timeline import Event
from conformance.running.obstacles import isolation
from conformance.soak.rest import InSync
from fault_injection.cluster.readiness import DEADLINE_S, await_registered
from fault_injection.faults import gate_faults, network
from fault_injection.faults.process import KillProcess, PauseProcess, StopProcess
from fault_injection.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

    from conformance.record.soak_faults import CutBy
    from conformance.running.recorder import Recorder
    from conformance.soak.brokers import SoakTopic
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.faults.account import FaultAccount, FaultEntry
    from fault_injection.wire.gate_events import CaughtFrame
    from fault_injection.wire.points import Point
    from fault_injection.wire.proxy import GateProxy

T = TypeVar("T")
CAUGHT_S = 10.0
"""Within this time a follower that follows anything has fetched."""
ELECTED_S = 60.0
LOOK_EVERY_S = 0.05
IN_SYNC_S = 120.0
IN_SYNC_EVERY_S = 0.25
"""Load is not to be slowed down by looks at every replica."""


class StoppedError(Exception):
    """Whoever breaks the brokers was told to stop: what stands is taken back."""


class Patience:
    """Waits until something holds, or it is told to stop.

    Attributes:
        is_hurried: nobody will use the brokers any more: what stands is taken back, and nothing awaited after it.
    """

    def __init__(self) -> None:
        self._is_over = Flag()
        self.is_hurried = False

    def end(self) -> None:
        """Let every wait end."""
        self._is_over.set()

    @property
    def is_over(self) -> bool:
        """Return whether it was told to stop."""
        return self._is_over.is_set()

    def pause(self, seconds: float) -> None:
        """Let time pass.

        Raises:
            StoppedError: it was told to stop.
        """
        if self._is_over.wait(max(seconds, 0.0)):
            raise StoppedError

    def until(
        self,
        condition: Callable[[], T | Literal[False] | None],
        *,
        deadline_s: float,
        what: str,
        interval_s: float = LOOK_EVERY_S,
    ) -> T:
        """Wait for a condition, as ``fault_injection.waiting.until`` does.

        Raises:
            StoppedError: it was told to stop.
            DeadlineExceededError: the condition never held.
        """

        def unless_stopped() -> T | Literal[False] | None:
            if self._is_over.is_set():
                raise StoppedError
            return condition()

        return until(unless_stopped, deadline_s=deadline_s, what=what, interval_s=interval_s)


class Harms:
    """Does harm to the brokers of one soak, one after the other.

    Args:
        cluster: the brokers.
        gate: what every link goes through.
        topic: what brokers say of the soak's topic.
        recorder: gets every deed onto the timeline.
        faults: keeps account of all of it.
        patience: waits.
        say: told what did not go as planned.
    """

    def __init__(
        self,
        cluster: Cluster,
        gate: GateProxy,
        topic: SoakTopic,
        recorder: Recorder,
        *,
        faults: FaultAccount,
        patience: Patience,
        say: Callable[[str], None],
    ) -> None:
        self.cluster, self.topic, self.patience, self.say = cluster, topic, patience, say
        self._gate, self._recorder, self._faults = gate, recorder, faults
        self._numbers = count(1)

    @contextmanager
    def killed(self, broker: int, before_start: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Kill a broker; afterwards it is started, once ``before_start`` has returned."""
        entry = self._faults.inject(KillProcess(broker))
        self._recorder.mark(Event.BROKER_KILLED, broker, f"broker {broker} killed (kill -9)")
        with self._down(broker, entry, before_start):
            yield

    @contextmanager
    def stopped(self, broker: int) -> Iterator[None]:
        """Shut a broker down in order; afterwards it is started."""
        entry = self._faults.inject(StopProcess(broker))
        self._recorder.mark(Event.BROKER_STOPPED, broker, f"broker {broker} stopped (SIGTERM)")
        with self._down(broker, entry, lambda: None):
            yield

    @contextmanager
    def _down(self, broker: int, entry: FaultEntry, before_start: Callable[[], None]) -> Iterator[None]:
        try:
            yield
        finally:
            try:
                if not self.patience.is_hurried:
                    before_start()
            finally:
                self._faults.heal(entry)
                self._mark_started(broker)

    @contextmanager
    def frozen(self, broker: int) -> Iterator[None]:
        """Let a broker stand still."""
        entry = self._faults.inject(PauseProcess(broker))
        self._recorder.mark(Event.BROKER_PAUSED, broker, f"broker {broker} paused (SIGSTOP)")
        try:
            yield
        finally:
            self._faults.heal(entry)
            self._recorder.mark(Event.BROKER_RESUMED, broker, f"broker {broker} resumed (SIGCONT)")
            self._await_registered(broker)

    @contextmanager
    def isolated(self, broker: int) -> Iterator[None]:
        """Cut a broker off from every other node; clients reach it."""
        entries = [self._faults.inject(fault) for fault in isolation(self.cluster, self._gate, broker)]
        self._recorder.mark(
            Event.BROKER_ISOLATED, broker, f"broker {broker} reaches no other node, and none reaches it"
        )
        try:
            yield
        finally:
            for entry in reversed(entries):
                self._take_back(entry)
            self._recorder.mark(Event.BROKER_REJOINED, broker, f"the links of broker {broker} work again")
            self._await_registered(broker)

    @contextmanager
    def cut(self, one: int, other: int, by: CutBy) -> Iterator[None]:
        """Let two brokers not hear each other."""
        fault = network.cut(self._gate, one, other, both_ways=True, kind="replication", by=by.value)
        entry = self._faults.inject(fault)
        self._mark_links(Event.LINK_CUT, one, other, f"brokers {one} and {other} do not hear each other ({by})")
        try:
            yield
        finally:
            self._take_back(entry)
            self._mark_links(Event.LINK_HEALED, one, other, f"brokers {one} and {other} hear each other")

    @contextmanager
    def held(self, point: Point) -> Iterator[str]:
        """Lie in wait for a frame and hold it; yields the name that the gate knows the hold by."""
        name = f"soak hold {next(self._numbers)}"
        entry = self._faults.inject(gate_faults.hold(self._gate, name, point))
        try:
            yield name
        finally:
            self._take_back(entry)

    def await_caught(self, name: str) -> CaughtFrame:
        """Wait until a hold has caught its frame, and return it.

        Raises:
            DeadlineExceededError: none came.
        """
        what = f"a frame for {name!r}"
        return self.patience.until(lambda: self._gate.caught(name), deadline_s=CAUGHT_S, what=what)

    def release(self, name: str) -> None:
        """Let a held frame go on."""
        self._gate.release(name)

    def await_in_sync(self, what: str) -> None:
        """Wait until every replica is in sync.

        Raises:
            DeadlineExceededError: one is not; says which.
        """
        self.patience.until(InSync(self.topic), deadline_s=IN_SYNC_S, what=what, interval_s=IN_SYNC_EVERY_S)

    def await_leader(self, partition: int, leader: int) -> None:
        """Wait until every broker that runs names a leader.

        Raises:
            DeadlineExceededError: they do not.
        """
        self.patience.until(
            lambda: self.topic.agreed()[partition].leader == leader,
            deadline_s=ELECTED_S,
            what=f"broker {leader} to lead partition {partition}",
        )

    def mark(self, event: Event, subject: object, text: str) -> None:
        """Mark what is no harm."""
        self._recorder.mark(event, subject, text)

    def _take_back(self, entry: FaultEntry) -> None:
        if (complaint := self._faults.give_up(entry)) is not None:
            self.say(complaint)

    def _mark_links(self, event: Event, one: int, other: int, text: str) -> None:
        for follower, leader in ((one, other), (other, one)):
            self._recorder.mark(event, follower, text, follower=follower, leader=leader)

    def _mark_started(self, broker: int) -> None:
        """Mark a start when the broker is registered, or when that is waited for no longer."""
        try:
            self._await_registered(broker)
        finally:
            self._recorder.mark(Event.BROKER_STARTED, broker, f"broker {broker} started")

    def _await_registered(self, broker: int) -> None:
        if not self.patience.is_hurried:
            await_registered(self.cluster, broker, deadline_s=DEADLINE_S, is_needless=lambda: self.patience.is_hurried)
