"""How can a search of many small states be fast? By asking each rule once per situation, and adding numbers.

A state is one int (`oracle.explorer.factored`). What an action does to it depends on the few fields that the action
reads: the first time it meets their contents its function is called, and from then on the differences it makes to
the int are remembered (`oracle.explorer.tabulated`). All actions, vetoes and checks that read no more than a group of
fields share one look-up for the group, so a search step is a few look-ups and additions.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from oracle.explorer.factored import numberings
from oracle.explorer.model import Always

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from oracle.explorer.factored import Asks, Factored, Numbering, Parts, SpecAction


class Tabulated:
    """A factored model with a memory, as the explorer searches it. States are ints and their own keys."""

    def __init__(self, factored: Factored, key: Callable[[int], int] | None = None) -> None:
        self.name = factored.name
        self.key = key
        self.factored = factored
        self.numberings = numberings(factored.fields)
        bits = (1 << number for number in count())
        self._actions = [Effects(action, self.numberings, next(bits)) for action in factored.actions]
        self._joint = [Effects(one.action, self.numberings, next(bits)) for one in factored.joint_actions]
        self._joint_taken: Counter[tuple[str, ...]] = Counter()
        self._all_vetoed = (1 << len(self._joint)) - 1
        self._groups = [Situations(self._read(sorted(group))) for group in factored.groups]
        self._judged, self._broken = -1, 0
        self._fill_groups(bits)
        self._bounds = [Answers(one.is_kept, self._read(one.reads), (), 0, 0) for one in factored.bounds]
        self._lookups = [(group.mask, group) for group in self._groups]

    def _fill_groups(self, bits: Iterator[int]) -> None:
        for effects in self._actions:
            group = self._group_of(effects.mask)
            group.actions.append(effects)
            effects.is_remembered = effects.mask != group.mask
        for joint_bit, (effects, joint) in enumerate(zip(self._joint, self.factored.joint_actions, strict=True)):
            self._group_of(effects.mask).unwilling.append((effects.bit, 1 << joint_bit))
            for veto in joint.vetoes:
                answers = Answers(veto.objects, self._read(veto.reads), veto.asks, next(bits), 1 << joint_bit)
                self._group_of(answers.mask).vetoes.append(answers)
        for check in self.factored.checks:
            stands_for = self._bit_of(check.invariant)
            answers = Answers(check.breaks, self._read(check.reads), check.asks, next(bits), stands_for)
            self._group_of(answers.mask).checks.append(answers)

    def _read(self, fields: Iterable[int]) -> list[Numbering]:
        return [self.numberings[number] for number in fields]

    def _group_of(self, mask: int) -> Situations:
        return next(group for group in self._groups if not mask & ~group.mask)

    def _bit_of(self, invariant: str) -> int:
        return 1 << self.factored.invariants.index(invariant)

    def initial_states(self) -> tuple[int]:
        """Return the one initial state."""
        return (sum(one.place(one.of.initial) for one in self.numberings),)

    def successors(self, state: int) -> list[int]:
        """Return every state one step away."""
        differences: tuple[int, ...] = ()
        vetoed = 0
        for mask, situations in self._lookups:
            situation = situations[state & mask]
            situation.visits += 1
            differences += situation.differences
            vetoed |= situation.vetoed
        if vetoed != self._all_vetoed:
            differences += tuple(self._joint_differences(state, vetoed))
        return [state + difference for difference in differences]

    def _joint_differences(self, state: int, vetoed: int) -> Iterator[int]:
        for bit, effects in enumerate(self._joint):
            if not vetoed >> bit & 1:
                for effect in effects[state & effects.mask]:
                    self._joint_taken[effect.counted] += 1
                    yield effect.difference

    def actions(self, state: int) -> Iterator[tuple[str, int]]:
        """Yield every step with what happens in it."""
        refused = vetoed = 0
        for one in self.numberings:
            refused |= one.refused(state)
        for mask, situations in self._lookups:
            vetoed |= situations[state & mask].vetoed
        willing = (one for one in self._actions if not one.bit & refused)
        agreed = (joint for bit, joint in enumerate(self._joint) if not vetoed >> bit & 1)
        for effects in (*willing, *agreed):
            for effect in effects[state & effects.mask]:
                yield effects.action.label, state + effect.difference

    def is_within_bounds(self, state: int) -> bool:
        """Return whether to expand a state."""
        return not self._bounds or all(bound[state & bound.mask] for bound in self._bounds)

    def occurrences(self) -> Mapping[str, int]:
        """Return how often each action was taken, and what else the actions tell about their steps."""
        declared = (*(one.name for one in self._declared_actions()), *self.factored.told)
        counted = Counter(dict.fromkeys(declared, 0))
        for counts, times in self._joint_taken.items():
            counted.update(dict.fromkeys(counts, times))
        for group in self._groups:
            for situation in group.values():
                for effect in situation.effects:
                    counted.update(dict.fromkeys(effect.counted, situation.visits))
        return counted

    def _declared_actions(self) -> list[SpecAction]:
        return [*self.factored.actions, *(joint.action for joint in self.factored.joint_actions)]

    def invariant(self, name: str) -> Always[int]:
        """Return an invariant as a property to search with."""
        bit = self._bit_of(name)
        return Always(name, lambda state: not self.broken(state) & bit)

    def broken(self, state: int) -> int:
        """Return one bit for each invariant that a state breaks; several are asked about one state in turn."""
        if state != self._judged:
            self._judged = state
            broken = 0
            for mask, situations in self._lookups:
                broken |= situations[state & mask].broken
            self._broken = broken
        return self._broken

    def parts(self, state: int) -> Parts:
        """Return the parts of a state."""
        return tuple(one.part(state) for one in self.numberings)


# What has been asked before? Dicts that call the asked function for an answer they do not have yet.
#
# Keys are states with all bits cleared but those of the fields that matter.


@dataclass(frozen=True, slots=True)
class Effect:
    """One way to take an action: the difference it makes to a state, and what to count when it is taken."""

    difference: int
    counted: tuple[str, ...]


class Effects(dict[int, tuple[Effect, ...]]):
    """What an action does, by the contents of the fields that it reads.

    Not remembered here (``is_remembered``) if the action reads all of its group: then the group remembers it.
    """

    def __init__(self, action: SpecAction, numberings: Sequence[Numbering], bit: int) -> None:
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
