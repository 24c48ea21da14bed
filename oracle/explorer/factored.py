"""How is a model told part by part, and stored as one int? Fields, actions, vetoes and checks, and numbered parts.

A factored state is a fixed row of parts: a replica, a request history, an ISR. An action names the parts that it
reads, so that `oracle.explorer.tabulated` can ask it once for each situation instead of once for each state. Each field
numbers the parts it meets; a state holds the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from oracle.explorer.model import CannotGoOnError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

Parts: TypeAlias = tuple[Any, ...]
Asks: TypeAlias = "tuple[Callable[[Any], bool] | None, ...]"


@dataclass(frozen=True, slots=True)
class SpecAction:
    """A step that reads some parts and yields them as they are afterwards, once for each way to take it.

    Attributes:
        name: what it is counted under.
        who: the brokers it is about, for people; empty if there are none.
        reads: numbers of the fields that its function takes, in the order of its arguments.
        step: yields the same parts, as they are after the step; called only if no part says no.
        asks: what each part is asked alone, None for nothing; empty if no part is asked.
        tells: names what else is noteworthy about a step, from the parts before and after.
    """

    name: str
    who: str
    reads: tuple[int, ...]
    step: Callable[..., Iterable[Parts]]
    asks: Asks = ()
    tells: Callable[[Parts, Parts], Iterable[str]] = lambda _before, _after: ()

    @property
    def label(self) -> str:
        """Return the action and its brokers, for people."""
        return f"{self.name} ({self.who})" if self.who else self.name


@dataclass(frozen=True, slots=True)
class Veto:
    """A reason why a joint action must not be taken: parts, and whether they object; not if one alone says no."""

    reads: tuple[int, ...]
    objects: Callable[..., bool]
    asks: Asks = ()


@dataclass(frozen=True, slots=True)
class JointAction:
    """An action that many parts may forbid, such as the high watermark's rise: taken if no veto objects.

    Like any other, the action itself reads within one group; its vetoes may read in others.
    """

    action: SpecAction
    vetoes: tuple[Veto, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A part of an invariant: if no part alone says no and ``breaks`` says yes, that invariant is broken."""

    invariant: str
    reads: tuple[int, ...]
    breaks: Callable[..., bool]
    asks: Asks = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """Where the search stops: a state is expanded only if every bound is kept (TLC's CONSTRAINT)."""

    reads: tuple[int, ...]
    is_kept: Callable[..., bool]


@dataclass(frozen=True, slots=True)
class Field:
    """A part's place in a state: its name and how many bits its number has."""

    name: str
    bits: int
    initial: Hashable


@dataclass(frozen=True, slots=True)
class Factored:
    """A model told part by part.

    Attributes:
        name: what results call it.
        fields: the parts of a state.
        actions: its steps.
        joint_actions: its steps that need every part's consent.
        checks: what breaks its invariants.
        groups: sets of fields that are looked up together; every action, veto and check reads within one of them.
        bounds: where the search stops, if the actions do not stop it.
        told: names that actions may tell besides their own, so that one never told is known to be missing.
    """

    name: str
    fields: tuple[Field, ...]
    actions: tuple[SpecAction, ...]
    joint_actions: tuple[JointAction, ...]
    checks: tuple[Check, ...]
    groups: tuple[frozenset[int], ...]
    bounds: tuple[Bound, ...] = ()
    told: tuple[str, ...] = ()

    @property
    def invariants(self) -> tuple[str, ...]:
        """Names of the invariants, each once, in the order of their checks."""
        return tuple(dict.fromkeys(check.invariant for check in self.checks))


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
