"""What can be wrong with a network, and what shows that it was?

An impairment concerns some ways, has a name while it is imposed, and leaves evidence: the connections that it
touched, how many frames and bytes, and the first frame of each.
"""

from dataclasses import dataclass
from typing import Literal

from fault_injection.wire.ways import Flow, Way

NS_PER_MS = 1_000_000


class ImpairmentError(Exception):
    """An impairment was imposed under a name in use, or an unknown one was lifted or asked for."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Nothing passes on these ways.

    A *blackhole* is what a partition is: bytes stop, connections stay, also their ends are not heard of; a
    connection that is opened meanwhile carries nothing in either direction, since opening one needs both. What
    was stopped goes on when the cut is lifted, as retransmitted segments do. A *reset* ends the connections
    that have one of these ways, and every new one at its first frame.
    """

    ways: tuple[Way, ...]
    by: Literal["blackhole", "reset"] = "blackhole"

    @property
    def text(self) -> str:
        """How, in words."""
        return "by a blackhole" if self.by == "blackhole" else "by resets"


@dataclass(frozen=True, slots=True)
class Delay:
    """Bytes arrive ``delay_ms`` later on these ways; as much can be under way as before."""

    ways: tuple[Way, ...]
    delay_ms: int

    def __post_init__(self) -> None:
        if self.delay_ms < 1:
            raise ValueError(f"a delay takes time, not {self.delay_ms} ms")

    @property
    def text(self) -> str:
        """By how much, in words."""
        return f"of {self.delay_ms} ms"


@dataclass(frozen=True, slots=True)
class Throttle:
    """At most ``bytes_per_s`` bytes a second pass on these ways, all connections together."""

    ways: tuple[Way, ...]
    bytes_per_s: int

    def __post_init__(self) -> None:
        if self.bytes_per_s < 1:
            raise ValueError(f"a throttle lets something through, not {self.bytes_per_s} bytes/s")

    @property
    def text(self) -> str:
        """To what, in words."""
        return f"to {self.bytes_per_s} bytes/s"


Impairment = Cut | Delay | Throttle


@dataclass(frozen=True, slots=True)
class FrameMark:
    """Which frame it was: ``seq`` is the one of its line in the trace."""

    seq: int
    api: str
    correlation_id: int
    fetch_offset: int | None = None


@dataclass(frozen=True, slots=True)
class Touched:
    """What an impairment did to one flow.

    Attributes:
        connection: number of the connection, as in the trace.
        flow: which of its flows.
        frames: frames, or pieces of a channel without frames, that were stopped, delayed, throttled or reset.
        size: their bytes.
        first: the first of the frames; None if it was no frame.
        at_ns: when it was touched first, monotonic.
    """

    connection: int
    flow: Flow
    frames: int
    size: int
    first: FrameMark | None
    at_ns: int

    @property
    def text(self) -> str:
        """Say in words what was touched."""
        first = f", first {self.first.api} {self.first.correlation_id}" if self.first is not None else ""
        return f"connection {self.connection}, {self.flow.text}: {self.frames} frames of {self.size} bytes{first}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an impairment did so far.

    Attributes:
        name: the name it was imposed under.
        impairment: what was imposed.
        imposed_ns: when, monotonic.
        lifted_ns: when it was lifted; None while it is imposed.
        touched: what it touched, in order of the first time.
        untold: how many more flows it touched than ``touched`` has room for.
    """

    name: str
    impairment: Impairment
    imposed_ns: int
    lifted_ns: int | None
    touched: tuple[Touched, ...]
    untold: int = 0

    @property
    def has_fired(self) -> bool:
        """Whether any traffic met it."""
        return bool(self.touched)

    @property
    def size(self) -> int:
        """How many bytes it touched, of those flows."""
        return sum(touched.size for touched in self.touched)

    @property
    def first(self) -> Touched | None:
        """What proves it: the first flow with a frame, otherwise the first flow."""
        framed = (touched for touched in self.touched if touched.first is not None)
        return next(framed, self.touched[0] if self.touched else None)
