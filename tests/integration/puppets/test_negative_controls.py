"""Would anybody notice if the model were wrong? What a real broker answers must not fit another rule."""

from __future__ import annotations

from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from conformance.puppet_scripts.acts import STATE
from conformance.puppet_scripts.leading_acts import FetchAs, Lead
from conformance.puppet_scripts.puppet_topic import PuppetStage
from conformance.puppet_scripts.script import PuppetScript
from conformance.scenarios.controller_requests.rm_05_fetch_limits import FETCH
from conformance.scenarios.high_watermark.hw_08_lowest_end_offset import LOWEST_END_OFFSET as HIGH_WATERMARK
from conformance.scenarios.in_sync_replicas.is_02_joins import JOIN
from conformance.scenarios.leader_epoch.le_05_zombies import FENCED_FETCHES
from conformance.scenarios.produce_path.ac_04_too_few_in_sync import TOO_FEW
from conformance.scenarios.truncation.tr_06_end_of_epoch import CUTS
from fault_injection.puppets.client import FollowerPuppet
from fault_injection.releases import find_release
from oracle.rules import consumers, fencing, isr
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
from tests.conformance.puppet_scripts.scripts import disagreeing

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.catalogue.examination import Examination
    from fault_injection.wire.controller_views import PartitionLeadership
    from fault_injection.wire.views import FetchedPartition
    from oracle.rules.rule_set import RuleSet
    from tests.integration.puppets.conftest import Played

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]


LOOK_DEADLINE_S = 20.0
JOINING = 3


def cutting_as_another_release(rules: RuleSet) -> RuleSet:
    is_oldest = rules.truncation.cuts_to_high_watermark
    return rules_for("2.8.2" if is_oldest else "0.10.2.2", MetadataMode.ZOOKEEPER)


def answering_another_high_watermark(rules: RuleSet) -> RuleSet:
    return replace(rules, answers_new_high_watermark=not rules.answers_new_high_watermark)


def fencing_as_no_release_of_its_kind(rules: RuleSet) -> RuleSet:
    fences = rules.serves_epoch is fencing.is_served
    return replace(rules, serves_epoch=fencing.serves_any_epoch if fences else fencing.is_served)


def joining_elsewhere(rules: RuleSet) -> RuleSet:
    at_start = rules.joins_isr is isr.joins_at_epoch_start
    return replace(rules, joins_isr=isr.joins_at_high_watermark if at_start else isr.joins_at_epoch_start)


def committing_with_other_than_enough(rules: RuleSet) -> RuleSet:
    return replace(rules, high_watermark_needs_min_isr=not rules.high_watermark_needs_min_isr)


def waiting_as_another_release(rules: RuleSet) -> RuleSet:
    waits = rules.answers_fetch_at_once is consumers.beyond_end_waits
    other = consumers.beyond_end_at_once if waits else consumers.beyond_end_waits
    return replace(rules, answers_fetch_at_once=other)


@pytest.mark.parametrize(
    ("changed", "examination"),
    [
        (cutting_as_another_release, CUTS),
        (answering_another_high_watermark, HIGH_WATERMARK),
        (fencing_as_no_release_of_its_kind, FENCED_FETCHES),
        (joining_elsewhere, JOIN),
        (committing_with_other_than_enough, TOO_FEW),
        (waiting_as_another_release, FETCH),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else value.__name__,
)
def test_a_changed_rule_does_not_fit(
    played: Played, changed: Callable[[RuleSet], RuleSet], examination: Examination
) -> None:
    predicted = examination.subject.predict(changed(played.rules))

    assert disagreeing(predicted, played.answers(examination)) != []


def letting_nobody_join(rules: RuleSet) -> RuleSet:
    return replace(rules, joins_isr=lambda *_: False)


def test_what_comes_after_the_expected_state_is_seen(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """The controller commits a join when its stage has looked once, and found what the wrong rule expects."""
    if not find_release(played.version).is_at_least(2, 7):
        pytest.skip("before 2.7 a leader has written the in-sync replicas itself when it answers a fetch")
    requests, has_fetched, has_looked = played.run.controller.isr_requests, Event(), Event()
    commit, isr, fetch = requests._commit, PuppetStage.isr, FollowerPuppet.fetch

    def after_a_look(leadership: PartitionLeadership) -> int:
        assert JOINING not in leadership.isr or has_looked.wait(LOOK_DEADLINE_S)
        return commit(leadership)

    def looking(stage: PuppetStage) -> list[int]:
        seen = isr(stage)
        if has_fetched.is_set():
            has_looked.set()
        return seen

    def fetching(follower: FollowerPuppet, *asked: Any, **fields: Any) -> FetchedPartition:  # noqa: ANN401
        answer = fetch(follower, *asked, **fields)
        if follower.broker == JOINING:
            has_fetched.set()
        return answer

    monkeypatch.setattr(requests, "_commit", after_a_look)
    monkeypatch.setattr(PuppetStage, "isr", looking)
    monkeypatch.setattr(FollowerPuppet, "fetch", fetching)
    script, wrong = PuppetScript((Lead(5, isr=(1, 2)), FetchAs(JOINING, 0, 5))), letting_nobody_join(played.rules)

    predicted, measured = script.predict(wrong), tuple(script.play(played.run, "nobody-joins", wrong))

    state = f"2. {script.acts[1].text}: {STATE}"
    assert disagreeing(predicted, measured) == [(state, [0, 0, [1, 2]], [0, 0, [1, 2, 3]])]
