"""What becomes of bytes on an impaired network?

``Shaping`` is a policy without clock, socket or thread: it is told what is imposed and asked, for a flow and a
time, whether bytes may go on and how much later they arrive. Impairments add up: any reset resets, any blackhole
stops, delays add. Nothing is left to chance, so the same traffic meets the same fate.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from fault_injection.wire.impairments import (
    NS_PER_MS,
    Flow,
    FrameMark,
    Impairment,
    ImpairmentError,
    ImpairmentEvidence,
    LinkCut,
    LinkDelay,
    Touched,
)

NS_PER_S = 1_000_000_000
TOUCHED_MAX = 256

Verdict = Literal["forward", "wait", "close"]


@dataclass(slots=True)
class _Imposed:
    """One impairment and what it did so far."""

    name: str
    impairment: Impairment
    imposed_ns: int
    lifted_ns: int | None = None
    touched: dict[tuple[int, Flow], Touched] = field(default_factory=dict)
    untold: int = 0

    def carries(self, flow: Flow) -> bool:
        return any(way.carries(flow) for way in self.impairment.ways)

    def evidence(self) -> ImpairmentEvidence:
        touched = tuple(self.touched.values())
        return ImpairmentEvidence(self.name, self.impairment, self.imposed_ns, self.lifted_ns, touched, self.untold)


@dataclass(frozen=True, slots=True)
class Load:
    """Bytes that want to go on: on which connection, how many, and the frame that they are, if they are one."""

    connection: int
    flow: Flow
    opened_ns: int
    size: int = 0
    frame: FrameMark | None = None


class Shaping:
    """Decides what becomes of bytes; not thread-safe, the caller brings the lock."""

    def __init__(self) -> None:
        self._imposed: dict[str, _Imposed] = {}
        self._lifted: dict[str, _Imposed] = {}

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is imposed."""
        return not self._imposed

    def impose(self, name: str, impairment: Impairment, now_ns: int) -> None:
        """Begin an impairment. Raises ImpairmentError if one of that name is imposed."""
        if name in self._imposed:
            raise ImpairmentError(f"impairment {name!r} is imposed already")
        self._lifted.pop(name, None)
        self._imposed[name] = _Imposed(name, impairment, now_ns)

    def lift(self, name: str, now_ns: int) -> ImpairmentEvidence:
        """End an impairment and return what it did. Raises ImpairmentError if none of that name is imposed."""
        if name not in self._imposed:
            raise ImpairmentError(f"no impairment {name!r} is imposed")
        lifted = self._lifted[name] = self._imposed.pop(name)
        lifted.lifted_ns = now_ns
        return lifted.evidence()

    def evidence(self, name: str) -> ImpairmentEvidence:
        """Return what an impairment did, also after it was lifted. Raises ImpairmentError for an unknown name."""
        known = self._imposed.get(name) or self._lifted.get(name)
        if known is None:
            raise ImpairmentError(f"no impairment {name!r} was ever imposed")
        return known.evidence()

    def imposed(self) -> dict[str, Impairment]:
        """Return what is imposed now, in order of time."""
        return {name: imposed.impairment for name, imposed in self._imposed.items()}

    def verdict(self, load: Load) -> Verdict:
        """Return whether bytes may go on now, have to wait for a change, or end their connection."""
        if any(self._resets(load.flow)):
            return "close"
        return "wait" if any(self._stops(load)) else "forward"

    def is_reset(self, flow: Flow) -> bool:
        """Return whether a connection with this flow may not live."""
        return any(self._resets(flow))

    def is_unopened(self, load: Load) -> bool:
        """Return whether a connection could not be opened on a real network: one of its ways was cut already."""
        return any(
            load.opened_ns >= imposed.imposed_ns and (imposed.carries(load.flow) or imposed.carries(load.flow.reverse))
            for imposed in self._cuts("blackhole")
        )

    def stopped(self, load: Load, now_ns: int) -> None:
        """Note that a cut met bytes, or with none the opening or the end of a connection."""
        for imposed in (*self._resets(load.flow), *self._stops(load)):
            _touch(imposed, load, now_ns)

    def slowed(self, load: Load, now_ns: int) -> int:
        """Note bytes that are about to go, and say how many nanoseconds later they arrive."""
        delay_ms = 0
        for imposed in self._imposed.values():
            if isinstance(imposed.impairment, LinkDelay) and imposed.carries(load.flow):
                _touch(imposed, load, now_ns)
                delay_ms += imposed.impairment.delay_ms
        return delay_ms * NS_PER_MS

    def _resets(self, flow: Flow) -> Iterator[_Imposed]:
        for imposed in self._cuts("reset"):
            if imposed.carries(flow) or imposed.carries(flow.reverse):
                yield imposed

    def _stops(self, load: Load) -> Iterator[_Imposed]:
        for imposed in self._cuts("blackhole"):
            is_opened_meanwhile = load.opened_ns >= imposed.imposed_ns
            if imposed.carries(load.flow) or (is_opened_meanwhile and imposed.carries(load.flow.reverse)):
                yield imposed

    def _cuts(self, by: Literal["blackhole", "reset"]) -> Iterator[_Imposed]:
        for imposed in self._imposed.values():
            if isinstance(imposed.impairment, LinkCut) and imposed.impairment.by == by:
                yield imposed


def _touch(imposed: _Imposed, load: Load, now_ns: int) -> None:
    key = (load.connection, load.flow)
    known = imposed.touched.get(key)
    if known is None and len(imposed.touched) >= TOUCHED_MAX:
        imposed.untold += 1
        return
    frames, size, first, at_ns = (known.frames, known.size, known.first, known.at_ns) if known else (0, 0, None, now_ns)
    imposed.touched[key] = Touched(
        load.connection, load.flow, frames + (load.size > 0), size + load.size, first or load.frame, at_ns
    )
