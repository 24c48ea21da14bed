"""What would a run look like whose brokers did exactly what the model says? A run directory without brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.catalogue.answers import predicted_answers
from conformance.record.directory import RunDirectory, as_line
from conformance.record.ledger import Attempt, LedgerWriter, OutcomeEntry
from conformance.record.observations import (
    OBSERVATIONS_FILE,
    BrokerAnswer,
    Checkpoint,
    Numbers,
    OutcomeSeen,
    ReplicaSeen,
)
from conformance.record.prediction import frozen_form
from conformance.record.reconciliation import Counts, RecordClass, Totals, write_reconciliation
from conformance.record.replica_logs import LogEntry, write_replica_logs
from conformance.record.run import Run, write_run
from conformance.record.schedule import write_schedule
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from conformance.stages.foretelling import freeze_prediction
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode, Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.scenario import Scenario
    from conformance.record.observations import Observation
    from oracle.prediction import Moment, Prediction

BASE = 7_000
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
    about = Run(
        run=run.path.name,
        scenario=scenario.name,
        schedule_id=scenario.schedule.id,
        requirement=scenario.schedule.requirement,
        explanation=IDEAL,
        sources=tuple(scenario.schedule.sources),
        kafka=kafka,
        metadata=metadata,
        backend="process",
        topic="t",
        seconds=1.5,
        record_id_base=BASE,
        end_offset=end_offset,
        finished="2026-01-01T00:00:00+00:00",
        brokers=tuple(scenario.schedule.replicas),
    )
    write_run(run, about)
    write_schedule(run, scenario.schedule)
    document = prediction.as_json()
    freeze_prediction(run, document, BASE, predicted_answers(scenario.questions, rules, frozen_form(document)))
    _write_observations(run, taken)
    _write_records(run, taken)
    _write_reconciliation(run, taken, end_offset)
    return run


def _last_leader(prediction: Prediction) -> Any:  # noqa: ANN401 - a broker id that is there
    return prediction.moments[-1].leader


def _write_observations(run: RunDirectory, prediction: Prediction) -> None:
    seen: list[Observation] = [_observed(moment) for moment in prediction.moments]
    seen += [
        OutcomeSeen(
            label=r.label,
            outcome=r.outcome.value,
            error=r.error,
            offset=r.offset if r.outcome is Outcome.ACKNOWLEDGED else None,
        )
        for r in prediction.records
    ]
    told = (answer.as_json() for answer in prediction.answers)
    seen += [BrokerAnswer(broker=0, step=one["step"], answer=one["answer"]) for one in told]
    (run.path / OBSERVATIONS_FILE).write_text("".join(map(as_line, seen)), encoding="utf-8")


def _observed(moment: Moment) -> Numbers:
    numbers = {
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
    return Numbers(**numbers) if moment.name is None else Checkpoint(name=moment.name, settled=True, **numbers)


def epoch_of(leadership: int) -> int:
    """Return the brokers' epoch of one of the model's leaderships."""
    return FIRST_EPOCH + 2 * leadership


def _write_records(run: RunDirectory, prediction: Prediction) -> None:
    ids = {r.label: BASE + r.id for r in prediction.records}
    ledger = LedgerWriter(run.path / "ledger")
    for r in prediction.records:
        attempt = Attempt(ids[r.label], r.label, "t", 0, r.acks, 0, 100, 1)
        ledger.record_attempts([attempt])
        acknowledged = r.outcome is Outcome.ACKNOWLEDGED
        ledger.record_outcomes([OutcomeEntry(ids[r.label], r.outcome, r.error, r.offset if acknowledged else None, 2)])
    log = prediction.logs[_last_leader(prediction)]
    topic = [{"partition": 0, "offset": e.offset, "record_id": ids[e.label], "value_matches": True} for e in log]
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
    pq.write_table(pa.Table.from_pylist(topic, schema=TOPIC), run.path / "topic" / "part-00000.parquet")
    write_replica_logs(run, replicas)


def _write_reconciliation(run: RunDirectory, prediction: Prediction, end_offset: int) -> None:
    fates = [record.fate.value for record in prediction.records]
    classes = {"kept": fates.count("present"), "lost": fates.count("lost"), "absent": fates.count("absent")}
    classes["diverged"] = len(prediction.diverged)
    totals = Totals(len(fates), len(fates), classes["kept"], acknowledged=0, refused=0)
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
