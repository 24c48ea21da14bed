"""How does a line of a wire trace look? Every column is there, as the gate writes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.wire.points import Direction

MS = 1_000_000


def wire_line(
    seq: int,
    direction: Direction,
    api: str,
    link: tuple[int | None, int],
    said: dict[str, Any] | None,
    *,
    arrived_ns: int | None = None,
    **columns: Any,  # noqa: ANN401 - JSON values
) -> dict[str, Any]:
    """Return the line of a frame that went on when it came, one a millisecond, unless told otherwise."""
    arrived_ns = seq * MS if arrived_ns is None else arrived_ns
    line = {
        "seq": seq,
        "arrived_ns": arrived_ns,
        "forwarded_ns": arrived_ns,
        "connection": 4,
        "link": "replication",
        "source": link[0],
        "destination": link[1],
        "direction": direction,
        "api_key": 1,
        "api": api,
        "api_version": 11,
        "correlation_id": seq,
        "client_id": "broker-2-fetcher-1",
        "decoded": said,
        "hold": None,
        "outcome": "forwarded",
    }
    assert columns.keys() <= line.keys(), columns
    return line | columns


def write_wire(directory: Path, *lines: dict[str, Any]) -> None:
    """Write a trace that was ended."""
    text = "".join(
        json.dumps(line) + "\n"
        for line in (*lines, {"end": True, "first_seq": 0, "next_seq": len(lines), "lines": len(lines)})
    )
    (directory / "wire.ndjson").write_text(text, encoding="utf-8")
