"""What has been asked before? Dicts that call the asked function for an answer they do not have yet.

Keys are states with all bits cleared but those of the fields that matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from oracle.explorer.factored import Action, Asks
    from oracle.explorer.numbering import Numbering


@dataclass(frozen=True, slots=True)
class Effect:
    """One way to take an action: the difference it makes to a state, and what to count when it is taken."""

    difference: int
    counted: tuple[str, ...]


class Effects(dict[int, tuple[Effect, ...]]):
    """What an action does, by the contents of the fields that it reads.

    Not remembered here (``is_remembered``) if the action reads all of its group: then the group remembers it.
    """

    def __init__(self, action: Action, numberings: Sequence[Numbering], bit: int) -> None:
        super().__init__()
        self.action = action
        self.read = [numberings[number] for number in action.reads]
        self.mask = sum(one.mask for one in self.read)
        self.bit = bit
        self.is_remembered = True
        self._counted: dict[tuple[str, ...], tuple[str, ...]] = {}
        register(action.asks, self.read, bit)

    def __missing__(self, fields: int) -> tuple[Effect, ...]:
        before = tuple(one.part(fields) for one in self.read)
        effects = tuple(self._effects(fields, before))
        if self.is_remembered:
            self[fields] = effects
        return effects

    def _effects(self, fields: int, before: tuple[object, ...]) -> Iterator[Effect]:
        for after in self.action.step(*before):
            placed = sum(one.place(part) for one, part in zip(self.read, after, strict=True))
            counted = (self.action.name, *self.action.tells(before, after))
            yield Effect(placed - fields, self._counted.setdefault(counted, counted))


class Answers(dict[int, bool]):
    """What a yes-or-no question answers, by the contents of the fields that it is about; ``stands_for`` if yes."""

    def __init__(
        self, question: Callable[..., bool], read: Sequence[Numbering], asks: Asks, bit: int, stands_for: int
    ) -> None:
        super().__init__()
        self.question = question
        self.read = read
        self.mask = sum(one.mask for one in read)
        self.bit = bit
        self.stands_for = stands_for
        register(asks, read, bit)

    def __missing__(self, fields: int) -> bool:
        answer = self[fields] = self.question(*(one.part(fields) for one in self.read))
        return answer


def register(asks: Asks, read: Sequence[Numbering], bit: int) -> None:
    """Have each part of the fields asked alone when it is met first; the bit stands for a no."""
    for asked, one in zip(asks, read, strict=bool(asks)):
        if asked is not None:
            one.questions.append((bit, asked))


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
    """Situations of one group, by the contents of its fields. Those in which nothing can be done are shared."""

    def __init__(self, read: Sequence[Numbering]) -> None:
        super().__init__()
        self.read = read
        self.mask = sum(one.mask for one in read)
        self.actions: list[Effects] = []
        self.unwilling: list[tuple[int, int]] = []  # a refusal's bit, and the joint action that it vetoes
        self.vetoes: list[Answers] = []
        self.checks: list[Answers] = []
        self._idle: dict[tuple[int, int], Situation] = {}

    def __missing__(self, fields: int) -> Situation:
        refused = 0
        for one in self.read:
            refused |= one.refused(fields)
        willing = (one for one in self.actions if not one.bit & refused)
        effects = tuple(effect for one in willing for effect in one[fields & one.mask])
        vetoed = _bits(self.vetoes, fields, refused)
        for bit, vetoes in self.unwilling:
            if bit & refused:
                vetoed |= vetoes
        broken = _bits(self.checks, fields, refused)
        situation = self[fields] = self._situation(effects, vetoed, broken)
        return situation

    def _situation(self, effects: tuple[Effect, ...], vetoed: int, broken: int) -> Situation:
        if effects:
            return Situation(tuple(effect.difference for effect in effects), effects, vetoed, broken)
        if (vetoed, broken) not in self._idle:
            self._idle[vetoed, broken] = Situation((), (), vetoed, broken)
        return self._idle[vetoed, broken]


def _bits(questions: Sequence[Answers], fields: int, refused: int) -> int:
    bits = 0
    for one in questions:
        if not one.bit & refused and one[fields & one.mask]:
            bits |= one.stands_for
    return bits
