"""What would a run look like whose brokers did exactly what the model says? A run directory without brokers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.catalogue.questions import predicted_answers
from conformance.judgement.evidence_of_run import FETCH_WAIT, SESSIONS
from conformance.record.digests import write_digests
from conformance.record.directory import RunDirectory, as_line, slug
from conformance.record.ledger import Attempt, LedgerWriter, OutcomeEntry
from conformance.record.observations import (
    OBSERVATIONS_FILE,
    BrokerAnswer,
    MeasuredCheckpoint,
    MeasuredNumbers,
    OutcomeSeen,
    ReplicaSeen,
)
from conformance.record.prediction import frozen_form
from conformance.record.reconciliation import Counts, RecordClass, Totals, write_reconciliation
from conformance.record.replica_logs import LogEntry, write_replica_logs
from conformance.record.run import Digests, Environment, Run, RunSettings, read_run, update_run, write_run
from conformance.record.schedule import write_schedule
from conformance.record.topic import read_topic
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from conformance.schedules.topic_settings import user_settings
from conformance.stages.predicting import freeze_prediction
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.produce import AwaitOutcome
from oracle.steps.questions import Ask
from oracle.vocabulary import MetadataMode, ProduceOutcome
from tests.conformance.ideal_timeline import within, write_timeline

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.scenario import Scenario
    from conformance.record.observations import Observation
    from oracle.prediction import Moment, Prediction
    from oracle.schedule import Schedule
    from oracle.vocabulary import Label

SEED = 7
BASE = SEED << 16
STAMP = "20260101T000000"
IDEAL = "what brokers do that do as the model says"
"""By this explanation a test knows an ideal run, which has no wire trace."""
TOPIC = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("record_id", pa.int64()),
        ("value_matches", pa.bool_()),
    ]
)
FIRST_EPOCH = 4
"""The brokers' epoch of the model's leadership 0; each later leadership takes the next but one."""


def write_ideal_run(
    runs: Path,
    kafka: str = "0.10.2.2",
    metadata: str = "zookeeper",
    scenario: Scenario = RESTARTED_FOLLOWER,
    outcome: int = 0,
) -> RunDirectory:
    """Write the run of a scenario whose brokers conform; where a race is open they take one of the outcomes."""
    run = RunDirectory.create(runs, f"{kafka}-{scenario.name.lower().replace('/', '-')}")
    rules = rules_for(kafka, MetadataMode(metadata))
    prediction = predict(scenario.schedule, rules)
    taken = prediction.alternatives[outcome].prediction if prediction.alternatives else prediction
    end_offset = taken.moments[-1].replicas[_last_leader(taken)].high_watermark
    write_run(run, _about(kafka, metadata, scenario, end_offset))
    write_schedule(run, scenario.schedule)
    document = prediction.as_json()
    freeze_prediction(run, document, BASE, predicted_answers(scenario.questions, rules, frozen_form(document)))
    about = read_run(run)
    assert about.prediction is not None
    assert about.started is not None
    at_its_beginning = replace(about.prediction, frozen_at=about.started, frozen_ns=0)
    update_run(run, prediction=at_its_beginning)  # the times of an ideal run are counted from there
    write_timeline(run, scenario.schedule, MetadataMode(metadata), topic_of(scenario))
    _write_observations(run, taken, scenario.schedule)
    _write_records(run, taken, scenario.schedule, topic_of(scenario))
    _write_reconciliation(run, taken, end_offset)
    write_digests(run)
    return run


def _about(kafka: str, metadata: str, scenario: Scenario, end_offset: int) -> Run:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Run(
        run=f"{STAMP}-{kafka}-{metadata}-{slug(scenario.name)}",
        scenario=scenario.name,
        schedule_id=scenario.schedule.id,
        requirement=scenario.schedule.requirement,
        explanation=IDEAL,
        sources=tuple(scenario.schedule.sources),
        kafka=kafka,
        metadata=metadata,
        backend="process",
        topic=topic_of(scenario),
        seconds=1.5,
        seed=SEED,
        basis="predicted",
        digests=Digests(jars="0" * 64),
        environment=Environment("17", "3.11", "Linux", 2, "0"),
        controller=100,
        cluster_runs=(),
        refused_connections=0,
        undecodable_frames=0,
        record_id_base=BASE,
        end_offset=end_offset,
        started=now,
        finished=now,
        brokers=tuple(scenario.schedule.brokers),
        settings=RunSettings(user_settings(scenario.schedule), _imposed(scenario.schedule)),
    )


def _imposed(schedule: Schedule) -> dict[str, str]:
    sessions = {} if schedule.fetch_sessions else {SESSIONS: "0"}
    return {FETCH_WAIT: str(schedule.fetch_wait_max_ms), **sessions}


def topic_of(scenario: Scenario) -> str:
    """Return the topic of an ideal run."""
    return f"{slug(scenario.name)}-{STAMP.lower()}"


def _last_leader(prediction: Prediction) -> Any:  # noqa: ANN401 - a broker id that is there
    return prediction.moments[-1].leader


def _write_observations(run: RunDirectory, prediction: Prediction, schedule: Schedule) -> None:
    seen: list[Observation] = [_observed(moment) for moment in prediction.moments]
    awaited = _awaited(schedule)
    seen += [
        OutcomeSeen(
            t_ns=within(awaited.get(r.label, len(prediction.moments))),
            step=awaited.get(r.label),
            label=r.label,
            outcome=r.outcome.value,
            error=r.error,
            offset=_told_offset(prediction, r.label) if r.outcome is ProduceOutcome.ACKNOWLEDGED else None,
        )
        for r in prediction.records
    ]
    told = (answer.as_json() for answer in prediction.answers)
    seen += [
        BrokerAnswer(
            broker=_asked(schedule, prediction, at := one["step"]), step=at, answer=one["answer"], t_ns=within(at)
        )
        for one in told
    ]
    seen.sort(key=lambda one: one.t_ns)
    (run.path / OBSERVATIONS_FILE).write_text("".join(map(as_line, seen)), encoding="utf-8")


def _awaited(schedule: Schedule) -> dict[Label, int]:
    """Return the step that waits for a record's outcome; what no step waits for is known at the end."""
    waits = [(number, step) for number, step in enumerate(schedule.steps) if isinstance(step, AwaitOutcome)]
    return {label: number for number, step in reversed(waits) for label in step.records}


def _asked(schedule: Schedule, prediction: Prediction, number: int) -> int:
    step = schedule.steps[number]
    assert isinstance(step, Ask)
    leader = prediction.moments[number].leader
    assert leader is not None
    return leader if step.broker is None else step.broker


def _told_offset(prediction: Prediction, label: Label) -> int:
    """Return the offset that a record was acknowledged at; of one that is nowhere any more, some offset."""
    logs = [entry for log in prediction.logs.values() for entry in log]
    return next((entry.offset for entry in logs if entry.label == label), 0)


def _observed(moment: Moment) -> MeasuredNumbers:
    numbers = {
        "t_ns": within(moment.step),
        "step": moment.step,
        "replicas": {
            broker: ReplicaSeen(one.log_end_offset, one.high_watermark, one.alive, one.log_start_offset)
            for broker, one in moment.replicas.items()
        },
        "leader": moment.leader,
        "leader_epoch": epoch_of(moment.leadership),
        "isr": moment.isr,
        "elr": moment.elr,
        "remote_log_end_offsets": moment.remote_log_end_offsets,
    }
    return (
        MeasuredNumbers(**numbers)
        if moment.name is None
        else MeasuredCheckpoint(name=moment.name, settled=True, **numbers)
    )


def epoch_of(leadership: int) -> int:
    """Return the brokers' epoch of one of the model's leaderships."""
    return FIRST_EPOCH + 2 * leadership


def _write_records(run: RunDirectory, prediction: Prediction, schedule: Schedule, topic: str) -> None:
    sent = {label: (step, number) for number, step in enumerate(schedule.steps) for label in step.labels()}
    ids = {r.label: BASE + r.id for r in prediction.records}
    ledger = LedgerWriter(run.path / "ledger")
    for r in prediction.records:
        step, number = sent[r.label]
        attempt = Attempt(ids[r.label], r.label, topic, 0, int(getattr(step, "acks", 0)), number, 100, within(number))
        ledger.record_attempts([attempt])
        acknowledged = r.outcome is ProduceOutcome.ACKNOWLEDGED
        offset = _told_offset(prediction, r.label) if acknowledged else None
        ledger.record_outcomes([OutcomeEntry(ids[r.label], r.outcome, r.error, offset, within(number) + 1)])
    leader = prediction.moments[-1].replicas[_last_leader(prediction)]
    log = [
        entry
        for entry in prediction.logs[_last_leader(prediction)]
        if leader.log_start_offset <= entry.offset < leader.high_watermark
    ]
    read = [{"partition": 0, "offset": e.offset, "record_id": ids[e.label], "value_matches": True} for e in log]
    replicas = [
        LogEntry(
            broker=broker,
            offset=entry.offset,
            record_id=ids[entry.label],
            leader_epoch=epoch_of(entry.leadership),
            value_matches=True,
            high_watermark=prediction.moments[-1].replicas[broker].high_watermark,
        )
        for broker, entries in prediction.logs.items()
        for entry in entries
    ]
    (run.path / "topic").mkdir()
    pq.write_table(pa.Table.from_pylist(read, schema=TOPIC), run.path / "topic" / "part-00000.parquet")
    write_replica_logs(run, replicas)


def _write_reconciliation(run: RunDirectory, prediction: Prediction, end_offset: int) -> None:
    fates = [record.fate.value for record in prediction.records]
    classes = {"kept": fates.count("present"), "lost": fates.count("lost"), "absent": fates.count("absent")}
    classes["diverged"] = len(prediction.diverged)
    told = [record.outcome.value for record in prediction.records]
    totals = Totals(
        len(fates), len(fates), len(read_topic(run) or ()), **{o.value: told.count(o) for o in ProduceOutcome}
    )
    counts = Counts(totals, classes, classes, deviations=0, identity_holds=True, end_offset_read=end_offset)
    lost = [{"label": r.label, "record_id": BASE + r.id} for r in prediction.records if r.fate.value == "lost"]
    ends = {"present": "kept"}
    records = [
        RecordClass(
            record_id=BASE + r.id,
            predicted=ends.get(r.fate.value, r.fate.value),
            measured=ends.get(r.fate.value, r.fate.value),
            offset=r.offset,
            copies=0 if r.offset is None else 1,
            outcome=r.outcome.value,
            error=r.error,
        )
        for r in prediction.records
    ]
    write_reconciliation(run, counts, {"lost": lost, "deviations": [], "divergences": []}, records)
