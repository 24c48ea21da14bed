"""A run directory made by hand: one link's fetch rounds and lookups, and when what was measured or happened."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.record.directory import RunDirectory
from tests.conformance.questions.hand_made_runs import NOTHING_SEEN
from tests.conformance.run_files import change_run
from tests.conformance.wire_trace.wire_lines import MS, wire_line

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.wire.points import Direction

TOPIC, TOPIC_ID = "hw-99", "8a0bb0c4-08e4-4d3b-8a3c-2f7d7c4b1c11"


@dataclass(slots=True)
class Fetches:
    """Writes a run's files; times are milliseconds.

    Attributes:
        link: follower and leader of the frames to come.
        names: how the frames name the topic: by name, or only by its id.
    """

    run: RunDirectory
    link: tuple[int, int] = (2, 1)
    names: dict[str, Any] = field(default_factory=lambda: {"topic": TOPIC, "topic_id": None})
    frames: int = 0

    def fetch(
        self,
        offset: int,
        *,
        sent: int,
        reached: int | None = None,
        answered: int | None = None,
        delivered: int | None = None,
        high_watermark: int = 0,
        records: tuple[int, int] | None = None,
        diverging_end: int | None = None,
        error: int = 0,
    ) -> None:
        """Add a fetch; unless told otherwise each frame goes on when it comes."""
        number = self._frame("request", "Fetch", sent, sent if reached is None else reached, {"fetch_offset": offset})
        if answered is None:
            return
        told: dict[str, Any] = {"error": error, "high_watermark": high_watermark}
        if records is not None:
            told["epochs"] = [{"leader_epoch": 0, "first_offset": records[0], "last_offset": records[1]}]
        if diverging_end is not None:
            told["diverging_epoch"] = {"leader_epoch": 0, "end_offset": diverging_end}
        self._frame("response", "Fetch", answered, answered if delivered is None else delivered, told, number)

    def stuck(self, offset: int, *, sent: int, hold: str) -> None:
        """Add a fetch that stands in the gate: it has a line of its own beside that of its fate."""
        line = self._line("request", "Fetch", sent, None, {"fetch_offset": offset}, self.frames)
        self._write("wire.ndjson", line | {"hold": hold, "outcome": "held"})
        self.fetch(offset, sent=sent, reached=sent + 1_000_000)

    def lookup(self, epoch: int, *, sent: int, end: int, error: int = 0) -> None:
        """Add an answered OffsetsForLeaderEpoch."""
        number = self._frame("request", "OffsetForLeaderEpoch", sent, sent, {"leader_epoch": epoch})
        self._frame("response", "OffsetForLeaderEpoch", sent + 1, sent + 1, {"error": error, "end_offset": end}, number)

    def checkpoint(self, name: str, at: int) -> None:
        """Add a measured checkpoint."""
        self._write("observations.ndjson", {**NOTHING_SEEN, "t_ns": at * MS, "kind": "checkpoint", "name": name})

    def mark(self, event: str, subject: str, at: int, **fields: object) -> None:
        """Add an event to the timeline."""
        self._write("timeline.ndjson", {"t_ns": at * MS, "event": event, "subject": subject, "text": "", **fields})

    def _frame(
        self, way: Direction, api: str, at: int, on: int | None, entry: dict[str, Any], number: int | None = None
    ) -> int:
        number = self.frames if number is None else number
        self._write("wire.ndjson", self._line(way, api, at, on, entry, number))
        self.frames += 1
        return number

    def _line(
        self, way: Direction, api: str, at: int, on: int | None, entry: dict[str, Any], number: int
    ) -> dict[str, Any]:
        said = {"max_wait_ms": 500, "partitions": [{**self.names, "partition": 0, **entry}]}
        passed = {"forwarded_ns": None if on is None else on * MS, "correlation_id": number}
        return wire_line(self.frames, way, api, self.link, said, arrived_ns=at * MS, **passed)

    def _write(self, name: str, line: dict[str, Any]) -> None:
        with (self.run.path / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def hand_made(directory: Path) -> Fetches:
    """Return an empty run."""
    run = RunDirectory(directory)
    change_run(run, topic=TOPIC, topic_id=TOPIC_ID)
    return Fetches(run)
