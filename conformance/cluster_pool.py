"""Where do scenarios run? One backend, one gate and one cluster, reused while it stays healthy.

A cluster that is not healthy after a scenario is replaced, as is one that the model says it has spoilt; another timing
profile or checkpoint policy needs another cluster. Leaving the context ends every broker, whatever happened.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack, suppress
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, cast

from conformance.work_directory import work_directory
from fault_injection.cluster.backend import ClusterError
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import brokers_known_to
from fault_injection.cluster.spec import ClusterSpec, HighWatermarkCheckpoint, Timing
from fault_injection.releases import schema_jar
from fault_injection.waiting import DeadlineExceededError
from fault_injection.wire.gate import GateError
from fault_injection.wire.gate_events import HOLDING, HoldStatus
from fault_injection.wire.proxy import GateProxy
from oracle.steps.brokers import Isolate, Kill, KillTogether, Pause, Rejoin, Resume, Start, Stop
from oracle.steps.frames import Hold, ReleaseHold
from oracle.vocabulary import FROM_CONTROLLER

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from conformance.line import Line
    from fault_injection.cluster.backend import Backend
    from fault_injection.releases import JarSet
    from fault_injection.wire.gate_events import GateEvent
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

BROKERS_MIN = 3


class Closeable(Protocol):
    """What a pool can keep: it is closed in the end."""

    def close(self) -> None:
        """End it; called once."""


K = TypeVar("K", bound=Closeable)


def brokers_for(schedule: Schedule) -> tuple[int, ...]:
    """Return the ids of the brokers a schedule needs, ascending: those that it names, and one that outlives them all.

    While every replica is down, or hears no decision, somebody must still be asked who leads. The others have the
    lowest ids that are free.
    """
    named = set(schedule.brokers)
    needed = max(BROKERS_MIN, len(named))
    for silent in _silent(schedule.steps):
        if len(silent) == needed:
            needed += 1
    free = (broker for broker in count(1) if broker not in named)
    return tuple(sorted((*named, *islice(free, needed - len(named)))))


def _silent(steps: Sequence[Step]) -> Iterator[frozenset[int]]:
    """Yield after each step the brokers that are down, or that a hold keeps from hearing the controller."""
    down: set[int] = set()
    deaf: dict[str, int] = {}
    for step in steps:
        ended = _ended(step)
        deaf = {name: broker for name, broker in deaf.items() if broker not in ended}
        down.update(ended)
        if isinstance(step, Pause):
            down.add(step.broker)
        elif isinstance(step, Start | Resume | Rejoin):
            down.discard(step.broker)
        elif isinstance(step, Hold) and step.point in FROM_CONTROLLER and step.broker is not None:
            deaf[step.name] = step.broker
        elif isinstance(step, ReleaseHold):
            deaf.pop(step.name, None)
        yield frozenset((*down, *deaf.values()))


def _ended(step: Step) -> frozenset[int]:
    """Return the brokers whose connections a step ends: what held their frames is discharged."""
    if isinstance(step, KillTogether):
        return frozenset(step.brokers)
    return frozenset((step.broker,)) if isinstance(step, Kill | Stop | Isolate) else frozenset()


def cluster_kind(schedule: Schedule) -> dict[str, Hashable]:
    """Return what two schedules must have in common to share a cluster, besides its brokers, by its name in files."""
    return {
        "timing": schedule.timing.value,
        "checkpointing": schedule.checkpointing.value,
        "fetch_wait_max_ms": schedule.fetch_wait_max_ms,
        "fetch_sessions": schedule.fetch_sessions,
    }


IN_SPEC: dict[str, tuple[str, Callable[[Any], object]]] = {
    "timing": ("timing", Timing),
    "checkpointing": ("checkpoint", HighWatermarkCheckpoint),
}
"""What a kind of cluster has under a name, or a type, that is not the one in its spec."""


def spec_traits(schedule: Schedule) -> dict[str, Any]:
    """Return the kind of cluster that a schedule needs, as ``ClusterSpec`` takes it."""
    traits = {}
    for name, value in cluster_kind(schedule).items():
        field, typed = IN_SPEC.get(name, (name, lambda plain: plain))
        traits[field] = typed(value)
    return traits


class ClusterPool:
    """The machinery that scenarios of one line share.

    Attributes:
        line: what its brokers run.
        fetch_sessions: False has followers list every partition in every fetch of a schedule's run.
        cluster_runs: the names of the runs that the running cluster has seen, in order.
        shared_brokers: brokers that every schedule's cluster has, so that schedules that need others share it, whatever
            one leaves behind for the next; none if each may get a cluster of its own.
        is_kept: this very cluster is wanted after a run: it is healed, where another one would be there sooner.
        features: KRaft feature levels that every schedule's cluster is formatted with, beside the release's own.
    """

    def __init__(
        self,
        *,
        line: Line,
        jars: JarSet,
        backend: Backend,
        progress: Callable[[str], None],
        fetch_sessions: bool = True,
    ) -> None:
        self.line = line
        self.jars = jars
        self.backend = backend
        self._progress = progress
        self.fetch_sessions = fetch_sessions
        self._stack = ExitStack()
        self._directories: list[Path] = []
        self._cluster: Cluster | None = None
        self._gate: GateProxy | None = None
        self._spec: ClusterSpec | None = None
        self._kept: dict[str, tuple[Closeable, Path]] = {}
        self.on_gate_event: Callable[[GateEvent], None] | None = None
        self.cluster_runs: list[str] = []
        self.shared_brokers: frozenset[int] = frozenset()
        self.is_kept = False
        self.features: Mapping[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            self._leave_at_once()
            return
        try:
            self._end_all()
        except Exception:
            if error is None:
                raise  # else the first error says more; closing the backend ends every node all the same
        finally:
            self.backend.close()
            self._remove_directories()

    def _leave_at_once(self) -> None:
        """End every node without ceremony, then the rest: whoever interrupts does not wait for good order."""
        try:
            self.backend.close()
        finally:
            with suppress(Exception):  # the nodes that it would end are gone
                self._end_all()
            self._remove_directories()

    @property
    def gate(self) -> GateProxy:
        """Return the gate of the running cluster."""
        assert self._gate is not None
        return self._gate

    @property
    def running(self) -> Cluster | None:
        """Return the running cluster, if there is one."""
        return self._cluster

    def cluster_for(self, schedule: Schedule, **patience: int) -> Cluster:
        """Return a healthy cluster with the schedule's timing, started anew if need be.

        Args:
            schedule: what is to be run on it.
            patience: for how long its nodes wait, by the fields of ``ClusterSpec``.

        Raises:
            ClusterError: it does not come up.
        """
        brokers = tuple(sorted({*brokers_for(schedule), *self.shared_brokers}))
        traits = spec_traits(schedule) | {"features": self.features, **patience}
        return self.cluster_of(ClusterSpec(self.line.release, self.line.metadata, broker_ids=brokers, **traits))

    def cluster_of(self, spec: ClusterSpec) -> Cluster:
        """Return a healthy cluster as it is asked for, started anew if need be; it takes the place of another one.

        Raises:
            ClusterError: it does not come up.
        """
        if self._cluster is not None and (spec != self._spec or not self.is_healthy()):
            self._end_cluster()
        if self._cluster is None:
            self._start(spec)
        assert self._cluster is not None
        return self._cluster

    def _start(self, spec: ClusterSpec) -> None:
        directory = work_directory("brokers")
        self._directories.append(directory)
        self._progress("looking for the schemas of the wire protocol (fetched once, then cached)")
        self._gate = GateProxy(self.backend.host, self.backend.peers, schemas=schema_jar(), on_event=self._pass_on)
        self._stack.callback(self._gate.close)
        self._cluster = Cluster.start(spec, self.jars, self.backend, self._gate, directory, self._progress)
        self._stack.callback(self._cluster.shutdown)
        self._spec = spec

    def _pass_on(self, event: GateEvent) -> None:
        if self.on_gate_event is not None:
            self.on_gate_event(event)

    def is_healthy(self) -> bool:
        """Return whether every broker runs and knows every other one, and no frame is held."""
        cluster, spec = self._cluster, self._spec
        assert cluster is not None
        assert spec is not None
        if not all(cluster.is_alive(broker) for broker in spec.broker_ids):
            return False
        if HoldStatus.DROPPED in self.gate.holds().values():
            return False  # the follower of a dropped frame still waits for its answer
        self._clear_holds()
        try:
            known = [brokers_known_to(cluster.client_address(b)) or frozenset() for b in spec.broker_ids]
        except (ClusterError, DeadlineExceededError, OSError):
            return False
        return all(set(spec.broker_ids) <= brokers for brokers in known)

    def _clear_holds(self) -> None:
        for name, status in self.gate.holds().items():
            try:
                if status is HoldStatus.ARMED:
                    self.gate.disarm(name)
                elif status in HOLDING:
                    self.gate.close_connection(name)
            except GateError:
                continue  # it ended between the two calls

    def discard_cluster(self) -> None:
        """End the running cluster; the next scenario gets a new one."""
        self._end_cluster()

    def kept(self, name: str, start: Callable[[Path], K]) -> K:
        """Return what was started under a name, now or before; it lasts as long as the pool.

        Args:
            name: one name for one kind of thing.
            start: starts it in a directory of its own.
        """
        if name not in self._kept:
            directory = work_directory(name)
            try:
                self._kept[name] = start(directory), directory
            except BaseException:
                shutil.rmtree(directory, ignore_errors=True)
                raise
        return cast("K", self._kept[name][0])

    def discard(self, name: str) -> None:
        """End what is kept under a name, if anything is; whoever asks again gets a new one."""
        if name in self._kept:
            kept, directory = self._kept.pop(name)
            try:
                kept.close()
            finally:
                shutil.rmtree(directory, ignore_errors=True)

    def _end_all(self) -> None:
        with ExitStack() as stack:
            stack.callback(self._end_cluster)
            for name in tuple(self._kept):
                stack.callback(self.discard, name)

    def _end_cluster(self) -> None:
        stack, self._stack = self._stack, ExitStack()
        self._cluster = self._gate = self._spec = None
        self.cluster_runs = []
        stack.close()
        self._remove_directories()

    def _remove_directories(self) -> None:
        for directory in self._directories:
            shutil.rmtree(directory, ignore_errors=True)
        self._directories.clear()
