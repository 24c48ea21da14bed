"""How is a real run's trace kept for tests? As its events, one JSON value a line, compressed.

The first line tells the release, the metadata mode, the lag time and the message format. Recorded with

    python -m tests.oracle.tracing.recording RUN_DIRECTORY NAME

from a run directory of ``kafka-conformance run``; the file is ``recorded/NAME.ndjson.gz``. A schedule that is neither
in the catalogue nor among the examples stands beside the files.
"""

from __future__ import annotations

import gzip
import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.tracing import event_as_json
from conformance.observation.event_stream import EventStream
from conformance.record.directory import RunDirectory
from oracle.rules import message_format
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.steps.topic import MESSAGE_FORMAT
from oracle.trace_check import TraceCheck, TraceSettings
from oracle.tracing.invariants import Invariant
from oracle.vocabulary import MetadataMode
from tests.conformance.observation.event_reading import event_from_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from oracle.trace_check import TraceReport
    from oracle.tracing.observed import Event

RECORDED = Path(__file__).parent / "recorded"
ALL = tuple(Invariant)


@dataclass(frozen=True, slots=True)
class Recording:
    """The events of one real run."""

    kafka: str
    metadata: MetadataMode
    lag_time_max_ms: int
    events: tuple[Event, ...]
    message_format_version: str | None = None

    def check(
        self,
        events: Iterable[Event] | None = None,
        *,
        rules_of: tuple[str, str] | None = None,
        enforced: Collection[Invariant] = ALL,
    ) -> TraceReport:
        """Replay the events, or others in their place, under the run's rules or another release's."""
        version, metadata = rules_of or (self.kafka, self.metadata)
        settings = TraceSettings(lag_time_max_ms=self.lag_time_max_ms)
        topic = TopicSettings(message_format_version=self.message_format_version)
        rules = message_format.adapted(rules_for(version, MetadataMode(metadata)), topic)
        check = TraceCheck(rules, settings, enforced=enforced)
        for event in self.events if events is None else events:
            if check.feed(event) is not None:
                break
        return check.finish()


def names() -> list[str]:
    """Return the names of the recorded runs."""
    return sorted(path.name.removesuffix(".ndjson.gz") for path in RECORDED.glob("*.ndjson.gz"))


@cache
def recording(name: str) -> Recording:
    """Read a recorded run."""
    with gzip.open(RECORDED / f"{name}.ndjson.gz", "rt", encoding="utf-8") as file:
        head, *lines = map(json.loads, file)
    events = tuple(event_from_json(line) for line in lines)
    metadata, lag_time_max_ms = MetadataMode(head["metadata"]), head["lag_time_max_ms"]
    return Recording(head["kafka"], metadata, lag_time_max_ms, events, head.get(MESSAGE_FORMAT))


def record(run: Path, name: str) -> Path:
    """Keep the events of a run."""
    about = json.loads((run / "run.json").read_text())
    settings = {**about["settings"].get("user", {}), **about["settings"]["imposed"]}
    head = {
        "kafka": about["kafka"],
        "metadata": about["metadata"],
        "lag_time_max_ms": int(settings["replica.lag.time.max.ms"]),
        "schedule": about["schedule_id"],
    }
    if MESSAGE_FORMAT in settings:
        head[MESSAGE_FORMAT] = settings[MESSAGE_FORMAT]
    target = RECORDED / f"{name}.ndjson.gz"
    lines = [head, *map(event_as_json, EventStream(RunDirectory(run)))]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    target.write_bytes(gzip.compress(text.encode(), mtime=0))
    return target


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2])
