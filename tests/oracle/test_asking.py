"""What does a broker answer in the middle of a schedule? By its role, its numbers, its release and the version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import AwaitHold, ReleaseHold
from oracle.steps.questions import Consume, ListOffsets, SendTo
from oracle.steps.topic import DeleteRecords
from oracle.vocabulary import (
    Expectation,
    Fate,
    Label,
    MetadataMode,
    Offset,
    OffsetSpec,
    PointName,
    ProduceOutcome,
)
from tests.oracle.asked import EARLIEST, LATEST, TWICE, answers, claims, leadership, sent
from tests.oracle.open_races import answer_before_or_after_the_second_fetch
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.steps.step import Step

M0, M1 = Label("m0"), Label("m1")
FENCED, UNKNOWN = "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"
NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"
HELD: tuple[Step, ...] = (produce("m0"), hold("gap", fetch_offset=1), AwaitHold("gap"))
PENDING = produce("m1", expect=Expectation.PENDING)


def consumed(*records: str, high_watermark: int) -> dict[str, Any]:
    return {"error": None, "records": list(records), "high_watermark": high_watermark}


def test_a_consumer_sees_what_is_below_the_high_watermark_of_the_broker_it_asks() -> None:
    told = answers(*HELD, PENDING, Consume(), Consume(TWO), ReleaseHold("gap"), Consume(), Consume(TWO, Offset(1)))

    assert told[:2] == [consumed("m0", high_watermark=1), consumed("m0", high_watermark=1)]
    assert told[2:] == [consumed("m0", "m1", high_watermark=2), consumed("m1", high_watermark=2)]


@pytest.mark.parametrize(
    ("kafka", "version", "error"),
    [("0.10.2.2", None, NOT_LEADER), ("2.3.1", 11, NOT_LEADER), ("2.4.1", 10, NOT_LEADER), ("2.4.1", 11, None)],
)
def test_a_follower_serves_consumers_from_a_release_and_a_version_on(
    kafka: str, version: int | None, error: str | None
) -> None:
    (told,) = answers(produce("m0"), Consume(TWO, version=version), kafka=kafka)
    assert (told["error"], told["records"]) == (error, [] if error else ["m0"])


def test_offsets_beyond_the_log_and_before_its_start_are_out_of_range() -> None:
    refused: dict[str, Any] = {"error": "OFFSET_OUT_OF_RANGE", "records": [], "high_watermark": None}
    deleted = (produce("m0", "m1"), DeleteRecords(Offset(1)))

    assert answers(*HELD, PENDING, Consume(offset=Offset(2)), ReleaseHold("gap")) == [consumed(high_watermark=1)]
    assert answers(*HELD, PENDING, Consume(offset=Offset(3)), ReleaseHold("gap")) == [refused]
    assert answers(*deleted, Consume(), Consume(offset=Offset(1))) == [refused, consumed("m1", high_watermark=2)]


def test_the_leader_lists_its_first_offset_and_its_high_watermark() -> None:
    told = answers(produce("m0", "m1"), DeleteRecords(Offset(1)), EARLIEST, LATEST)
    assert [answer["offset"] for answer in told] == [1, 2]
    assert answers(*HELD, PENDING, LATEST, ReleaseHold("gap"), LATEST) == [
        {"error": None, "offset": 1},
        {"error": None, "offset": 2},
    ]


def test_a_follower_lists_nothing() -> None:
    assert answers(produce("m0"), ListOffsets(OffsetSpec.EARLIEST, TWO)) == [{"error": NOT_LEADER, "offset": None}]


@pytest.mark.parametrize(("kafka", "at_high_watermark"), [("0.10.2.2", 1), ("0.11.0.3", None), ("4.3.1", None)])
def test_a_lookup_by_time_finds_committed_records(kafka: str, at_high_watermark: int | None) -> None:
    by_time = [ListOffsets(OffsetSpec.TIMESTAMP, timestamp_of=label) for label in (M0, M1)]
    told = answers(*HELD, PENDING, *by_time, ReleaseHold("gap"), by_time[1], kafka=kafka)
    assert [answer["offset"] for answer in told] == [0, at_high_watermark, 1]


def test_the_time_of_a_deleted_record_finds_the_next_one() -> None:
    told = answers(produce("m0", "m1"), DeleteRecords(Offset(1)), ListOffsets(OffsetSpec.TIMESTAMP, timestamp_of=M0))
    assert told == [{"error": None, "offset": 1}]


ELECTED: tuple[Step, ...] = (
    hold("answer to 2", PointName.FETCH_RESPONSE, fetch_offset=1),
    hold("answer to 3", PointName.FETCH_RESPONSE, follower=THREE, fetch_offset=1),
    produce("m0"),
    hold("first fetch", follower=THREE, leader=TWO),
    Kill(ONE),
)


@pytest.mark.parametrize(
    ("kafka", "version", "answer"),
    [
        ("2.1.1", 1, {"error": None, "offset": 0}),
        ("2.1.1", None, {"error": None, "offset": 0}),
        ("2.3.1", 4, {"error": "LEADER_NOT_AVAILABLE", "offset": None}),
        ("2.3.1", None, {"error": "OFFSET_NOT_AVAILABLE", "offset": None}),
    ],
)
def test_a_new_leader_does_not_tell_a_high_watermark_before_its_epoch(
    kafka: str, version: int | None, answer: dict[str, Any]
) -> None:
    latest = ListOffsets(OffsetSpec.LATEST, version=version)
    by_time = ListOffsets(OffsetSpec.TIMESTAMP, timestamp_of=M0, version=version)
    told = answers(
        *ELECTED, latest, by_time, ReleaseHold("first fetch"), latest, kafka=kafka, replicas=(ONE, TWO, THREE)
    )
    expected_by_time = answer if answer["error"] else {"error": None, "offset": None}
    assert told == [answer, expected_by_time, {"error": None, "offset": 1}]


def epoch_end(leader: int | None, end: int | None) -> dict[str, Any]:
    return {"error": None, "leadership": leader, "end_offset": end}


@pytest.mark.parametrize(("kafka", "names"), [("0.11.0.3", False), ("2.0.1", True), ("2.8.2", True), ("4.3.1", True)])
def test_an_epoch_ends_where_the_next_begins_and_the_own_at_the_log_end(kafka: str, names: bool) -> None:
    told = answers(*TWICE, leadership(0), leadership(1), leadership(2), Start(ONE), kafka=kafka)
    first, second = (0, 1) if names else (None, None)
    assert told == [epoch_end(first, 1), epoch_end(second, 3), epoch_end(None, None)]


@pytest.mark.parametrize(("kafka", "version"), [("2.1.1", None), ("2.8.2", 2), ("4.3.1", None)])
def test_a_claimed_epoch_is_checked(kafka: str, version: int | None) -> None:
    told = answers(*TWICE, *claims(version), Start(ONE), kafka=kafka)
    assert [one["error"] for one in told] == [FENCED, None, UNKNOWN]


def test_a_follower_knows_no_epochs() -> None:
    (told,) = answers(produce("m0"), leadership(0, broker=TWO))
    assert told == {"error": NOT_LEADER, "leadership": None, "end_offset": None}


@pytest.mark.parametrize(
    ("step", "heard", "offset", "is_written"),
    [
        (sent("m0", 1, -1), "acknowledged", 0, True),
        (sent("m0", 1, 1), "acknowledged", 0, True),
        (sent("m0", 1, 0), "no answer", None, True),
        (sent("m0", 1, 7), "INVALID_REQUIRED_ACKS", None, False),
        (sent("m0", 2, 7), "INVALID_REQUIRED_ACKS", None, False),
        (sent("m0", 2, -1), NOT_LEADER, None, False),
        (sent("m0", 2, 1), NOT_LEADER, None, False),
        (sent("m0", 2, 0), "connection closed", None, False),
    ],
)
def test_what_a_broker_answers_to_a_producer(
    step: SendTo,
    heard: str,
    offset: int | None,
    is_written: bool,
) -> None:
    prediction = predict(schedule(step), rules_for("2.8.2", MetadataMode.ZOOKEEPER))
    (told,) = prediction.as_json()["answers"]
    (record,) = prediction.records

    assert told["answer"] == {"answer": heard, "offset": offset, "written": is_written}
    assert record.fate is (Fate.PRESENT if is_written else Fate.ABSENT)
    outcome = {"acknowledged": ProduceOutcome.ACKNOWLEDGED, "no answer": ProduceOutcome.INDETERMINATE}
    assert record.outcome is (
        ProduceOutcome.INDETERMINATE if step.acks == 0 else outcome.get(heard, ProduceOutcome.REFUSED)
    )
    assert record.acks == step.acks


def test_why_nothing_was_written() -> None:
    told = predict(schedule(sent("m0", 1, 7), sent("m1", 2, 0)), rules_for("2.8.2", MetadataMode.ZOOKEEPER)).records
    assert "refused with INVALID_REQUIRED_ACKS at step 1 (send_to m0) by acks-is-all-none-or-one" in told[0].decided_by
    assert told[1].decided_by == "sent with acks=0 to a broker that does not lead, nothing was written"


def test_too_few_in_sync_replicas_and_a_timeout() -> None:
    refused = answers(Kill(TWO), sent("m0", 1, -1), Start(TWO), min_isr=2)
    timed_out = answers(*HELD, SendTo(M1, ONE, -1, 1_000), ReleaseHold("gap"))

    assert refused == [{"answer": "NOT_ENOUGH_REPLICAS", "offset": None, "written": False}]
    assert timed_out == [{"answer": "REQUEST_TIMED_OUT", "offset": None, "written": True}]


def test_an_answer_that_a_race_decides_has_its_values() -> None:
    asked = Consume(TWO, Offset(0))
    prediction = predict(answer_before_or_after_the_second_fetch(asked), rules_for("2.4.1", MetadataMode.ZOOKEEPER))

    told = [alternative.as_json()["answers"][0]["answer"] for alternative in prediction.alternatives]
    assert told == [consumed(high_watermark=0), consumed("m0", high_watermark=1)]
    assert "step 8 (consume from broker 2 from offset 0 on): records is () or ('m0',)" in prediction.races
