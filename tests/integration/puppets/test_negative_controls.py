"""Would anybody notice if the model, or a puppet, were wrong? What does not fit must fail."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fault_injection.waiting import DeadlineExceededError
from oracle.rules import isr_join, kip_320
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
from tests.integration.puppets import stage as stages
from tests.integration.puppets import test_following, test_leading
from tests.integration.puppets.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from fault_injection.puppets.leader import LeaderPuppet
    from fault_injection.puppets.run import PuppetRun
    from oracle.rules.rule_set import RuleSet

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]

LONGER_THAN_IT_TAKES_S = 1.0


def own_rules(run: PuppetRun) -> RuleSet:
    return rules_for(run.cluster.spec.release.version, MetadataMode.ZOOKEEPER)


def test_another_releases_truncation_does_not_fit(
    run: PuppetRun, leaders: dict[int, LeaderPuppet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "DEADLINE_S", LONGER_THAN_IT_TAKES_S)
    is_oldest = run.cluster.spec.release.line == "0.10.2"
    rules = rules_for("2.8.2" if is_oldest else "0.10.2.2", MetadataMode.ZOOKEEPER)

    with (
        closing(Stage(run, "other-truncation", rules)) as stage,
        pytest.raises((AssertionError, DeadlineExceededError)),
    ):
        test_following.test_a_follower_cuts_what_its_leader_does_not_have(stage, leaders)


def answering_another_high_watermark(rules: RuleSet) -> RuleSet:
    return replace(rules, answers_new_high_watermark=not rules.answers_new_high_watermark)


def fencing_as_no_release_of_its_kind(rules: RuleSet) -> RuleSet:
    fences = rules.serves_epoch is kip_320.is_served
    return replace(rules, serves_epoch=kip_320.serves_any_epoch if fences else kip_320.is_served)


def joining_elsewhere(rules: RuleSet) -> RuleSet:
    at_start = rules.joins_isr is isr_join.at_epoch_start
    return replace(rules, joins_isr=isr_join.at_high_watermark if at_start else isr_join.at_epoch_start)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            answering_another_high_watermark,
            test_leading.test_the_high_watermark_is_the_lowest_end_offset_of_the_in_sync_replicas,
        ),
        (fencing_as_no_release_of_its_kind, test_leading.test_a_follower_in_another_epoch_is_fenced),
        (joining_elsewhere, test_leading.test_a_replica_joins_the_in_sync_replicas_when_it_has_caught_up),
    ],
)
def test_a_changed_rule_does_not_fit(
    run: PuppetRun,
    monkeypatch: pytest.MonkeyPatch,
    changed: Callable[[RuleSet], RuleSet],
    told: Callable[[Stage], None],
) -> None:
    monkeypatch.setattr(stages, "DEADLINE_S", LONGER_THAN_IT_TAKES_S)
    with (
        closing(Stage(run, changed.__name__, changed(own_rules(run)))) as stage,
        pytest.raises((AssertionError, DeadlineExceededError)),
    ):
        told(stage)
