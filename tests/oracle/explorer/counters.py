"""A small factored model: three counters that may rise to a bound, and a bell that rings when none of them objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.explorer.factored import Bound, Check, Factored, Field, JointAction, SpecAction, Veto
from oracle.explorer.symmetry import Renaming

if TYPE_CHECKING:
    from collections.abc import Iterator

BELL = 3
MOST = 2


def rises(number: int) -> Iterator[tuple[int]]:
    yield (number + 1,)


def follows(number: int, other: int) -> Iterator[tuple[int, int]]:
    """Twice the same step: a guard with two alternatives that are both true."""
    if number < other:
        yield number + 1, other
        yield number + 1, other


def rings(rung: int) -> Iterator[tuple[int]]:
    yield (rung + 1,)


def is_low(number: int) -> bool:
    return number < MOST


def counters(bits: int = 3, bounds: tuple[Bound, ...] = ()) -> Factored:
    """Counter 0 rises alone, 1 and 2 follow it; the bell rings once all have reached the bound."""
    return Factored(
        name="counters",
        fields=(*(Field(f"counter {n}", bits, 0) for n in range(BELL)), Field("bell", bits, 0)),
        actions=(
            SpecAction(
                "Rise", "counter 0", (0,), rises, (is_low,), lambda _before, after: ["at the top"] * (after[0] == MOST)
            ),
            SpecAction("Follow", "", (1, 0), follows),
            SpecAction("Follow", "", (2, 0), follows),
        ),
        joint_actions=(
            JointAction(
                SpecAction("Ring", "", (BELL,), rings, (lambda rung: rung < 1,)),
                (
                    Veto((0, 1), lambda one, other: one + other < 2 * MOST),
                    Veto((0, 2), lambda one, other: one + other < 2 * MOST, (None, is_low)),
                ),
            ),
        ),
        checks=(
            Check("Quiet", (BELL,), lambda rung: rung > 0),
            Check("Close", (0, 1), lambda one, other: one - other > 1),
            Check("Close", (0, 2), lambda one, other: one - other > 1, (None, is_low)),
        ),
        groups=(frozenset({0, 1}), frozenset({0, 2}), frozenset({BELL})),
        bounds=bounds,
    )


def swap_followers() -> tuple[Renaming, Renaming]:
    """Nothing changed, and counters 1 and 2 swapped."""
    return Renaming({}, {}), Renaming({1: 2, 2: 1}, {1: lambda part: part})
