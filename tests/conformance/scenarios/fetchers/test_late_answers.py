"""FE-04/epoch: an answer of another epoch is used or thrown away, by release, and the wire shows which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import NotSeenError
from conformance.record.prediction import frozen_form
from conformance.scenarios.fetchers.fe_04_late_answers import LATE_ANSWER, NEXT
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.vocabulary import BrokerId, MetadataMode
from tests.conformance.questions.hand_made_runs import HandMadeRun

if TYPE_CHECKING:
    from pathlib import Path

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT
QUESTION = LATE_ANSWER.questions[0]


@pytest.mark.parametrize(
    ("version", "metadata", "offset"),
    [
        *((version, ZOOKEEPER, 2) for version in ("0.10.2.2", "0.11.0.3", "1.1.1", "2.0.1")),
        *((version, ZOOKEEPER, 1) for version in ("2.1.1", "2.4.1", "2.7.2")),
        *((version, ZOOKEEPER, 2) for version in ("2.8.2", "3.4.1", "3.6.2")),
        *((version, KRAFT, 2) for version in ("3.4.1", "3.6.2", "3.7.2", "4.0.0")),
        *((version, KRAFT, 1) for version in ("3.9.2", "4.0.1", "4.1.2", "4.3.1")),
        ("3.9.2", ZOOKEEPER, 1),
    ],
)
def test_the_answer_is_used_or_not(version: str, metadata: MetadataMode, offset: int) -> None:
    rules = rules_for(version, metadata)
    prediction = predict(LATE_ANSWER.schedule, rules)

    come, end = (checkpoint.replicas[BrokerId(2)].log_end_offset for checkpoint in prediction.checkpoints)
    assert (come, end) == (offset, 2)
    assert QUESTION.predict(rules, frozen_form(prediction.as_json())) == offset


def test_the_offset_is_read_from_the_held_fetch(tmp_path: Path) -> None:
    made = HandMadeRun(tmp_path)
    made.request(1, "Fetch", (2, 1), hold="before m1", fetch_offset=1)
    made.request(2, "Fetch", (2, 1), hold=NEXT, topic="another", topic_id=None, fetch_offset=7)
    made.request(3, "Fetch", (2, 1), hold=NEXT, fetch_offset=2)

    assert QUESTION.measure(made.run) == 2


def test_a_fetch_that_was_not_held_is_not_seen(tmp_path: Path) -> None:
    made = HandMadeRun(tmp_path)
    made.request(1, "Fetch", (2, 1), hold="before m1", fetch_offset=1)

    with pytest.raises(NotSeenError, match="next fetch"):
        QUESTION.measure(made.run)
