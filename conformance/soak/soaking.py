"""How does a soak go? Brokers, load, faults, rest; then the prediction, frozen; then the topic is read and counted.

Brokers run until the topic is read. What ends the tester ends them too.
"""

from __future__ import annotations

import ctypes
import shutil
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.clients.topics import create_spread_topic
from conformance.interruption import HarnessError
from conformance.layout import TOLD_EVERY_S
from conformance.observation.frame_events import is_wanted
from conformance.probes.connection import BrokerConnection, partition_metadata
from conformance.record.directory import RunDirectory, run_name, topic_name
from conformance.record.soak import WIRE_FILE, Soak, note_soak
from conformance.record.soak_faults import write_faults
from conformance.record.soak_verdict import FaultsOfSoak
from conformance.running.recorder import Recorder, hold_marks
from conformance.session import backend_for, jars_for
from conformance.soak.breaking import Breaker
from conformance.soak.brokers import replica_files, soak_spec
from conformance.soak.course import NS
from conformance.soak.disk import check_room, check_storage
from conformance.soak.judging import judge_soak
from conformance.soak.options import soak_of, timeline_of
from conformance.soak.predicting import predict_soak
from conformance.soak.producing import SoakProducers, loads_of
from conformance.soak.rest import at_rest, committed_ends
from conformance.soak.spark_beforehand import new_spark, spark_beforehand
from conformance.spark_extra import CROSS_CHECK_MISSING, has_cross_check
from conformance.work_directory import work_directory
from fault_injection.cluster.client_links import relayed_bootstrap
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.releases import UsageError, schema_jar
from fault_injection.waiting import DeadlineExceededError
from fault_injection.wire.proxy import GateProxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from conformance.clients.ledger_producer import Progress
    from conformance.record.soak_counted import SoakCounted
    from conformance.record.soak_faults import FaultTimeline, PlannedFault
    from conformance.record.soak_prediction import SoakPrediction
    from conformance.record.soak_verdict import SoakVerdict
    from conformance.soak.options import SoakOptions
    from conformance.soak.spark_beforehand import SparkBeforehand

UNREAD_MAX = 1024
"""A hold is armed once so many frames at most were read that went on before."""
SEGMENT_BYTES = 256 * 2**20
ARENAS = 2
_M_ARENA_MAX = -8


@dataclass(frozen=True, slots=True)
class Soaked:
    """A soak that is over."""

    run: RunDirectory
    prediction: SoakPrediction
    counted: SoakCounted
    verdict: SoakVerdict


@dataclass(frozen=True, slots=True)
class _Produced:
    """What is there when load and faults are over."""

    soak: Soak
    faults: FaultsOfSoak
    unrest: str | None


def soak(options: SoakOptions, runs: Path, tell: Callable[[str], None]) -> Soaked:
    """Run a soak to its verdict.

    Args:
        options: what it is to do.
        runs: the directory in which its own one is created.
        tell: told what is going on.

    Raises:
        UsageError: the options do not go together, the disk has no room, or jars, backend, Spark or DuckDB cannot be
            had.
        ClusterError: brokers do not come up, or end by themselves, or a fault cannot be healed.
        DeadlineExceededError: brokers do not come to agree who leads, after load and faults.
        ProducerEndedError: a producer's process ended.
        HarnessError: the gate failed while it moved frames.
        ReconcileError: Spark failed.
    """
    if options.cross_check and not has_cross_check():
        raise UsageError(CROSS_CHECK_MISSING)
    share_arenas()
    timeline, wanted = timeline_of(options), soak_of(options, "soak")
    loads_of(wanted)
    with ExitStack() as stack:
        place = work_directory("soak")
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        room = check_room(wanted, place, runs, cross_check=options.cross_check)
        tell(f"{room.words}; brokers' logs are in {place}")
        with spark_beforehand(options, tell) as spark:
            spark.try_sharing(runs)
            soaking = _Soaking(options, timeline, stack, place, runs, tell)
            soaking.try_reaching_by(spark)
        return soaking.finish(soaking.produce())


def share_arenas() -> None:
    """Let threads share two heaps, if the C library is glibc: one of its own keeps what a thread's largest frame took.

    Source: mallopt(3), M_ARENA_MAX.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)


class _Soaking:
    """One soak under way; what it starts ends with the stack."""

    def __init__(
        self,
        options: SoakOptions,
        timeline: FaultTimeline,
        stack: ExitStack,
        place: Path,
        runs: Path,
        tell: Callable[[str], None],
    ) -> None:
        line = options.line
        self._options, self._timeline, self._place, self._tell = options, timeline, place, tell
        jars = jars_for(line)
        self._spark = stack.enter_context(new_spark(options))
        backend, why = backend_for(options.run)
        stack.callback(backend.close)
        name = run_name(line.release.version, line.metadata.value, "soak")
        wanted, storage = soak_of(options, topic_name("soak", name)), backend.storage
        if storage is not None:
            check_storage(wanted, storage, place)
        tell(f"{line.words}: {options.brokers} brokers, {why}")
        self.run = RunDirectory.create(runs, name, ("prediction", "producers"))
        write_faults(self.run, timeline)
        self._recorder = stack.enter_context(Recorder(self.run.path))
        self._gate = stack.enter_context(
            GateProxy(
                backend.host,
                backend.peers,
                schemas=schema_jar(),
                on_event=hold_marks(self._recorder),
                reads_ids=True,
                unread_max=UNREAD_MAX,
            )
        )
        self._gate.trace_to(self.run.path / WIRE_FILE, lambda frame: is_wanted(frame.link, frame.api_key))
        spec = soak_spec(
            line.release, line.metadata, options.brokers, wanted.lag_time_max_ms, SETTINGS, options.advertised
        )
        self._cluster = stack.enter_context(Cluster.start(spec, jars, backend, self._gate, place, tell))
        self.soak = note_soak(self.run, wanted, topic_id=self._created(wanted), bootstrap=self._bootstrap)

    def try_reaching_by(self, spark: SparkBeforehand) -> None:
        """Make sure, before records are sent, that Spark will be able to read them."""
        spark.try_reaching(self._bootstrap, f"{self.soak.topic}-executors")

    @property
    def _bootstrap(self) -> str:
        return ",".join(map(self._cluster.client_address, self._cluster.live_brokers))

    def _created(self, wanted: Soak) -> str | None:
        """Create the topic, and let the gate know it; return its id."""
        ids = self._options.ground.brokers
        places = range(wanted.replicas)
        assigned = [[ids[(number + place) % len(ids)] for place in places] for number in range(wanted.partitions)]
        configs = {"min.insync.replicas": str(wanted.min_insync_replicas), **TOPIC_SETTINGS}
        create_spread_topic(self._bootstrap.split(","), wanted.topic, assigned, configs)
        with BrokerConnection(self._cluster.client_address(ids[0])) as connection:
            seen = partition_metadata(connection, wanted.topic, 0)
        topic_id = None if seen is None else seen.topic_id
        if topic_id is not None:
            self._gate.learn_topic(topic_id, wanted.topic)
        return None if topic_id is None else str(topic_id)

    def produce(self) -> _Produced:
        """Produce while faults come, and wait until everything is at rest; the trace is whole then."""
        soak = note_soak(self.run, self.soak, began_ns=time.monotonic_ns(), began_wall_ns=time.time_ns())
        with SoakProducers(self.run, soak, {"bootstrap.servers": relayed_bootstrap(self._cluster)}) as producers:
            with self._breaker(soak) as breaker:
                self._await(producers, soak)
                breaker.stop()
            producers.stop()
        left_out = due(self._timeline, breaker.left_out, (time.monotonic_ns() - soak.began_ns) / NS)
        faults = FaultsOfSoak(breaker.done, breaker.begun, left_out, tuple(breaker.said))
        self._tell("waits until every replica is in sync and at rest")
        ends, unrest = self._ends(soak)
        self._gate.end_trace()
        if self._gate.failures:
            raise HarnessError(f"the gate failed while it moved frames: {self._gate.failures[0]}")
        return _Produced(note_soak(self.run, soak, ends=ends, ended_ns=time.monotonic_ns()), faults, unrest)

    def _ends(self, soak: Soak) -> tuple[tuple[int, ...], str | None]:
        """Return each partition's high watermark at rest, and why there is no rest: replicas may have stayed away."""
        try:
            return at_rest(self._cluster, soak.topic, soak.partitions), None
        except DeadlineExceededError as late:
            self._tell(f"{late}: reads what leaders have committed")
            return committed_ends(self._cluster, soak.topic, soak.partitions), str(late)

    def _breaker(self, soak: Soak) -> Breaker:
        topic = (soak.topic, soak.partitions)
        return Breaker(self._cluster, self._gate, self._timeline, topic, self._recorder, self._tell)

    def _await(self, producers: SoakProducers, soak: Soak) -> None:
        """Wait until enough was sent, or the time is over; say every few seconds how far it is."""
        began_s = told_s = time.monotonic()
        before = 0
        while not producers.done(min(TOLD_EVERY_S, self._left_s(began_s, soak))):
            self._cluster.check_alive()
            now_s, progress = time.monotonic(), producers.progress
            rate = (progress.acknowledged - before) / max(now_s - told_s, 0.001)
            self._tell(_told(soak, progress, rate, now_s - began_s))
            before, told_s = progress.acknowledged, now_s
            if self._left_s(began_s, soak) <= 0:
                return

    @staticmethod
    def _left_s(began_s: float, soak: Soak) -> float:
        return TOLD_EVERY_S if soak.duration_s is None else began_s + soak.duration_s - time.monotonic()

    def finish(self, produced: _Produced) -> Soaked:
        """Predict, read, count and judge; brokers run still."""
        soak = produced.soak
        self._tell("predicts what became of every record, from the wire alone")
        self._spark.start()
        prediction = predict_soak(self.run, soak, self._options.line.rules, tell=self._tell)
        self._tell(
            f"predicted in {prediction.seconds:g} s from {prediction.events:,} events; frozen as "
            f"{prediction.digest[:12]}; Spark reads {sum(soak.ends):,} records"
        )
        began_s = time.monotonic()
        data = replica_files(self._cluster, soak.topic, self._place)
        options = self._options
        counted = self._spark.reconcile_soak(
            self.run,
            soak,
            sampled=options.is_sampled,
            cross_check=options.cross_check,
            data=data,
            tell=self._tell,
        )
        self._tell(f"read and counted in {time.monotonic() - began_s:.1f} s")
        verdict = judge_soak(self.run, soak, prediction, counted, produced.faults, unrest=produced.unrest)
        return Soaked(self.run, prediction, counted, verdict)


SETTINGS = {"log.segment.bytes": str(SEGMENT_BYTES), "log.retention.ms": "-1"}
"""Of the brokers: nothing is deleted while a soak lasts."""
TOPIC_SETTINGS = {"unclean.leader.election.enable": "false"}


def due(timeline: FaultTimeline, left_out: Iterable[PlannedFault], lasted_s: float) -> int:
    """Return how many faults were to come: of those that were drawn, the ones that were due while load lasted."""
    return sum(1 for one in left_out if timeline.seed is None or one.at_s <= lasted_s)


def _told(soak: Soak, progress: Progress, rate: float, passed_s: float) -> str:
    """Return in a line how far the load is."""
    left = ""
    if soak.records is not None and rate:
        left = f"; some {(soak.records - progress.acknowledged) / rate:,.0f} s left"
    elif soak.duration_s is not None:
        left = f"; {max(soak.duration_s - passed_s, 0):,.0f} s left"
    behind = progress.sent - progress.acknowledged - progress.unknown
    return f"{progress.acknowledged:,} acknowledged, {rate:,.0f} a second, {behind:,} on their way{left}"
