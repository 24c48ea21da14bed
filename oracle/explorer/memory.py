"""What has been asked before? Dicts that call the asked function for an answer they do not have yet.

Keys are states with all bits cleared but those of the fields that matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from oracle.explorer.factored import Action
    from oracle.explorer.numbering import Numbering


@dataclass(frozen=True, slots=True)
class Effect:
    """One way to take an action: the difference it makes to a state, and what to count when it is taken."""

    difference: int
    counted: tuple[str, ...]


class Effects(dict[int, tuple[Effect, ...]]):
    """What an action does, by the contents of the fields that it reads."""

    def __init__(self, action: Action, numberings: Sequence[Numbering]) -> None:
        super().__init__()
        self.action = action
        self.read = [numberings[number] for number in action.reads]
        self.mask = sum(one.mask for one in self.read)

    def __missing__(self, fields: int) -> tuple[Effect, ...]:
        before = tuple(one.part(fields) for one in self.read)
        effects = self[fields] = tuple(self._effects(fields, before))
        return effects

    def _effects(self, fields: int, before: tuple[object, ...]) -> Iterator[Effect]:
        for after in self.action.step(*before):
            placed = sum(one.place(part) for one, part in zip(self.read, after, strict=True))
            yield Effect(placed - fields, (self.action.name, *self.action.tells(before, after)))


class Answers(dict[int, bool]):
    """What a yes-or-no question answers, by the contents of the fields that it is about."""

    def __init__(self, asks: Callable[..., bool], reads: Sequence[int], numberings: Sequence[Numbering]) -> None:
        super().__init__()
        self.asks = asks
        self.read = [numberings[number] for number in reads]
        self.mask = sum(one.mask for one in self.read)

    def __missing__(self, fields: int) -> bool:
        answer = self[fields] = self.asks(*(one.part(fields) for one in self.read))
        return answer


@dataclass(slots=True)
class Situation:
    """What becomes of one content of a group's fields.

    Attributes:
        differences: what each possible step adds to a state.
        effects: the same steps with what they count.
        vetoed: one bit for each joint action that must not be taken here.
        broken: one bit for each invariant that is broken here.
        visits: how many states were expanded in it.
    """

    differences: tuple[int, ...]
    effects: tuple[Effect, ...]
    vetoed: int
    broken: int
    visits: int = 0


class Situations(dict[int, Situation]):
    """Situations of one group, by the contents of its fields."""

    def __init__(self, mask: int) -> None:
        super().__init__()
        self.mask = mask
        self.actions: list[Effects] = []
        self.vetoes: list[tuple[int, Answers]] = []  # bit and question
        self.checks: list[tuple[int, Answers]] = []

    def __missing__(self, fields: int) -> Situation:
        effects = tuple(effect for one in self.actions for effect in one[fields & one.mask])
        situation = self[fields] = Situation(
            differences=tuple(effect.difference for effect in effects),
            effects=effects,
            vetoed=_bits(self.vetoes, fields),
            broken=_bits(self.checks, fields),
        )
        return situation


def _bits(questions: Sequence[tuple[int, Answers]], fields: int) -> int:
    bits = 0
    for bit, answers in questions:
        if answers[fields & answers.mask]:
            bits |= bit
    return bits
