"""Which frames did a run see, and what became of each? Reads ``wire.ndjson`` as a whole, when the run is over.

A frame that stood in the gate has a line from when it was caught and one from its fate; here it counts once, with its
fate. One that was never let go has the outcome "held".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.run_directory import RunDirectory

Json: TypeAlias = dict[str, Any]
WIRE_FILE = "wire.ndjson"
FETCH, EPOCH_LOOKUP = "Fetch", "OffsetForLeaderEpoch"
ALTER_PARTITION, UPDATE_METADATA = "AlterPartition", "UpdateMetadata"
"""The names of apis in a trace."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; what each column says is told by ``fault_injection.wire.trace.TraceEntry``.

    Attributes:
        arrived_ns: when it reached the gate.
        forwarded_ns: when it left the gate; None if it never did.
        source: who sent the request, also in the line of its answer.
        said: what it says; empty if it was not decoded.
    """

    seq: int
    arrived_ns: int
    forwarded_ns: int | None
    connection: int
    correlation_id: int | None
    link: str
    source: int | None
    destination: int
    direction: str
    api: str | None
    client_id: str | None
    hold: str | None
    outcome: str
    said: Json

    def is_request(self, api: str) -> bool:
        """Tell whether it is a request of an api."""
        return (self.api, self.direction) == (api, "request")

    def is_answer(self, api: str) -> bool:
        """Tell whether it is the answer to a request of an api."""
        return (self.api, self.direction) == (api, "response")

    def is_between(self, source: int, destination: int) -> bool:
        """Tell whether it is a request of one node to another one, or the answer to such a request."""
        return (self.source, self.destination) == (source, destination)

    def entries(self) -> Iterator[Json]:
        """Yield what it says of partitions: itself, and as records of the metadata log."""
        for entry in self.said.get("partitions", ()):
            yield entry
            yield from entry.get("metadata", ())


def frames_of(run: RunDirectory) -> list[Frame]:
    """Return the frames of a run in the order of their arrival."""
    fates = {line["seq"]: line for line in run.lines(WIRE_FILE) if "end" not in line}
    return sorted(map(_frame, fates.values()), key=lambda frame: (frame.arrived_ns, frame.seq))


def _frame(line: Json) -> Frame:
    return Frame(**{name: line[name] for name in _COLUMNS}, said=line["decoded"] or {})


_COLUMNS = tuple(column.name for column in fields(Frame) if column.name != "said")
