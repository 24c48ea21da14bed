"""What does the model say that a rack-aware consumer is answered, and does a broker that says otherwise deviate?"""

from __future__ import annotations

import pytest

from conformance.catalogue.questions import agrees
from conformance.examining.preferred_replica import RackAware
from conformance.scenarios.high_watermark.hw_02_visible_records import NEAR_ITS_RACK
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

LINES = [("2.4.1", MetadataMode.ZOOKEEPER), ("3.9.2", MetadataMode.ZOOKEEPER), ("4.3.1", MetadataMode.KRAFT)]
SENT_AWAY, NOTHING = [None, 2, []], [None, None, []]


def predicted(line: tuple[str, MetadataMode]) -> list[object]:
    return [answer.value for answer in RackAware().predict(rules_for(*line))]


@pytest.mark.parametrize("line", LINES, ids=str)
def test_the_follower_is_named_while_it_has_the_offset_and_shows_what_it_knows_to_be_committed(
    line: tuple[str, MetadataMode],
) -> None:
    served = [None, None, [0]]
    assert predicted(line) == [
        *(SENT_AWAY, served, served, served, served),
        *(served, NOTHING, SENT_AWAY, [None, None, [1]]),
        [None, None, [1]],
        *(SENT_AWAY, NOTHING, NOTHING),
    ]


@pytest.mark.parametrize(
    ("index", "told"),
    [
        (0, [None, None, [0]]),  # a leader that knows of no racks
        (5, [None, None, [0, 1]]),  # a follower that shows what it does not know to be committed
        (6, ["OFFSET_OUT_OF_RANGE", None, []]),
        (11, SENT_AWAY),  # a leader that sends consumers to where the offset is not
    ],
)
def test_a_broker_that_answers_otherwise_deviates(index: int, told: list[object]) -> None:
    assert not agrees(predicted(LINES[-1])[index], told)  # type: ignore[arg-type]


def test_it_is_not_run_before_followers_serve_consumers() -> None:
    entry = NEAR_ITS_RACK
    reason = entry.where.reason_not_to_run("2.3.1", MetadataMode.ZOOKEEPER)
    assert reason is not None
    assert "no follower answers a consumer" in reason
    assert entry.where.reason_not_to_run("2.4.1", MetadataMode.ZOOKEEPER) is None
