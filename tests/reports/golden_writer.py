"""How does a golden run become a run directory? A story in a few tuples is written as a run directory has it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from conformance.judgement.held_records import LogsOfRun, held_records, logs_of_run, stale_leaders
from conformance.record.directory import RunDirectory
from conformance.record.replica_logs import REPLICA_LOGS_FILE, replica_logs_schema
from conformance.record.run import read_run
from conformance.stages.whole_evidence import evidence_of
from oracle.steps.step import STEP_CLASSES
from tests.reports.golden_traces import allowed, violated

if TYPE_CHECKING:
    from pathlib import Path

SECOND = 1_000_000_000
START = 5_000 * SECOND
BASE = 7_000_000

CAUGHT_FRAME = {"connection": 4, "api": "Fetch", "correlation_id": 9, "direction": "request", "offset": 1}

Replica = tuple[int, int, bool]
Event = tuple[float, str, str] | tuple[float, str, str, str]
"""Share of the step, event, subject and, where it matters, the text."""


@dataclass(frozen=True, slots=True)
class GoldenStep:
    """A step, the seconds it took, the numbers after it, and events."""

    step: dict[str, Any]
    seconds: float
    replicas: dict[int, Replica]
    leader: int | None
    epoch: int
    isr: list[int]
    events: tuple[Event, ...] = ()
    remote: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GoldenRecord:
    """One record: what was predicted, and where it was found (None: nowhere)."""

    label: str
    fate: str
    offset: int | None
    found: int | None
    acked_at: int | None
    outcome: str = "acknowledged"
    error: str | None = None
    acks: int = -1
    promise: str = "kept"
    reason: str | None = None
    decided_by: str = "it is below the high watermark of the last leader"


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """Everything a run directory is written from."""

    run: dict[str, Any]
    verdict: dict[str, Any] | None
    steps: tuple[GoldenStep, ...] = ()
    predicted_steps: tuple[GoldenStep, ...] | None = None
    records: tuple[GoldenRecord, ...] = ()
    logs: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    open_race: dict[str, Any] = field(default_factory=dict)
    measured_outcome: dict[str, Any] | None = None


def write_golden(golden: GoldenRun, folder: Path) -> Path:
    """Write the run directory and return its path."""
    path = folder / str(golden.run["run"])
    path.mkdir(parents=True)
    prediction = _prediction(golden)
    body = json.dumps(prediction, indent=1)
    digest = hashlib.sha256(body.encode()).hexdigest()
    frozen = {"sha256": digest, "frozen_at": "2026-11-21T17:08:02+00:00", "frozen_ns": START}
    _write(path / "run.json", json.dumps({**golden.run, "record_id_base": BASE, "prediction": frozen}))
    if golden.steps:
        _write(path / "schedule.json", json.dumps(_schedule(golden)))
        _write(path / "prediction" / "prediction.json", body)
        if golden.measured_outcome is not None:
            outcome = prediction | {"measured_outcome": golden.measured_outcome}
            _write(path / "outcome" / "prediction.json", json.dumps(outcome))
        _write(path / "observations.ndjson", _ndjson(_observations(golden)))
        _write(path / "timeline.ndjson", _ndjson(_timeline(golden.steps)))
        _write(path / "wire.ndjson", "")
        _write(path / "reconciliation" / "counts.json", json.dumps(golden.counts))
        _write(path / "reconciliation" / "checkpoints.json", json.dumps(_checkpoints(golden)))
        _write(path / "reconciliation" / "samples.json", json.dumps(_samples(golden)))
        _write(path / "reconciliation" / "records.json", json.dumps(_classes(golden)))
        _write(path / "trace_check.json", json.dumps(_trace_check(golden)))
        _write(path / "brokers" / "1" / "server.log", "started\n")
        _tables(golden, path)
    if golden.verdict is not None:
        said = {"differences": _differences(golden), **_told_by_logs(RunDirectory(path))}
        _write(path / "verdict.json", json.dumps({**golden.verdict, **said}))
    return path


def _told_by_logs(run: RunDirectory) -> dict[str, list[dict[str, Any]]]:
    """Return which record each replica held when, and who led without knowing better, as the judge finds it out."""
    if not run.has("schedule.json"):
        return {"held_records": [], "stale_leaders": []}
    logs = logs_of(run)
    return {
        "held_records": [asdict(one) for one in held_records(logs)],
        "stale_leaders": [asdict(one) for one in stale_leaders(logs)],
    }


def logs_of(run: RunDirectory) -> LogsOfRun:
    """Return what the inference of a run's logs rests on."""
    evidence = evidence_of(run, read_run(run))
    return logs_of_run(evidence, evidence.prediction, evidence.observations)


def _trace_check(golden: GoldenRun) -> dict[str, Any]:
    rules_of = f"{golden.run['kafka']} {golden.run['metadata']}"
    deviates = golden.verdict is not None and golden.verdict["conformance"] == "DEVIATES"
    return violated(rules_of) if deviates else allowed(rules_of)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _ndjson(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _schedule(golden: GoldenRun) -> dict[str, Any]:
    user = golden.run["settings"]["user"]
    return {
        "id": golden.run["schedule_id"],
        "requirement": golden.run["requirement"],
        "sources": golden.run["sources"],
        "replicas": list(golden.steps[0].replicas),
        "settings": {
            "min.insync.replicas": int(user["min.insync.replicas"]),
            "unclean.leader.election.enable": user["unclean.leader.election.enable"] == "true",
        },
        "timing": "session",
        "checkpointing": "prompt",
        "steps": [step.step for step in golden.steps],
    }


def _replicas(step: GoldenStep) -> dict[str, Any]:
    return {
        str(broker): {"log_end_offset": end, "high_watermark": watermark, "alive": alive}
        for broker, (end, watermark, alive) in step.replicas.items()
    }


def _moment(step: GoldenStep) -> dict[str, Any]:
    remote = {str(broker): offset for broker, offset in step.remote.items()}
    isr = sorted(step.isr)
    common = {"replicas": _replicas(step), "leader": step.leader, "isr": isr, "elr": []}
    return {**common, "remote_log_end_offsets": remote}


def _predicted(golden: GoldenRun) -> tuple[GoldenStep, ...]:
    return golden.predicted_steps or golden.steps


def _prediction(golden: GoldenRun) -> dict[str, Any]:
    steps = _predicted(golden)
    numbers = {"checkpoints": [], "logs": {}, "diverged": [], "steps": []}
    alternatives = [{**numbers, **one} for one in golden.open_race.get("alternatives", ())]
    return {
        "format": 2,
        "scenario": golden.run["scenario"],
        "kafka": golden.run["kafka"],
        "metadata": golden.run["metadata"],
        "rules": ["truncate-to-high-watermark"],
        "checkpoints": [
            {"step": index, "name": step.step["checkpoint"], "leadership": step.epoch, **_moment(step)}
            for index, step in enumerate(steps)
            if "checkpoint" in step.step
        ],
        "steps": [
            {"step": index, "name": None, "leadership": step.epoch, **_moment(step)} for index, step in enumerate(steps)
        ],
        "records": [predicted_record(index, record) for index, record in enumerate(golden.records)],
        "logs": {
            str(broker): [{"offset": i, "label": label, "leadership": epoch} for i, (label, epoch) in enumerate(log)]
            for broker, log in golden.logs.items()
        },
        "diverged": [],
        **golden.open_race,
        "alternatives": alternatives,
    }


def predicted_record(index: int, record: GoldenRecord) -> dict[str, Any]:
    """Return a record's row of prediction.json."""
    return {
        "id": index,
        "label": record.label,
        "fate": record.fate,
        "was_committed": record.fate in {"present", "lost"},
        "outcome": record.outcome,
        "error": record.error,
        "offset": record.offset,
        "leadership": 0,
        "acks": record.acks,
        "decided_by": record.decided_by,
        "promise": record.promise,
        "promise_reason": record.reason,
    }


def _observations(golden: GoldenRun) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    now = START
    for index, step in enumerate(golden.steps):
        now += int(step.seconds * SECOND)
        common = {"t_ns": now, "step": index, **_moment(step), "leader_epoch": step.epoch, "elr": []}
        if "checkpoint" in step.step:
            rows.append({"kind": "checkpoint", "name": step.step["checkpoint"], "settled": True, **common})
        else:
            rows.append({"kind": "numbers", **common})
    return rows


def _timeline(steps: tuple[GoldenStep, ...]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    now = START
    for index, step in enumerate(steps):
        length = int(step.seconds * SECOND)
        rows.append({"t_ns": now, "step": index, "event": "step_started", "subject": "", "text": ""})
        rows += _faults(step.step, index, now)
        for share, event, subject, *said in step.events:
            text = said[0] if said else f"{event.replace('_', ' ')} {subject}"
            mark = {"t_ns": now + int(share * length), "step": index, "event": event, "subject": subject, "text": text}
            rows.append(mark | offsets_of(text))
            if event == "hold_caught":
                rows[-1] |= {"frame": {**CAUGHT_FRAME, "at_ns": mark["t_ns"]}}
        now += length
        rows.append({"t_ns": now, "step": index, "event": "step_finished", "subject": "", "text": ""})
    return rows


def _faults(step: dict[str, Any], index: int, now: int) -> list[dict[str, Any]]:
    """Return what gate and account write down in a step: each has one hold, or one fault of the step's own number."""
    word, whom = next(iter(step.items()))
    common = {"t_ns": now, "at_ns": now, "step": index, "subject": word, "number": index + 1}
    armed = {**common, "event": "fault_armed", "text": f"{word} armed"}
    if word == "hold":
        return [{"t_ns": now, "step": index, "event": "hold_armed", "subject": whom["name"], "text": "armed"}]
    if STEP_CLASSES[word].fault or word == "delay":
        return [armed, {**common, "event": "fault_fired", "text": f"{word} {whom} done; {word} {whom} seen"}]
    undone = {"resume": "pause", "heal": "cut", "rejoin": "isolate"}.get(word)
    return [{**common, "event": "fault_healed", "subject": undone, "text": f"{word} {whom} seen"}] if undone else []


def offsets_of(text: str) -> dict[str, int]:
    """Return the numbers that a mark carries beside its words: the offsets that were lost, or were caught."""
    lost, caught = re.search(r"offsets (\d+) to (\d+)", text), re.search(r"fetch offset (\d+)", text)
    if lost is not None:
        return {"offset": int(lost[1]), "last_offset": int(lost[2])}
    return {} if caught is None else {"offset": int(caught[1])}


def _checkpoints(golden: GoldenRun) -> list[dict[str, Any]]:
    pairs = zip(_predicted(golden), golden.steps, strict=True)
    return [
        {"name": measured.step["checkpoint"], "rows": _comparisons(predicted, measured)}
        for predicted, measured in pairs
        if "checkpoint" in measured.step
    ]


def _differences(golden: GoldenRun) -> list[dict[str, Any]]:
    return [
        {"step": step, "broker": broker, "number": number, "predicted": wanted, "measured": found}
        for step, (predicted, measured) in enumerate(zip(_predicted(golden), golden.steps, strict=True))
        for broker in measured.replicas
        for position, number in enumerate(("log_end_offset", "high_watermark"))
        if (wanted := predicted.replicas[broker][position]) != (found := measured.replicas[broker][position])
    ]


def _comparisons(predicted: GoldenStep, measured: GoldenStep) -> list[dict[str, Any]]:
    rows: list[tuple[str, Any, Any]] = []
    for broker in measured.replicas:
        for position, what in enumerate(("log end offset", "high watermark")):
            pair = predicted.replicas[broker][position], measured.replicas[broker][position]
            rows.append((f"broker {broker} {what}", *pair))
    rows.append(("leader", predicted.leader, measured.leader))
    rows.append(("isr", sorted(predicted.isr), sorted(measured.isr)))
    for broker, offset in measured.remote.items():
        rows.append((f"remote log end offset of {broker}", predicted.remote.get(broker), offset))
    return [{"what": what, "predicted": one, "measured": other, "agrees": one == other} for what, one, other in rows]


def _samples(golden: GoldenRun) -> dict[str, Any]:
    deviations = [
        {"record_id": BASE + index, "label": record.label, "anomaly": "lost", "expected": "present", "measured": "lost"}
        for index, record in enumerate(golden.records)
        if (record.fate == "present") != (record.found is not None)
    ]
    return {"deviations": deviations, "divergences": []}


def _classes(golden: GoldenRun) -> list[dict[str, Any]]:
    return [
        {
            "record_id": BASE + index,
            "predicted": "kept" if record.fate == "present" else record.fate,
            "measured": "kept" if record.found is not None else gone(record),
            "offset": record.found,
            "copies": 0 if record.found is None else 1,
            "outcome": record.outcome,
            "error": record.error,
            "acknowledged_offset": record.acked_at,
            "deviates": (record.fate == "present") != (record.found is not None),
        }
        for index, record in enumerate(golden.records)
    ]


def gone(record: GoldenRecord) -> str:
    """Return the class of a record that is not in the topic."""
    if record.fate == "deleted":
        return "deleted"
    return "lost" if record.outcome == "acknowledged" or record.fate == "lost" else "absent"


def _tables(golden: GoldenRun, path: Path) -> None:
    ids = {record.label: BASE + index for index, record in enumerate(golden.records)}
    topic = [
        {"partition": 0, "offset": r.found, "record_id": ids[r.label], "value_matches": True}
        for r in golden.records
        if r.found is not None
    ]
    last = golden.steps[-1].replicas
    logs = [
        {
            "broker": broker,
            "offset": offset,
            "record_id": ids[label],
            "leader_epoch": epoch,
            "value_matches": True,
            "high_watermark": last[broker][1],
        }
        for broker, log in golden.logs.items()
        for offset, (label, epoch) in enumerate(log)
    ]
    for name, rows in (("topic/part-00000.parquet", topic), (REPLICA_LOGS_FILE, logs)):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=None if rows else replica_logs_schema()), path / name)
