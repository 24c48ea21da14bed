"""Which rules decide what a step does? Those that, swapped, would lead the partition elsewhere from where it stands.

This is the second measure of what brokers have been through, over the whole vocabulary of steps: pairs of a kind of
step and a rule that decided it, and triples with the protocol point of a frame that was held meanwhile. A hunt prefers
steps that bring new ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from typing_extensions import override

from conformance.hunting.rules_at_work import watching
from oracle.predict import adapted, initial_world
from oracle.predicting.branches import Branch, Ways
from oracle.predicting.interleavings import TooManyStatesError, identity
from oracle.steps.step import ScheduleError
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Mapping

    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps.step import Step
    from oracle.vocabulary import PointName
    from oracle.world import World

STATES_MAX = 200
"""A rule is asked no further if it, swapped, leaves more states than these between two rest points."""
NOTHING_HELD = "nothing"
"""What stands for the point of a step during which no frame is held."""


@dataclass(frozen=True, order=True, slots=True)
class RuleDecision:
    """A rule that decided what a step did.

    Attributes:
        step: the word of the step.
        rule: the name of the rule.
        point: the protocol point of a frame that was held when the step began, or ``NOTHING_HELD``.
    """

    step: str
    rule: str
    point: str

    @property
    def pair(self) -> tuple[str, str]:
        """Return it without the point."""
        return self.step, self.rule

    @override
    def __str__(self) -> str:
        """Return it in one word, as files have it."""
        return f"{self.step}|{self.rule}|{self.point}"

    @classmethod
    def named(cls, text: str) -> RuleDecision:
        """Return the decision that a file has.

        Raises:
            ValueError: it is none.
        """
        step, rule, point = text.split("|")
        return cls(step, rule, point)


class DecisionSearch:
    """Asks what the rules of a release decide.

    Args:
        rules: the release's.
        others: the rule sets that differ from them in one rule, by its name.
        schedule: its settings decide which rules apply.
    """

    def __init__(self, rules: RuleSet, others: Mapping[str, RuleSet], schedule: Schedule) -> None:
        self._watched = watching(rules, others)
        self._rules = adapted(self._watched, schedule)
        self._others = {name: adapted(other, schedule) for name, other in others.items()}

    def decisions(
        self, before: Ways, index: int, step: Step, known: Collection[RuleDecision] = frozenset()
    ) -> frozenset[RuleDecision]:
        """Return what the rules decide of a step that the model takes.

        Args:
            before: where the model stands.
            index: of the step.
            step: what is done.
            known: decisions that are not asked for.
        """
        self._watched.at_work.clear()
        own = _ends(before, index, step, self._rules)
        at_work, points = tuple(self._watched.at_work), _held_points(before)
        asked = {rule: {RuleDecision(step.word, rule, point) for point in points}.difference(known) for rule in at_work}
        deciding = (
            rule
            for rule in at_work
            if asked[rule] and _ends(before, index, step, self._others[rule]) not in (own, None)
        )
        return frozenset().union(*(asked[rule] for rule in deciding))


def decisions_of(
    schedule: Schedule, rules: RuleSet, others: Mapping[str, RuleSet]
) -> Iterator[frozenset[RuleDecision]]:
    """Yield what the rules decide of each step of a schedule.

    Args:
        schedule: one that the rules can predict.
        rules: the release's.
        others: the rule sets that differ from them in one rule, by its name.

    Raises:
        ScheduleError: the rules refuse a step.
    """
    search = DecisionSearch(rules, others, schedule)
    ways = Ways((Branch(initial_world(schedule, rules, schedule.brokers)),))
    for index, step in enumerate(schedule.steps):
        yield search.decisions(ways, index, step)
        ways = ways.after(index, step)


def _ends(before: Ways, index: int, step: Step, rules: RuleSet) -> frozenset[Hashable] | None:
    """Return where a step leads by some rules: nowhere if they refuse it; None if nobody can tell."""
    swapped = Ways(tuple(Branch(replace(way.world, rules=rules)) for way in before.ways))
    try:
        after = swapped.after(index, step, STATES_MAX)
    except (ScheduleError, ImpossibleEventError) as error:
        return None if isinstance(error.__cause__, TooManyStatesError) else frozenset()
    except AssertionError:
        return None
    return frozenset((identity(_as_seen(way.world)), way.world.obstacles, way.answers) for way in after.ways)


def _as_seen(world: World) -> World:
    """Return a world without what a fetch session holds in store: it is seen once a leader or a follower goes by it."""
    replicas = tuple(
        replace(
            replica, session=None, fetch=None if replica.fetch is None else replace(replica.fetch, leader_epoch=None)
        )
        for replica in world.state.replicas
    )
    return replace(world, state=replace(world.state, replicas=replicas))


def _held_points(ways: Ways) -> frozenset[PointName | str]:
    held = {armed.hold.point.value for way in ways.ways for armed in way.world.gate.holds if armed.can_be_let_go}
    return frozenset(held or {NOTHING_HELD})
