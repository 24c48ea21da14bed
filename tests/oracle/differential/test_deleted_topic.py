"""Do both interpreters agree who can register once its topic is deleted, whatever happened before?"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest

from oracle.events import TopicDeleted
from oracle.predict import initial_world
from oracle.predict import take as predicted
from oracle.rules import eligible_leaders
from oracle.rules.by_version import rules_for
from oracle.rules.eligible_leaders import clears_and_elects
from oracle.steps.brokers import Kill, Start, Stop
from oracle.steps.topic import Alter
from oracle.vocabulary import MetadataMode
from oracle.world import ImpossibleEventError
from tests.oracle.differential.interpreter import StepRefusedError, new_cluster, settle, take
from tests.oracle.differential.plain_controller import minimum_changed, topic_deleted
from tests.oracle.differential.releases import facts_of
from tests.oracle.schedules import ONE, TWO, produce, schedule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.rules.rule_set import RuleSet
    from oracle.steps.step import Step
    from oracle.world import World
    from tests.oracle.differential.plain_controller import Cluster

pytestmark = pytest.mark.no_cover  # a search reaches much by chance; each branch has a test that names what it does

BEFORE: tuple[Step, ...] = (
    *(act(broker) for broker in (ONE, TWO) for act in (Kill, Stop, Start)),
    *(Alter(min_insync_replicas=minimum) for minimum in (1, 2)),
)
AFTER: tuple[tuple[Kill | Stop | Start, ...], ...] = (
    *((act(broker), Start(broker)) for broker in (ONE, TWO) for act in (Kill, Stop)),
    *((Start(broker),) for broker in (ONE, TWO)),
)
LEVELS = [("4.0.2", False), ("4.0.2", True), ("4.4.0", True)]
LONGEST = 3


def of_oracle(world: World) -> tuple[object, ...]:
    view = world.state.controller
    return (
        tuple(sorted(view.registered)),
        tuple(sorted(view.isr)),
        tuple(sorted(view.elr)),
        view.leader,
    )


def of_interpreter(cluster: Cluster) -> tuple[object, ...]:
    view = cluster["controller"]
    return tuple(sorted(view["up"])), tuple(sorted(view["isr"])), tuple(sorted(view["elr"])), view["leader"]


def told(world: World, steps: tuple[Step, ...]) -> World | None:
    try:
        for step in steps:
            world = predicted(world, step)
    except ImpossibleEventError:
        return None
    return world


def retold(cluster: Cluster, steps: tuple[Step, ...]) -> bool:
    try:
        for step in steps:
            if isinstance(step, Alter):
                assert step.min_insync_replicas is not None
                minimum_changed(cluster, step.min_insync_replicas)
                settle(cluster)
            else:
                take(cluster, step)
    except StepRefusedError:
        return False
    return True


def turned_away(rules: RuleSet, before: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield the ends of a story after which the broker that started last is not registered; both must agree."""
    base = schedule(produce("m0"), replicas=(ONE, TWO), min_isr=2)
    elr = rules.election.rule is eligible_leaders.KIP_966
    cluster = new_cluster(base, facts_of(rules.version, "kraft", eligible_leader_replicas=elr))
    world = told(initial_world(base, rules, base.replicas), before)
    assert retold(cluster, before) is (world is not None)
    if world is None:
        return
    assert of_oracle(world) == of_interpreter(cluster)
    gone = world.apply(TopicDeleted()).settle()
    topic_deleted(cluster)
    for after in AFTER:
        last, other = told(gone, after), deepcopy(cluster)
        assert retold(other, after) is (last is not None)
        if last is not None:
            assert of_oracle(last) == of_interpreter(other)
            if after[-1].broker not in last.state.controller.registered:
                yield after


@pytest.mark.parametrize(("version", "elr"), LEVELS)
def test_both_agree_after_every_short_story(version: str, *, elr: bool) -> None:
    rules = rules_for(version, MetadataMode.KRAFT, eligible_leader_replicas=elr)
    stories = [tuple(steps) for length in range(LONGEST + 1) for steps in product(BEFORE, repeat=length)]
    found = [(before, after) for before in stories for after in turned_away(rules, before)]
    assert bool(found) is elr
    assert all(any(isinstance(step, Alter) for step in before) for before, _ in found)
    assert not any(isinstance(after[0], Stop) for _, after in found)


def test_a_model_that_clears_the_index_differs() -> None:
    before = (Kill(ONE), Alter(min_insync_replicas=1))
    rules = rules_for("4.4.0", MetadataMode.KRAFT)
    assert (Start(ONE),) in turned_away(rules, before)
    with pytest.raises(AssertionError):
        list(turned_away(replace(rules, settings_changed=clears_and_elects), before))
