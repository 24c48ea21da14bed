"""What would a run look like whose brokers did exactly what the model says? A run directory without brokers."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.catalogue.questions import predicted_answers
from conformance.judgement.evidence_of_faults import named_holds
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
from conformance.record.run import Digests, Environment, Run, RunSettings, write_run
from conformance.record.schedule import write_schedule
from conformance.record.timeline import TIMELINE_FILE, Event, ProcessOfFault, TimelineMark
from conformance.record.topic import read_topic
from conformance.running.holding import place_of, point_of
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from conformance.schedules.topic_settings import user_settings
from conformance.stages.predicting import freeze_prediction
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.frames import Close, DelayFrame, Drop, Hold, ReleaseHold, name_of_delay
from oracle.vocabulary import MetadataMode, ProduceOutcome

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
SECOND_NS = 1_000_000_000
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
    _write_timeline(run, scenario.schedule, MetadataMode(metadata), topic_of(scenario))
    _write_observations(run, taken)
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


def _within(step: int) -> int:
    """Return a time in the middle of a step, which takes a second; of the step after the last, one after the run."""
    return (step + 1) * SECOND_NS + SECOND_NS // 2


def _write_timeline(run: RunDirectory, schedule: Schedule, metadata: MetadataMode, topic: str) -> None:
    """Write what the steps did; every hold catches its frame at once, and every fault is healed at the end."""
    marks: list[TimelineMark] = []
    faults: list[tuple[int, str]] = []
    held: list[str] = []
    injected = itertools.count(1)
    for number, step in enumerate(schedule.steps):

        def mark(event: Event, subject: str, at: int = _within(number), step: int = number, **fields: Any) -> None:  # noqa: ANN401
            marks.append(TimelineMark(event, subject, "", at, step, **fields))

        mark(Event.STEP_STARTED, step.word, (number + 1) * SECOND_NS)
        for _ in range(step.faults(metadata)):
            faults.append((next(injected), step.fault))
            mark(Event.FAULT_ARMED, step.fault, number=faults[-1][0], at_ns=_within(number))
            ended = tuple(ProcessOfFault(int(broker or 0), 137, 9, is_paused=False) for broker in step.left_for())
            mark(Event.FAULT_FIRED, step.fault, number=faults[-1][0], at_ns=_within(number), processes=ended)
        if isinstance(step, ReleaseHold | Drop | Close):
            held.remove(step.name)
            mark(Event(step.leaves), step.name, **fields_of(_hold(schedule, step.name)))
        elif step.leaves:
            for subject in step.left_for():
                mark(Event(step.leaves), subject or topic)
        if isinstance(step, Hold | DelayFrame):
            next(injected)
            held.append(step.name if isinstance(step, Hold) else name_of_delay(number))
            for event in (Event.HOLD_ARMED, Event.HOLD_CAUGHT):
                mark(event, held[-1], **fields_of(step))
        mark(Event.STEP_FINISHED, step.word, (number + 2) * SECOND_NS - 1)
    end = _within(len(schedule.steps))
    named = {name: step for name, (_, step) in named_holds(schedule).items()}
    marks += [TimelineMark(Event.HOLD_DISCHARGED, name, "", end, **fields_of(named[name])) for name in held]
    marks += [TimelineMark(Event.FAULT_HEALED, word, "", end, number=number, at_ns=end) for number, word in faults]
    (run.path / TIMELINE_FILE).write_text("".join(map(as_line, marks)), encoding="utf-8")


def fields_of(hold: Hold | DelayFrame | None) -> dict[str, int | str | None]:
    """Return what the timeline says about a hold: its place, and what is done to the frame."""
    return (
        {} if hold is None else {**asdict(place_of(point_of(hold, ""))), "point": hold.point.value, "action": hold.word}
    )


def _hold(schedule: Schedule, name: str) -> Hold | None:
    return next((step for step in schedule.steps if isinstance(step, Hold) and step.name == name), None)


def _write_observations(run: RunDirectory, prediction: Prediction) -> None:
    seen: list[Observation] = [_observed(moment) for moment in prediction.moments]
    seen += [
        OutcomeSeen(
            t_ns=_within(len(prediction.moments)),
            label=r.label,
            outcome=r.outcome.value,
            error=r.error,
            offset=_told_offset(prediction, r.label) if r.outcome is ProduceOutcome.ACKNOWLEDGED else None,
        )
        for r in prediction.records
    ]
    told = (answer.as_json() for answer in prediction.answers)
    seen += [BrokerAnswer(broker=0, step=one["step"], answer=one["answer"], t_ns=_within(one["step"])) for one in told]
    seen.sort(key=lambda one: one.t_ns)
    (run.path / OBSERVATIONS_FILE).write_text("".join(map(as_line, seen)), encoding="utf-8")


def _told_offset(prediction: Prediction, label: Label) -> int:
    """Return the offset that a record was acknowledged at; of one that is nowhere any more, some offset."""
    logs = [entry for log in prediction.logs.values() for entry in log]
    return next((entry.offset for entry in logs if entry.label == label), 0)


def _observed(moment: Moment) -> MeasuredNumbers:
    numbers = {
        "t_ns": _within(moment.step),
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
        attempt = Attempt(ids[r.label], r.label, topic, 0, int(getattr(step, "acks", 0)), number, 100, _within(number))
        ledger.record_attempts([attempt])
        acknowledged = r.outcome is ProduceOutcome.ACKNOWLEDGED
        offset = _told_offset(prediction, r.label) if acknowledged else None
        ledger.record_outcomes([OutcomeEntry(ids[r.label], r.outcome, r.error, offset, _within(number) + 1)])
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
