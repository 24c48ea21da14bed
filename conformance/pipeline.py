"""How does a scenario become a verdict? predict → run → read → reconcile → judge.

The one path that the command line and the pytest plugin call. Every phase writes to the run
directory; the prediction is frozen before the first broker is touched. Each phase can be called alone. What brokers
are needed for is done run by run; several runs are reconciled together.
"""

from __future__ import annotations

import time
import traceback
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination, without_sessions
from conformance.catalogue.questions import measure
from conformance.catalogue.scenario import Scenario
from conformance.clients.topics import TopicError, create_topic
from conformance.interruption import HarnessError, NodeLostError, RunInterruption
from conformance.judgement.open_outcomes import write_measured_outcome
from conformance.probes.connection import ProbeError
from conformance.probes.replica_probe import ReplicaProbe
from conformance.reconcile.errors import ReconcileError
from conformance.record.digests import write_digests
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.prediction import read_prediction
from conformance.record.run import Digests, HarnessFailure, RunSettings, read_run, record_id_base_of, update_run
from conformance.record.topic import topic_files
from conformance.record.wire import WIRE_FILE
from conformance.running.recorder import Recorder, fault_marks
from conformance.running.rest import Rest
from conformance.running.standstill import TimedLook, patience, unhurried
from conformance.running.topic_requests import remove_topic, require_all_running
from conformance.schedules.topic_settings import topic_configs, user_settings
from conformance.stages.beginning import begin_run
from conformance.stages.examining import examine
from conformance.stages.judging import judge_run, judge_unreadable, judged_if_interrupted
from conformance.stages.on_brokers import (
    HARNESS_FAILURES,
    BrokerRun,
    blaming_lost_nodes,
    end_trace,
    note_replicas,
    outlived_by_sessions,
    take_steps,
)
from conformance.stages.predicting import freeze_answers, freeze_prediction, predict_entry
from conformance.stalls import noting_stalls
from fault_injection.faults.account import FaultAccount, NotHealedError
from fault_injection.waiting import DeadlineExceededError
from oracle.vocabulary import HighWatermarkCheckpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.cluster_pool import ClusterPool
    from conformance.expectations import AcceptedFinding
    from conformance.record.verdict import Verdict
    from conformance.running.standstill import Look
    from conformance.spark_thread import SparkThread
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.wire.proxy import GateProxy
    from oracle.schedule import Schedule

NEEDS_JARS = "the tester starts a broker of its own for this, and the brokers' image brings their jars"
"""Why an entry is not run on an image."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One run that brokers are no longer needed for: its topic was read.

    Attributes:
        seconds: how long that took, without the time that somebody looked at it.
    """

    entry: Entry
    run: RunDirectory
    seconds: float


@dataclass(frozen=True, slots=True)
class Finished:
    """One run that has its verdict."""

    scenario: str
    run: RunDirectory
    verdict: Verdict
    seconds: float


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Runs catalogue entries on one pool of clusters and reconciles their records in one Spark session.

    Attributes:
        accepted: findings that the user accepts.
        look: shows a person a run that stands at a checkpoint; it goes on when this returns.
    """

    cluster_pool: ClusterPool
    spark: SparkThread
    runs: Path
    seed: int
    progress: Callable[[str], None]
    accepted: tuple[AcceptedFinding, ...] = ()
    look: Look | None = None

    def run(self, entry: Entry) -> Finished:
        """Predict, run, read, reconcile and judge one catalogue entry."""
        return self.finish([self.take(entry)])[0]

    def take(self, entry: Entry) -> Taken:
        """Predict one catalogue entry, run it, and read its topic; how long somebody looked at it does not count."""
        started = time.monotonic()
        look = None if self.look is None else TimedLook(self.look)
        entry = entry if self.cluster_pool.fetch_sessions else without_sessions(entry)
        if self.look is not None and isinstance(entry, Scenario):
            entry = replace(entry, schedule=unhurried(entry.schedule))
        run = self.begin(entry)
        with judged_if_interrupted([run]):
            finished = None
            if self.predict(run, entry):
                replace(self, look=look).execute(run, entry)
                finished = datetime.now(UTC).isoformat(timespec="seconds")
            looked_for = 0.0 if look is None else look.seconds
            seconds = round(time.monotonic() - started - looked_for, 3)
            write_digests(run, seconds=seconds, finished=finished)
            return Taken(entry, run, seconds)

    def finish(self, taken: Sequence[Taken]) -> list[Finished]:
        """Reconcile runs, together, and judge each."""
        with judged_if_interrupted([one.run for one in taken]):
            if runs := [one.run for one in taken if topic_files(one.run)]:
                self.progress("reconciling every record")
                self.reconcile(runs)
            return [Finished(one.entry.name, one.run, self.judge(one.run), one.seconds) for one in taken]

    @property
    def record_id_base(self) -> int:
        """The id of a run's first record."""
        return record_id_base_of(self.seed)

    def begin(self, entry: Entry) -> RunDirectory:
        """Create the run directory and describe in it what is to be run, and on what."""
        return begin_run(self.runs, self.cluster_pool, entry, self.seed, self.record_id_base)

    def predict(self, run: RunDirectory, entry: Entry) -> bool:
        """Predict and freeze; False, with the reason in run.json, if the entry does not apply to the release."""
        predicted = predict_entry(entry, self.cluster_pool.line.rules)
        lacks_jars = entry.where.needs_jars and not self.cluster_pool.jars.files
        reason = predicted.not_run or (NEEDS_JARS if lacks_jars else None)
        if reason is not None:
            update_run(run, not_run=reason)
        elif predicted.prediction is None:
            freeze_answers(run, predicted.answers, predicted.course)
        else:
            freeze_prediction(run, predicted.prediction.as_json(), self.record_id_base, predicted.answers)
        return reason is None

    def execute(self, run: RunDirectory, entry: Entry) -> None:
        """Do on real brokers what the entry says, and read what came of it; what ends this early is in run.json.

        The run's end is written together with the digests that bind its files: a run that has one can be judged.
        """
        try:
            with noting_stalls(run):
                if isinstance(entry, Examination):
                    self._examine(run, entry)
                else:
                    self._on_brokers(run, entry.schedule)
                    measure(run, entry.questions)
        except NodeLostError as lost:
            self._fail(run, lost.verdict, str(lost), lost_node=True)
        except RunInterruption as interruption:
            self._fail(run, interruption.verdict, str(interruption))
        except HARNESS_FAILURES as error:
            self._fail(run, HarnessError.verdict, f"{type(error).__name__}: {error}")
        except Exception as error:  # noqa: BLE001 - a defect of ours must not pass for a finding, nor stop the others
            (run.path / "traceback.txt").write_text(traceback.format_exc(), encoding="utf-8")
            self._fail(run, HarnessError.verdict, f"defect in the tester, see traceback.txt: {error!r}")

    def _examine(self, run: RunDirectory, entry: Examination) -> None:
        pool = self.cluster_pool
        try:
            with blaming_lost_nodes(run, lambda: pool.running):
                examine(run, entry.subject, pool, self.spark, seed=self.seed, progress=self.progress)
        finally:
            self._note_cluster(run, pool.cluster_runs)

    def _note_cluster(self, run: RunDirectory, before: list[str]) -> None:
        """Note which runs the cluster had seen before this one, and that it has seen this one."""
        update_run(run, cluster_runs=tuple(before))
        before.append(run.path.name)

    def _note_settings(self, run: RunDirectory, schedule: Schedule, cluster: Cluster) -> None:
        """Note the settings, the user's and the imposed ones apart, and what the brokers are made of."""
        pool = self.cluster_pool
        imposed = {**cluster.settings(schedule.replicas[0]).imposed, **{n: str(v) for n, v in pool.features.items()}}
        digests = Digests(pool.jars.digest, pool.backend.image_digest)
        update_run(run, settings=RunSettings(user_settings(schedule), imposed), digests=digests)

    def judge(self, run: RunDirectory) -> Verdict:
        """Judge a run that has ended; one that cannot be judged is a harness error."""
        try:
            return judge_run(run, self.accepted)
        except RunDirectoryError as error:
            write_digests(run, harness_failure=HarnessFailure(HarnessError.verdict, str(error)))
            return judge_unreadable(run, str(error))

    def _fail(self, run: RunDirectory, kind: str, message: str, *, lost_node: bool = False) -> None:
        update_run(run, harness_failure=HarnessFailure(kind, message, lost_node))
        self._discard_cluster()

    def _discard_cluster(self) -> None:
        """End the cluster; one that does not end in good order must not keep the other scenarios from running."""
        try:
            self.cluster_pool.discard_cluster()
        except Exception as error:  # noqa: BLE001 - whatever it was, closing the backend ends every node
            self.progress(f"the cluster did not end in good order: {error!r}")

    def _on_brokers(self, run: RunDirectory, schedule: Schedule) -> None:
        pool = self.cluster_pool
        topic = read_run(run).topic or ""
        look = self.look
        cluster = pool.cluster_for(schedule) if look is None else pool.cluster_for(schedule, **patience(schedule))
        self._note_cluster(run, pool.cluster_runs)
        self._note_settings(run, schedule, cluster)
        with self._keeping_the_measurement(run) as finish:
            with ExitStack() as stack:
                pool.gate.trace_to(run.path / WIRE_FILE)
                stack.callback(end_trace, run, pool.gate, pool.gate.undecodable, pool.gate.strangers)
                addresses = [cluster.client_address(broker) for broker in cluster.live_brokers]
                create_topic(addresses, topic, list(schedule.replicas), topic_configs(schedule))
                probe = stack.enter_context(ReplicaProbe(cluster, topic))
                recorder = stack.enter_context(Recorder(run.path))
                stack.callback(setattr, pool, "on_gate_event", None)
                faults = stack.enter_context(FaultAccount(cluster, fault_marks(recorder)))
                rest = _rest(schedule, cluster, pool.gate, probe, topic)
                stage = BrokerRun(
                    run, schedule, topic, cluster, probe, rest, recorder, faults, look and partial(look, run)
                )
                with blaming_lost_nodes(run, lambda: cluster):
                    take_steps(stage, pool, self.record_id_base, self.progress)
                    self.note_replicas(stage)
                    self.read_topic(stage)
                outlived = "" if pool.is_kept else outlived_by_sessions(stage)
                if outlived:
                    faults.forgo_recovery()
                finish.append(topic)
            if outlived:
                self._replace_cluster(outlived)
            else:
                self._clean_up(run, cluster, topic)

    @contextmanager
    def _keeping_the_measurement(self, run: RunDirectory) -> Iterator[list[str]]:
        """Keep a measurement that is complete when the cluster cannot be healed afterwards; return where to say so."""
        finished: list[str] = []
        try:
            yield finished
        except NotHealedError as error:
            if not finished:
                raise
            update_run(run, not_healed=str(error))
            self._replace_cluster(str(error))

    def note_replicas(self, stage: BrokerRun) -> None:
        """Note what the replicas hold at rest, and up to where the topic is to be read."""
        note_replicas(stage)

    def read_topic(self, stage: BrokerRun) -> None:
        """Read the topic from the brokers."""
        self.progress("reading the topic")
        write_measured_outcome(stage.run)
        end_offset = read_run(stage.run).end_offset
        assert end_offset is not None, "the replicas were noted"
        replicas = (broker for broker in stage.schedule.brokers if stage.cluster.is_alive(broker))
        bootstrap = ",".join(stage.cluster.client_address(broker) for broker in replicas)
        self.spark.read(stage.run, bootstrap=bootstrap, topic=stage.topic, end_offset=end_offset)

    def reconcile(self, runs: Sequence[RunDirectory]) -> None:
        """Reconcile every record of runs with their frozen predictions; what cannot be reconciled is in run.json."""
        try:
            found: Sequence[object] = self.spark.reconcile_all(runs)
        except ReconcileError as error:
            found = [error] * len(runs)
        for run, told in zip(runs, found, strict=True):
            if isinstance(told, ReconcileError):
                write_digests(run, harness_failure=HarnessFailure(HarnessError.verdict, f"ReconcileError: {told}"))

    def _clean_up(self, run: RunDirectory, cluster: Cluster, topic: str) -> None:
        try:
            require_all_running(cluster)
            remove_topic(cluster, topic)
        except (TopicError, DeadlineExceededError, ProbeError) as error:
            self._replace_cluster(str(error))
            return
        lost = read_prediction(run).unregistrable
        if lost and not (self.cluster_pool.shared_brokers or self.cluster_pool.is_kept):
            named = ", ".join(f"broker {broker}" for broker in lost)
            self._replace_cluster(f"Kafka's controller would not register {named} again after a crash")

    def _replace_cluster(self, why: str) -> None:
        self.progress(f"replacing the cluster: {why}")
        self._discard_cluster()


def _rest(schedule: Schedule, cluster: Cluster, gate: GateProxy, probe: ReplicaProbe, topic: str) -> Rest:
    return Rest(
        cluster,
        gate,
        probe,
        topic,
        schedule.replicas,
        checks_checkpoint_files=schedule.checkpointing is HighWatermarkCheckpoint.PROMPT,
        min_insync_replicas=schedule.settings.min_insync_replicas,
    )
