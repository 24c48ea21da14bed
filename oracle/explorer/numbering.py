"""How does a row of parts become one int? Each field numbers the parts it meets; a state holds the numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oracle.explorer.model import CannotGoOnError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from oracle.explorer.factored import Field


class TooManyPartsError(CannotGoOnError):
    """A field has met more different parts than its bits can number."""


@dataclass(slots=True)
class Numbering:
    """The parts that a field has held so far, and their numbers.

    Attributes:
        of: the field whose parts they are.
        shift: lowest bit of the field within a state.
        mask: the field's bits within a state.
        numbers: each part's number, shifted to its place.
        parts: the parts by number.
        questions: what each part is asked alone, and the bit that stands for a no.
        refusals: the bits to which each part says no, by its number.
    """

    of: Field
    shift: int
    mask: int
    numbers: dict[Hashable, int] = field(default_factory=dict)
    parts: list[Hashable] = field(default_factory=list)
    questions: list[tuple[int, Callable[[Any], bool]]] = field(default_factory=list)
    refusals: list[int] = field(default_factory=list)

    def place(self, part: Hashable) -> int:
        """Return a part's number, shifted to its place; a part not met before gets the next one.

        Raises:
            TooManyPartsError: there is no number left.
        """
        known = self.numbers.get(part)
        if known is None:
            if len(self.parts) >> self.of.bits:
                raise TooManyPartsError(f"more than {len(self.parts)} different contents of {self.of.name}")
            known = self.numbers[part] = len(self.parts) << self.shift
            self.parts.append(part)
            self.refusals.append(sum(bit for bit, asks in self.questions if not asks(part)))
        return known

    def part(self, state: int) -> Any:  # noqa: ANN401 - a part is whatever its model says
        """Return what a state holds here."""
        return self.parts[(state & self.mask) >> self.shift]

    def refused(self, state: int) -> int:
        """Return the bits to which the part that a state holds here says no."""
        return self.refusals[(state & self.mask) >> self.shift]


def numberings(fields: tuple[Field, ...]) -> tuple[Numbering, ...]:
    """Lay fields side by side, the first one lowest."""
    laid, shift = [], 0
    for one in fields:
        laid.append(Numbering(one, shift, ((1 << one.bits) - 1) << shift))
        shift += one.bits
    return tuple(laid)
