"""A run directory made by hand: what a question reads, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from conformance.record.directory import RunDirectory
from tests.conformance.run_files import change_run, write_json
from tests.conformance.wire_trace.wire_lines import MS, wire_line

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.wire.points import Direction

TOPIC, TOPIC_ID = "le-99", "0dc25c35-83e3-49a4-93ed-fb5d50cf1fb0"
FROZEN = {"sha256": "", "frozen_at": "2026-11-22T00:43:13.000+00:00", "frozen_ns": 1_000 * MS}
"""When the prediction was frozen, by both clocks: 1 s on the tester's own."""


NOTHING_SEEN = {
    "replicas": {},
    "leader": None,
    "leader_epoch": 0,
    "isr": [],
    "name": "",
    "settled": True,
    "outcome": "",
}
"""What stands in an observation of which a test says nothing."""


class HandMadeRun:
    """Writes a run's files line by line; times are milliseconds of the tester's clock."""

    def __init__(self, directory: Path, replicas: tuple[int, ...] = (1, 2)) -> None:
        directory.mkdir(exist_ok=True)
        self.run = RunDirectory(directory)
        change_run(self.run, topic=TOPIC, prediction=FROZEN)
        asked = {"id": "in-sync-replicas/asked", "requirement": "It holds.", "steps": [{"checkpoint": "end"}]}
        write_json(self.run, "schedule.json", {**asked, "replicas": list(replicas)})
        self._frames = 0

    def mark(self, at_ms: float, event: str, subject: object, step: int = 0) -> None:
        line = {"t_ns": int(at_ms * MS), "step": step, "event": event, "subject": str(subject), "text": ""}
        self._add("timeline.ndjson", line)

    def observe(self, at_ms: float, kind: str, **fields: Any) -> None:  # noqa: ANN401
        self._add("observations.ndjson", {"t_ns": int(at_ms * MS), "kind": kind, **NOTHING_SEEN, **fields})

    def request(
        self,
        at_ms: float,
        api: str,
        link: tuple[int, int],
        /,
        *,
        passed: bool = True,
        hold: str | None = None,
        **entry: Any,  # noqa: ANN401
    ) -> None:
        self._frame(at_ms, api, link, "request", entry, hold=hold, **({} if passed else {"forwarded_ns": None}))

    def response(self, at_ms: float, api: str, link: tuple[int, int], /, **entry: Any) -> None:  # noqa: ANN401
        self._frame(at_ms, api, link, "response", entry)

    def metadata_record(self, at_ms: float, broker: int, **record: Any) -> None:  # noqa: ANN401
        """Let a broker fetch a record about the partition from the metadata log."""
        named = {"topic_id": TOPIC_ID, "partition": 0, **record}
        entry = {"topic": "__cluster_metadata", "topic_id": None, "metadata": [named]}
        self._frame(at_ms, "Fetch", (broker, 100), "response", entry)

    def _frame(
        self,
        at_ms: float,
        api: str,
        link: tuple[int, int],
        direction: Direction,
        entry: dict[str, Any],
        **columns: Any,  # noqa: ANN401
    ) -> None:
        self._frames += 1
        said = {"partitions": [{"topic": TOPIC, "topic_id": TOPIC_ID, "partition": 0, **entry}]}
        line = wire_line(self._frames, direction, api, link, said, arrived_ns=int(at_ms * MS), **columns)
        self._add("wire.ndjson", line)

    def file_of(self, broker: int, name: str, text: str) -> None:
        path = self.run.path / "brokers" / str(broker) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _add(self, name: str, line: dict[str, Any]) -> None:
        with (self.run.path / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
