"""Does a real broker show the defects of its release to puppets, and is another release's prediction told apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import agrees
from conformance.examining.defects_with_puppets import ANSWERED_AT_ONCE, FETCHES, LEADER, NEXT_LEADER
from conformance.puppet_scripts.script import REPLICAS, OneBroker
from conformance.scenarios.regressions.with_puppets import (
    EMPTY_EPOCH,
    FENCED_LATE,
    HIGH_WATERMARK_PUSHED,
    LOG_BEGINS_LATE,
    LOG_ENDS_LATER,
)
from fault_injection.puppets.run import PuppetRun
from fault_injection.puppets.served_topics import PuppetTopic
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.catalogue.examination import Examination
    from conformance.catalogue.questions import QuestionAnswer
    from conformance.record.answers import Value

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]

WITH_DEFECTS, WITHOUT = "2.5.1", "2.6.3"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PuppetRun]:
    with PuppetRun.start(WITH_DEFECTS, tmp_path_factory.mktemp("puppets")) as running:
        yield running
        assert running.failures == ()


def predicted(examination: Examination, version: str) -> tuple[QuestionAnswer, ...]:
    return examination.subject.predict(rules_for(version, MetadataMode.ZOOKEEPER))


@pytest.mark.parametrize(
    ("examination", "otherwise_later"),
    [(HIGH_WATERMARK_PUSHED, [ANSWERED_AT_ONCE]), (EMPTY_EPOCH, [FETCHES]), (FENCED_LATE, []), (LOG_BEGINS_LATE, [])],
    ids=["KAFKA-9952", "KAFKA-10706", "KAFKA-7786", "KAFKA-9491"],
)
def test_the_broker_shows_the_defects_of_its_release(
    run: PuppetRun, examination: Examination, otherwise_later: list[str]
) -> None:
    measured = played(run, examination)
    assert otherwise(predicted(examination, WITH_DEFECTS), measured) == [], asked_of_puppets(run, examination)
    assert otherwise(predicted(examination, WITHOUT), measured) == otherwise_later


@pytest.mark.parametrize(
    ("examination", "broken", "repaired"),
    [(LOG_BEGINS_LATE, "2.4.0", "2.4.1"), (LOG_ENDS_LATER, "1.1.1", "2.0.1")],
    ids=["KAFKA-9491", "KAFKA-7414"],
)
def test_every_answer_tells_the_broken_release_from_the_repaired_one(
    tmp_path: Path, examination: Examination, broken: str, repaired: str
) -> None:
    with PuppetRun.start(broken, tmp_path) as run:
        measured = played(run, examination)
        assert run.failures == ()
    assert otherwise(predicted(examination, broken), measured) == []
    assert otherwise(predicted(examination, repaired), measured) == list(measured)


def test_a_follower_without_an_epoch_asks_first_where_it_ends_up_to_2_0(tmp_path: Path) -> None:
    with PuppetRun.start("2.0.1", tmp_path) as run:
        measured = played(run, LOG_BEGINS_LATE)
        assert run.failures == ()
    assert otherwise(predicted(LOG_BEGINS_LATE, "2.0.1"), measured) == []


def played(run: PuppetRun, examination: Examination) -> dict[str, Value]:
    """Play an examination; give what was measured, by what was asked."""
    assert isinstance(examination.subject, OneBroker)
    measured: dict[str, Value] = {}
    for answer in examination.subject.play(run, topic_of(examination)):
        measured[answer.what] = answer.value  # type: ignore[assignment]  # a measured answer is no range
    return measured


def topic_of(examination: Examination) -> str:
    return examination.id.replace("/", "-")


def asked_of_puppets(run: PuppetRun, examination: Examination) -> str:
    """Tell what the broker asked its leaders, and what it logged of it: a wrong answer is to be explained."""
    topic = PuppetTopic(topic_of(examination), REPLICAS)
    asked = {broker: run.leader(broker).asked(topic) for broker in (LEADER, NEXT_LEADER)}
    logged = (line for line in run.cluster.log_text(1).splitlines() if topic.name in line)
    return "\n".join([*map(str, asked.items()), *logged])


def otherwise(expected: tuple[QuestionAnswer, ...], measured: dict[str, Value]) -> list[str]:
    """Name what was measured otherwise than predicted."""
    return [answer.what for answer in expected if not agrees(answer.value, measured[answer.what])]
