"""What does a wire trace look like that holds these frames? Written by the tester's own trace writer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fault_injection.wire.codec import api_name
from fault_injection.wire.trace import Trace, TraceEntry

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.wire.messages import RequestView, ResponseView
    from fault_injection.wire.trace import Keeps, Outcome

MS = 1_000_000
TOPIC = "t"
FETCH, LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA, LOOKUP, ALTER_PARTITION = 1, 4, 5, 6, 23, 56


@dataclass
class WireFile:
    """Collects frames, one a millisecond, and writes them as a trace."""

    entries: list[TraceEntry] = field(default_factory=list)
    correlations: int = 0

    def request(self, api_key: int, source: int | None, destination: int, said: Any, **fields: Any) -> TraceEntry:  # noqa: ANN401
        """Add a request."""
        self.correlations += 1
        return self._add(api_key, source, destination, "request", said, self.correlations, fields)

    def answer(self, request: TraceEntry, said: Any, **fields: Any) -> TraceEntry:  # noqa: ANN401
        """Add the answer to a request."""
        assert request.api_key is not None
        assert request.correlation_id is not None
        common = {"link": request.link, "connection": request.connection, "api_version": request.api_version}
        return self._add(
            request.api_key,
            request.source,
            request.destination,
            "response",
            said,
            request.correlation_id,
            common | fields,
        )

    def _add(
        self,
        api_key: int,
        source: int | None,
        destination: int,
        direction: Any,  # noqa: ANN401
        said: RequestView | ResponseView | None,
        correlation_id: int,
        fields: dict[str, Any],
    ) -> TraceEntry:
        seq = fields.pop("seq", len({entry.seq for entry in self.entries}) + 1)
        arrived_ns = fields.pop("arrived_ns", seq * MS)
        entry = TraceEntry(
            seq=seq,
            arrived_ns=arrived_ns,
            forwarded_ns=fields.pop("forwarded_ns", arrived_ns + 1),
            connection=fields.pop("connection", 1),
            link=fields.pop("link", "replication"),
            source=source,
            destination=destination,
            direction=direction,
            api_key=api_key,
            api=api_name(api_key),
            api_version=fields.pop("api_version", 11),
            correlation_id=correlation_id,
            client_id="broker",
            size=10,
            decoded=said,
            hold=fields.pop("hold", None),
            outcome=fields.pop("outcome", "forwarded"),
        )
        assert not fields, fields
        self.entries.append(entry)
        return entry

    def fate(self, held: TraceEntry, outcome: Outcome, forwarded_ns: int | None) -> TraceEntry:
        """Add the second line of a held frame."""
        entry = replace(held, outcome=outcome, forwarded_ns=forwarded_ns)
        self.entries.append(entry)
        return entry

    def write(
        self,
        directory: Path,
        *,
        next_seq: int | None = None,
        name: str = "wire.ndjson",
        keeps: Keeps | None = None,
    ) -> Path:
        """Write the trace with its last line."""
        trace, path = Trace(), directory / name
        trace.rotate(path, keeps=keeps)
        for entry in self.entries:
            trace.write(entry)
        trace.end(next_seq or max((entry.seq for entry in self.entries), default=0) + 1)
        trace.close()
        return path
