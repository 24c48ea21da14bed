"""Do two interpreters, written apart, agree on every number of every step? Differences have been bugs of either.

``HYPOTHESIS_PROFILE=exhaustive`` asks thousands of random questions with new seeds; the default is the same
some hundreds each time.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from oracle.rules.by_version import rules_for
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import MetadataMode
from tests.oracle.differential.comparison import (
    first_difference,
    outcomes_said_by_oracle,
    said_by_interpreter,
    said_by_oracle,
)
from tests.oracle.differential.corpus import Story, told_stories
from tests.oracle.differential.releases import facts_of
from tests.oracle.differential.schedules import Question, awaited_where_counted, questions, without_holds_in_vain
from tests.oracle.walks import RULE_SETS, followed

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

pytestmark = pytest.mark.no_cover  # a search reaches much by chance; each branch has a test that names what it does

IS_EXHAUSTIVE = os.environ.get("HYPOTHESIS_PROFILE") == "exhaustive"
asked = settings(
    max_examples=6000 if IS_EXHAUSTIVE else 250,
    derandomize=not IS_EXHAUSTIVE,
    database=None,
    suppress_health_check=list(HealthCheck),
)


TOLD = told_stories()


def facts_like(rules: RuleSet) -> dict[str, Any]:
    """Return the facts of the release that a rule set is for."""
    has_elr = rules.election.rule.name == "eligible-leader-replicas"
    return facts_of(rules.version, rules.metadata.value, eligible_leader_replicas=has_elr)


def told(story: Story, *, in_vain: bool = False) -> tuple[Schedule, RuleSet, dict[str, Any]]:
    """Return a transcript's schedule with its own release, read both ways; with the holds in vain, or not."""
    assert story.release is not None
    version, metadata, elr = story.release
    rules = rules_for(version, MetadataMode(metadata), eligible_leader_replicas=elr)
    walk = followed(story.schedule, rules)
    walk = walk if in_vain else without_holds_in_vain(walk)
    steps: list[Step] = []
    for n, step in enumerate(walk.schedule.steps):
        steps += [step, Checkpoint(f"after {n}"), *awaited_where_counted(walk, n)]
    return replace(walk.schedule, steps=tuple(steps)), rules, facts_of(version, metadata, eligible_leader_replicas=elr)


@pytest.mark.parametrize("story", TOLD, ids=lambda story: story.name)
def test_both_tell_a_story_alike(story: Story) -> None:
    schedule, rules, facts = told(story)
    interpreted = said_by_interpreter(schedule, facts)
    differences = [first_difference(said, interpreted) for said in outcomes_said_by_oracle(schedule, rules)]
    assert None in differences, differences


@cache
def answers() -> Counter[str]:
    """Ask every question once; return how the questions ended."""
    count: Counter[str] = Counter()

    @given(questions())
    @asked
    def ask(question: Question) -> None:
        oracle = said_by_oracle(question.schedule, question.rules)
        count[_kind(oracle)] += 1
        if oracle is None:
            return
        interpreter = said_by_interpreter(question.schedule, facts_like(question.rules))
        count.update(_visited(interpreter))
        assert first_difference(oracle, interpreter) is None, question.rules

    ask()
    return count


def _kind(oracle: dict[str, Any] | None) -> str:
    if oracle is None:
        return "race"
    return "told" if oracle["refused at"] is None else "refused"


def _visited(said: dict[str, Any]) -> set[str]:
    moments = [value for key, value in said.items() if key.startswith("step ")]
    records = [value for value in said.values() if isinstance(value, dict) and "fate" in value]
    places = {f"fate {record['fate']}" for record in records} | {f"error {record['error']}" for record in records}
    return places | {f"ISR of {len(moment['isr'])}" for moment in moments} | {f"leader {m['leader']}" for m in moments}


@pytest.mark.slow
def test_both_answer_chance_questions_alike() -> None:
    assert answers()["told"] > 100


PLACES = ["refused", "fate lost", "fate absent", "fate present", "ISR of 0", "ISR of 1", "ISR of 3", "leader None"]
ERRORS = ["error NOT_ENOUGH_REPLICAS", "error NOT_ENOUGH_REPLICAS_AFTER_APPEND", "error REQUEST_TIMED_OUT"]


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES + ERRORS)
def test_chance_questions_get_there(place: str) -> None:
    assert answers()[place] > 0


@pytest.mark.slow
def test_few_questions_are_left_out_for_a_race() -> None:
    assert answers()["race"] < answers()["told"]


WRONG: list[tuple[str, str, Any]] = [
    ("kip-841-on-3.2-0", "joins", "alive"),
    ("kip-841-on-3.3-0", "joins", "any"),
    ("kip-903-on-3.4-0", "joins", "this incarnation"),
    ("kip-903-on-3.5-0", "joins", "alive"),
    ("old-format-on-1.1.0-0", "tells_end_of_no_epoch", False),
    ("old-format-on-1.1.1-0", "tells_end_of_no_epoch", True),
    ("old-format-on-2.1.0-0", "elects_in_any_format", False),
    ("old-format-on-2.1.1-0", "elects_in_any_format", True),
    ("old-format-on-2.8-0", "heeds_format", False),
    ("kip-279-on-2.0-0", "answers_epoch", False),
    ("kip-279-on-1.1-0", "answers_epoch", True),
    ("kafka-5758-on-1.1.0-0", "answers_updated", False),
    ("kafka-5758-on-1.1.1-0", "answers_updated", True),
    ("lookup-of-an-empty-log-on-2.0.1-0", "asks_without_epoch", False),
    ("kafka-15221-on-3.7-0", "fences_broker_epoch", False),
    ("kafka-15221-on-3.6-0", "fences_broker_epoch", True),
    ("kafka-13141-on-2.8.0-0", "counts_diverging", False),
    ("kafka-13141-on-2.8.1-0", "counts_diverging", True),
    ("checkpointing-never-0", "cuts_to_high_watermark", False),
    ("tr-01-on-0.11-0", "cuts_to_high_watermark", True),
    ("kafka-18991-on-3.9.2-0", "drops_old_fetch", False),
    ("kafka-18991-on-3.9.0-0", "drops_old_fetch", True),
    ("kafka-7786-on-2.1.1-0", "drops_old_lookup", False),
    ("kafka-7786-on-2.1.0-0", "drops_old_lookup", True),
    ("elr-last-known-leader-0", "elr", False),
    ("elr-off-0", "elr", True),
    ("kafka-19522-on-4.1-0", "elects_absent", True),
    ("kafka-7786-fenced-on-2.1.1-0", "drops_old_lookup", False),
    ("kafka-7786-fenced-on-2.1.0-0", "drops_old_lookup", True),
    ("tr-03-on-0.10.2-0", "empties_isr_if_unclean", False),
    ("unclean-on-request-only-on-3.8-kraft-1", "heeds_unclean_setting", True),
    ("kafka-7415-on-2.0.1-0", "epoch_at_election", False),
    ("kafka-7415-on-2.0.0-0", "epoch_at_election", True),
    ("out-of-range-hangs-the-broker-0", "when_ahead", "cuts"),
    ("out-of-range-hangs-the-broker-0", "when_ahead", "ends"),
    ("out-of-range-ends-the-broker-0", "when_ahead", "hangs"),
    ("request-across-epochs-0", "fences", False),
    ("request-across-epochs-on-2.0.1-0", "fences", True),
    ("diverging-epoch-0", "fetch_names_epoch", False),
    ("kafka-14704-on-2.8-0", "high_watermark_before_cut", False),
    ("kafka-14704-on-3.5-0", "high_watermark_before_cut", True),
    ("told-once-on-3.4.1-0", "tells_once", False),
    ("kafka-9338-on-2.4-0", "epoch_in_session", True),
    ("kafka-9338-on-2.5-0", "epoch_in_session", False),
    ("kafka-7128-on-2.0.1-0", "joins_at_epoch_start", False),
    ("kafka-7128-on-2.0.0-0", "joins_at_epoch_start", True),
    ("minimum-above-replication-factor-on-3.7-0", "needs_min_isr", False),
    ("strict-min-isr-0", "needs_min_isr", False),
    ("lag-idle-follower-on-2.0-0", "equal_end_stays", True),
    ("lag-idle-follower-on-2.1-0", "equal_end_stays", False),
    ("kafka-13091-on-3.0-0", "rises_after_shrink", True),
    ("kafka-13091-on-3.1-0", "rises_after_shrink", False),
    ("kafka-8841-on-2.3-0", "rises_only_with_end", True),
    ("kafka-8841-on-2.4-0", "rises_only_with_end", False),
    ("caught-up-then-dead-on-3.5-zookeeper-0", "waits_for", "alive"),
    ("caught-up-then-dead-on-3.6-zookeeper-0", "waits_for", "any"),
    ("caught-up-then-back-on-3.9-zookeeper-0", "waits_for", "this incarnation"),
    ("caught-up-then-back-on-3.9-kraft-0", "waits_for", "alive"),
    ("caught-up-on-2.8-0", "resets_fetch_time_of_all", False),
    ("caught-up-on-3.9-zookeeper-0", "resets_fetch_time_of_all", True),
    ("leader-restarts-on-2.0.0-0", "same_leader_gap", 1),
    ("same-leader-on-2.4-0", "same_leader_gap", None),
    ("same-leader-on-2.0.1-0", "same_leader_gap", 0),
    ("caught-up-on-3.9-kraft-0", "waits_for", "any"),
    ("caught-up-on-3.9-kraft-0", "shrink_bumps_epoch", True),
]
"""Interpreters made wrong in one fact, each with a story that shows it."""


@pytest.mark.parametrize(("name", "fact", "value"), WRONG)
def test_an_interpreter_that_is_wrong_would_be_noticed(name: str, fact: str, value: object) -> None:
    (story,) = [story for story in TOLD if story.name == name]
    differences: list[str | None] = []
    for in_vain in (False, True):
        schedule, rules, facts = told(story, in_vain=in_vain)
        assert facts[fact] != value
        oracle = said_by_oracle(schedule, rules)
        assert oracle is not None
        assert first_difference(oracle, said_by_interpreter(schedule, facts)) is None
        differences.append(first_difference(oracle, said_by_interpreter(schedule, {**facts, fact: value})))
    assert any(differences)


INVISIBLE = {"version", "kraft", "old_format", "asks", "asks_controller", "trims_epochs_always", "closes_former_fetch"}
"""Identity, the mechanism itself, and what only a frame of the controller's in between or an election shows."""


def test_every_fact_is_shown_to_matter() -> None:
    assert facts_like(RULE_SETS[0]).keys() == {fact for _, fact, _ in WRONG} | INVISIBLE
