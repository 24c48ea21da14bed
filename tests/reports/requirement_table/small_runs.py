"""Run directories of the smallest kind: a description, a verdict, a few observations."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.judgement.every_run import held_in_run
from conformance.record.directory import RunDirectory
from conformance.record.observations import read_observations
from conformance.record.verdict import Conformance, PromiseKept, Verdict, write_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """A requirement of these tests."""

    id: str
    sentence: str
    area: str = "An area"


ROWS = (Row("HW-01", "One."), Row("HW-03", "Three."), Row("HW-09", "Nine."), Row("HW-10", "Ten."))


def numbers(end: int, mark: int, *, alive: bool = True) -> dict[str, Any]:
    return {"log_end_offset": end, "high_watermark": mark, "alive": alive}


def seen(
    replicas: dict[str, Any], leader: int | None = 1, epoch: int = 0, remote: dict[str, Any] | None = None
) -> dict[str, Any]:
    """One observation of the probes; every replica is in sync."""
    isr = sorted(int(broker) for broker in replicas)
    return {
        "kind": "numbers",
        "step": 0,
        "replicas": replicas,
        "leader": leader,
        "leader_epoch": epoch,
        "isr": isr,
        "remote_log_end_offsets": remote or {},
    }


HEALTHY = (seen({"1": numbers(2, 1), "2": numbers(1, 1)}, remote={"2": 1}),)


def write_run(
    folder: Path,
    name: str,
    *,
    scenario: str = "HW-03",
    kafka: str = "4.3.1",
    metadata: str = "kraft",
    conformance: str = "CONFORMS",
    promise: str | None = "KEPT",
    sources: Sequence[str] = ("HW-03", "HW-01", "001"),
    observations: Sequence[dict[str, Any]] = HEALTHY,
) -> Path:
    path = folder / name
    path.mkdir(parents=True)
    run = RunDirectory(path)
    about = {
        "format": 2,
        "run": name,
        "scenario": scenario,
        "sources": list(sources),
        "kafka": kafka,
        "metadata": metadata,
        "backend": "process",
        "seed": 5,
        "seconds": 2.5,
    }
    (path / "run.json").write_text(json.dumps(about))
    (path / "observations.ndjson").write_text("".join(json.dumps(row) + "\n" for row in observations))
    held = held_in_run(read_observations(run), None)
    kept = None if promise is None else PromiseKept(promise)
    write_verdict(run, Verdict(Conformance(conformance), kept, f"because of {name}", every_run=held))
    return path
