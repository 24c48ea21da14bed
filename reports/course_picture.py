"""What do pictures of what happened over time have in common? A scale from time to units, its ticks, words that fit.

A picture is ``WIDTH`` units wide; time begins at ``LEFT``, before it is room for the names of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, LEFT = 1000, 92
NS = 1_000_000_000
CHARACTER = 6.6
"""So wide is a character in a picture."""
PADDING = 8
TICKS_MAX = 10
STEPS_S = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400)


@dataclass(frozen=True, slots=True)
class Scale:
    """From time to a picture's units."""

    begins_ns: int
    ends_ns: int

    def x(self, at_ns: float) -> float:
        """Return where a moment is."""
        share = (at_ns - self.begins_ns) / max(self.ends_ns - self.begins_ns, 1)
        return LEFT + (WIDTH - LEFT) * min(max(share, 0.0), 1.0)

    def x_after(self, seconds: float) -> float:
        """Return where the moment is so many seconds after the beginning."""
        return self.x(self.begins_ns + seconds * NS)

    def seconds(self, at_ns: int) -> float:
        """Return a moment in seconds since the beginning."""
        return (at_ns - self.begins_ns) / NS


def ticks(scale: Scale) -> list[tuple[float, str]]:
    """Return some moments with their words, at round seconds, minutes or hours."""
    whole = scale.seconds(scale.ends_ns)
    step = next((one for one in STEPS_S if whole / one <= TICKS_MAX), 6 * 3600)
    unit, word = next((seconds, word) for seconds, word in ((3600, "h"), (60, "min"), (1, "s")) if step >= seconds)
    return [(scale.x_after(at), f"{at / unit:g} {word}") for at in range(0, int(whole) + 1, step)]


def fitting(choices: Sequence[str], width: float) -> str:
    """Return the first words that there is room for in a bar; none if there is none."""
    return next((one for one in choices if one and len(one) * CHARACTER < width - PADDING), "")


def led_words(leader: int, out: Sequence[int]) -> tuple[str, str]:
    """Return what stands in a bar: who leads, without whom; if there is no room for it, who leads."""
    without = f"{leader}, without {' and '.join(map(str, out))}" if out else ""
    return without, f"{leader}"


def state_words(leader: int | None, leader_epoch: int | None, isr: Sequence[int]) -> str:
    """Return what a bar says, in words."""
    if leader is None:
        return "no leader"
    epoch = "" if leader_epoch is None else f", leader epoch {leader_epoch}"
    return f"broker {leader} leads{epoch}; in sync: {', '.join(map(str, isr))}"
