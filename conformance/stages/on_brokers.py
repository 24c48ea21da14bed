"""What happens to brokers in one run, and what is kept of them? Every step is taken, then the replicas come to rest."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.clients.topics import TopicError
from conformance.interruption import HarnessError, ended
from conformance.probes.connection import ProbeError
from conformance.reconcile.errors import ReconcileError
from conformance.record.directory import RunDirectoryError
from conformance.record.ledger import LedgerWriter
from conformance.record.prediction import read_prediction
from conformance.record.run import update_run
from conformance.record.timeline import Event
from conformance.running.processes import fatal_exits
from conformance.running.recorder import hold_marks
from conformance.running.runner import Runner
from conformance.stages.evidence import keep_broker_files, keep_node_logs, keep_replica_logs
from fault_injection.cluster.backend import ClusterError
from fault_injection.cluster.readiness import is_serving
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.gate import GateError
from oracle.error_codes import ErrorCode
from oracle.vocabulary import Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.cluster_pool import ClusterPool
    from conformance.probes.replica_probe import ReplicaProbe
    from conformance.record.directory import RunDirectory
    from conformance.running.recorder import Recorder
    from conformance.running.rest import Rest
    from conformance.running.standstill import Standstill
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.faults.account import FaultAccount
    from fault_injection.wire.proxy import GateProxy
    from oracle.schedule import Schedule

HARNESS_FAILURES = (
    ClusterError,
    TopicError,
    ProbeError,
    GateError,
    ReconcileError,
    RunDirectoryError,
    DeadlineExceededError,
)

END_DEADLINE_S = 20.0
"""How long a broker that gives up may take from its last answer to the end of its process."""


@dataclass(frozen=True, slots=True)
class BrokerRun:
    """Where one run takes place: on this cluster and topic, seen by this probe, written to this directory.

    Attributes:
        faults: keeps account of the run's faults, and heals them when it ends.
        rest: waits for rest; the runner tells it which links its holds block.
        look: called at each checkpoint; the run goes on when it returns.
    """

    run: RunDirectory
    schedule: Schedule
    topic: str
    cluster: Cluster
    probe: ReplicaProbe
    rest: Rest
    recorder: Recorder
    faults: FaultAccount
    look: Callable[[Standstill], None] | None = None


def take_steps(stage: BrokerRun, pool: ClusterPool, record_id_base: int, progress: Callable[[str], None]) -> None:
    """Take every step, and keep what the brokers wrote down.

    Args:
        stage: where.
        pool: whose gate holds frames.
        record_id_base: the id of the first record.
        progress: told of each step.

    Raises:
        RunInterruption: the run could not go on.
    """
    runner = Runner(
        stage.schedule,
        cluster=stage.cluster,
        gate=pool.gate,
        probe=stage.probe,
        rest=stage.rest,
        ledger=LedgerWriter(stage.run.path / "ledger"),
        recorder=stage.recorder,
        faults=stage.faults,
        topic=stage.topic,
        record_id_base=record_id_base,
        progress=progress,
    )
    runner.look = stage.look
    runner.expect_fatal_exits(fatal_exits(stage.schedule, read_prediction(stage.run)))
    pool.on_gate_event = hold_marks(stage.recorder)
    learned = stage.probe.metadata(stage.schedule.replicas[0])
    if learned is not None and learned.topic_id is not None:
        pool.gate.learn_topic(learned.topic_id, stage.topic)
        update_run(stage.run, topic_id=str(learned.topic_id))
    stage.rest.wait()
    try:
        runner.run()
    finally:
        _keep_broker_files(stage)


def end_trace(run: RunDirectory, gate: GateProxy, undecodable_before: int, strangers_before: int) -> None:
    """End the wire trace of a run, and note what the gate could not decode or did not let in meanwhile.

    Raises:
        HarnessError: the trace is cut short.
    """
    try:
        gate.end_trace()
    except OSError as error:
        raise HarnessError(f"the wire trace is cut short: {error}") from error
    update_run(
        run,
        undecodable_frames=gate.undecodable - undecodable_before,
        refused_connections=gate.strangers - strangers_before,
    )


def outlived_by_sessions(stage: BrokerRun) -> str:
    """Say why the cluster of a run is not worth healing; nothing if it is.

    Under ``lag`` sessions last a minute, and a broker that was killed is not registered again while its last one does
    (BrokerRegistration; DUPLICATE_BROKER_REGISTRATION), from 4.0 on neither one that was stopped: another cluster is
    there sooner, and for one that was stopped before 4.0 not much later.
    """
    down = [broker for broker in stage.schedule.brokers if not stage.cluster.is_alive(broker)]
    if stage.schedule.timing is not Timing.LAG or not down:
        return ""
    return f"the sessions of brokers that are down ({', '.join(map(str, down))}) last a minute"


@contextmanager
def blaming_lost_nodes(run: RunDirectory, running: Callable[[], Cluster | None]) -> Iterator[None]:
    """Whatever ends this early: if a node has ended although nobody ended it, that is the reason, and logs are kept.

    Args:
        run: gets the logs.
        running: tells which cluster runs, if one does.

    Raises:
        NodeLostError: somebody else's signal, or the machine, ended a node.
        NodeEndedError: a node ended by itself.
    """
    try:
        yield
    except Exception as error:
        if (cluster := running()) is None:
            raise
        _await_ends(cluster, gives_up=_has_lost_its_directory(error))
        if (reason := ended(cluster)) is not None:
            if not any((run.path / "brokers").iterdir()):
                keep_node_logs(run, cluster)
            raise reason from error
        raise


def _has_lost_its_directory(error: Exception) -> bool:
    """Return whether a broker has answered that its only log directory is gone: it goes on answering, then ends."""
    said = (each.error for each in (error, error.__cause__) if isinstance(each, ProbeError))
    return ErrorCode.KAFKA_STORAGE_ERROR.name in said


def _await_ends(cluster: Cluster, *, gives_up: bool) -> None:
    """Wait until a node is gone or, unless one has said that it gives up, every live broker answers.

    One that gives up closes its ports before it ends.
    """

    def is_settled() -> bool:
        live = (cluster.client_address(broker) for broker in cluster.live_brokers)
        return bool(cluster.lost_nodes()) or (not gives_up and all(map(is_serving, live)))

    with suppress(DeadlineExceededError):
        until(is_settled, deadline_s=END_DEADLINE_S, what="a broker that does not answer to end")


def _keep_broker_files(stage: BrokerRun) -> None:
    """Copy the brokers' files; a file that cannot be read must not hide how the run ended."""
    try:
        keep_broker_files(stage.run, stage.cluster, stage.topic, stage.schedule.brokers)
        keep_node_logs(stage.run, stage.cluster, but=stage.schedule.brokers)
    except (*HARNESS_FAILURES, OSError) as error:
        stage.recorder.mark(Event.EVIDENCE_MISSING, "brokers", f"the brokers' files could not be kept: {error}")


def note_replicas(stage: BrokerRun) -> None:
    """Note what the replicas hold at rest, and up to where the topic is to be read.

    Raises:
        RunInterruption: they do not come to rest, or nobody leads.
    """
    stage.rest.wait()
    final = stage.probe.numbers(stage.rest.alive())
    leader = stage.rest.view().leader
    if leader is None:
        raise HarnessError("the partition has no leader at the end: the topic cannot be read")
    update_run(stage.run, end_offset=next(n.high_watermark for b, n in final.items() if b == leader))
    keep_replica_logs(stage.run, stage.probe, final)
