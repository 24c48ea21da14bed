"""How is a model told part by part? As fields, actions that read a few of them, vetoes and checks.

A factored state is a fixed row of parts: a replica, a request history, an ISR. An action names the parts that it
reads, so that `oracle.explorer.tabulated` can ask it once for each situation instead of once for each state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

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
