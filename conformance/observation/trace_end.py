"""Is the wire trace whole, by its own account?

Sources: the last line of ``wire.ndjson``, see ``fault_injection.wire.trace``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.observation.errors import TraceUnreadableError

if TYPE_CHECKING:
    from pathlib import Path

LAST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class TraceEnd:
    """Which frames the file says it holds.

    Attributes:
        first_seq: frames from this number on arrived after the file was begun.
        next_seq: frames below it arrived before it was ended.
        lines: lines of frames.
    """

    first_seq: int
    next_seq: int
    lines: int


def trace_end(path: Path) -> TraceEnd:
    """Read what the last line of a wire trace says.

    Raises:
        TraceUnreadableError: there is no such file, or it was never ended.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - LAST_BYTES, 0))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError as error:
        raise TraceUnreadableError(f"{path.name} cannot be read: {error.strerror}") from error
    try:
        said = json.loads(last)
        if said["end"] is True:
            return TraceEnd(said["first_seq"], said["next_seq"], said["lines"])
    except (ValueError, KeyError, TypeError):
        pass
    raise TraceUnreadableError(f"{path.name} is cut short: it does not end with the line that ends a trace")
