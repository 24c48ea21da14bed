"""What would a run look like whose brokers did exactly what the model says? A run directory without brokers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.catalogue.answers import predicted_answers
from conformance.judgement.prediction_files import write_prediction
from conformance.ledger.entry import Attempt, OutcomeEntry
from conformance.ledger.writer import LedgerWriter
from conformance.run_directory import RunDirectory
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from conformance.schedules.schedule_format import encode
from conformance.stages.evidence import replica_logs_schema
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode, Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.scenario import Scenario
    from oracle.prediction import Moment, Prediction

BASE = 7_000
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
    run.update_run(
        run=run.path.name,
        scenario=scenario.name,
        schedule_id=scenario.schedule.id,
        requirement=scenario.schedule.requirement,
        sources=list(scenario.schedule.sources),
        kafka=kafka,
        metadata=metadata,
        backend="process",
        topic="t",
        seconds=1.5,
        record_id_base=BASE,
        end_offset=end_offset,
        harness_failure=None,
        finished="2026-01-01T00:00:00+00:00",
        brokers=list(scenario.schedule.replicas),
        is_ideal=True,
    )
    run.write_json("schedule.json", encode(scenario.schedule))
    write_prediction(run, prediction, BASE, predicted_answers(scenario.questions, rules, prediction.as_json()))
    _write_observations(run, taken)
    _write_records(run, taken)
    _write_reconciliation(run, taken, end_offset)
    return run


def _last_leader(prediction: Prediction) -> Any:  # noqa: ANN401 - a broker id that is there
    return prediction.moments[-1].leader


def _write_observations(run: RunDirectory, prediction: Prediction) -> None:
    lines = [_observed(moment) for moment in prediction.moments]
    lines += [
        {
            "kind": "outcome",
            "label": r.label,
            "outcome": r.outcome.value,
            "error": r.error,
            "offset": r.offset if r.outcome is Outcome.ACKNOWLEDGED else None,
        }
        for r in prediction.records
    ]
    told = (answer.as_json() for answer in prediction.answers)
    lines += [{"kind": "answer", "step": one["step"], "answer": one["answer"]} for one in told]
    write_lines(run, "observations.ndjson", lines)


def write_lines(run: RunDirectory, name: str, lines: list[dict[str, Any]]) -> None:
    """Write one JSON value per line."""
    (run.path / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _observed(moment: Moment) -> dict[str, Any]:
    kind = "numbers" if moment.name is None else "checkpoint"
    return {"kind": kind, **moment.as_json(), "leader_epoch": epoch_of(moment.leadership), "settled": True}


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
        {
            "broker": broker,
            "offset": entry.offset,
            "record_id": ids[entry.label],
            "leader_epoch": epoch_of(entry.leadership),
            "value_matches": True,
            "high_watermark": prediction.moments[-1].replicas[broker].high_watermark,
        }
        for broker, entries in prediction.logs.items()
        for entry in entries
    ]
    (run.path / "topic").mkdir()
    pq.write_table(pa.Table.from_pylist(topic, schema=TOPIC), run.path / "topic" / "part-00000.parquet")
    pq.write_table(
        pa.Table.from_pylist(replicas, schema=replica_logs_schema()), run.path / "replica_logs" / "logs.parquet"
    )


def _write_reconciliation(run: RunDirectory, prediction: Prediction, end_offset: int) -> None:
    fates = [record.fate.value for record in prediction.records]
    classes = {"kept": fates.count("present"), "lost": fates.count("lost"), "absent": fates.count("absent")}
    classes["diverged"] = len(prediction.diverged)
    counts = {
        "totals": {"produced": len(fates), "predicted": len(fates), "read": classes["kept"]},
        "classes": classes,
        "predicted": classes,
        "deviations": 0,
        "identity_holds": True,
        "end_offset_read": end_offset,
    }
    lost = [{"label": r.label, "record_id": BASE + r.id} for r in prediction.records if r.fate.value == "lost"]
    run.write_json("reconciliation/counts.json", counts)
    run.write_json("reconciliation/samples.json", {"lost": lost, "deviations": [], "divergences": []})
