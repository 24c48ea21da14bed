"""Which questions are refused before any broker is asked? By the release, the version, and what a request carries."""

from __future__ import annotations

import pytest

from oracle.points import NotOnReleaseError
from oracle.steps.brokers import Kill, Pause, Resume, Start
from oracle.steps.questions import Consume, ListOffsets, SendTo
from oracle.steps.step import ScheduleError, Step
from oracle.steps.topic import Reassign
from oracle.vocabulary import Label, Leadership, Offset, OffsetSpec
from tests.oracle.asked import LATEST, TWICE, answers, claims, leadership, sent
from tests.oracle.schedules import NINE, ONE, THREE, TWO, produce

M0, M9 = Label("m0"), Label("m9")


@pytest.mark.parametrize(("kafka", "newest"), [("0.11.0.3", 0), ("2.0.1", 1)])
def test_a_release_without_claims_does_not_apply(kafka: str, newest: int) -> None:
    why = rf"OffsetsForLeaderEpoch {newest} of Kafka {kafka} claims no current leader epoch \(KIP-320: 2\.1\)"
    with pytest.raises(NotOnReleaseError, match=why) as refused:
        answers(*TWICE, claims()[0], Start(ONE), kafka=kafka)
    assert (refused.value.step, refused.value.field) == (len(TWICE), "current")


@pytest.mark.parametrize(("kafka", "version"), [("2.0.1", 1), ("2.8.2", 0), ("2.8.2", 1), ("4.3.1", 1)])
def test_a_claim_in_a_version_without_the_field_is_refused(kafka: str, version: int) -> None:
    with pytest.raises(ScheduleError, match=f"{version} has no such field: ask in version 2 or newer") as refused:
        answers(*TWICE, claims(version)[0], Start(ONE), kafka=kafka)
    assert not isinstance(refused.value, NotOnReleaseError)
    assert (refused.value.step, refused.value.field) == (len(TWICE), "current")


@pytest.mark.parametrize(
    ("step", "kafka", "why"),
    [
        (leadership(0), "0.10.2.2", "has no OffsetsForLeaderEpoch"),
        (ListOffsets(OffsetSpec.LATEST, version=5), "2.1.1", "^Kafka 2.1.1 speaks ListOffsets no newer than 4, not 5"),
        (leadership(0, version=1), "4.3.1", "^Kafka 4.3.1 speaks OffsetsForLeaderEpoch no older than 2, not 1"),
        (Consume(version=3), "4.3.1", "^Kafka 4.3.1 speaks Fetch no older than 4, not 3"),
        (Consume(version=15), "4.3.1", "^the tester asks with Fetch 4 to 12 of Kafka 4.3.1, not 15"),
        (ListOffsets(OffsetSpec.LATEST, version=0), "2.1.1", "^the tester asks with ListOffsets 1 to 4 of Kafka 2.1.1"),
    ],
)
def test_a_release_that_cannot_be_asked_so(step: Step, kafka: str, why: str) -> None:
    with pytest.raises(NotOnReleaseError, match=why):
        answers(produce("m0"), step, kafka=kafka)


@pytest.mark.parametrize(
    ("steps", "at", "field", "why"),
    [
        ((Consume(NINE),), 0, "broker", "broker names what the schedule does not have: 9; it has 1, 2"),
        ((ListOffsets(OffsetSpec.TIMESTAMP),), 0, "spec", "spec: timestamp needs timestamp_of: LABEL"),
        (
            (ListOffsets(OffsetSpec.LATEST, timestamp_of=M0),),
            *(0, "timestamp_of", "timestamp_of only with spec: timestamp, not latest"),
        ),
        ((ListOffsets(OffsetSpec.TIMESTAMP, timestamp_of=M9),), 0, "timestamp_of", "not produced yet: m9$"),
        (
            (produce("m0", "m1"), ListOffsets(OffsetSpec.TIMESTAMP, timestamp_of=M9)),
            *(1, "timestamp_of", "not produced yet: m9; it has m0, m1"),
        ),
        ((sent("m0", 1, 1), sent("m0", 1, 1)), 1, "record", "label 'm0' is produced twice"),
        ((Kill(TWO), Consume(TWO), Start(TWO)), 1, "broker", "broker 2 is down: it answers nobody"),
        ((Pause(TWO), Consume(TWO), Resume(TWO)), 1, "broker", "broker 2 is paused: it answers nobody"),
        (
            (Pause(TWO), ListOffsets(OffsetSpec.LATEST, TWO), Resume(TWO)),
            *(1, "broker", "broker 2 is paused: it answers nobody"),
        ),
        ((Pause(TWO), leadership(0, TWO), Resume(TWO)), 1, "broker", "broker 2 is paused"),
        ((Pause(TWO), sent("m0", 2, 1), Resume(TWO)), 1, "broker", "broker 2 is paused"),
        ((Reassign((ONE, THREE)), Consume(TWO)), 1, "broker", "broker 2 has no replica"),
        ((Kill(TWO), Kill(ONE), LATEST, Start(ONE), Start(TWO)), 2, "broker", "nobody leads: name the broker"),
    ],
)
def test_a_question_that_nobody_can_answer(steps: tuple[Step, ...], at: int, field: str, why: str) -> None:
    with pytest.raises(ScheduleError, match=why) as refused:
        answers(*steps)
    assert (refused.value.step, refused.value.field) == (at, field)


@pytest.mark.parametrize(
    ("step", "field", "range_of_it"),
    [
        (Consume(offset=Offset(-1)), "offset", "0 to 9223372036854775807 (int64), not -1"),
        (Consume(offset=Offset(2**63)), "offset", "0 to 9223372036854775807 (int64), not 9223372036854775808"),
        (Consume(version=-1), "version", "0 to 32767 (int16), not -1"),
        (ListOffsets(OffsetSpec.LATEST, version=2**15), "version", "0 to 32767 (int16), not 32768"),
        (leadership(-1), "leadership", "0 to 1073741823 (half of an int32, which the epoch is), not -1"),
        (leadership(0, current=Leadership(2**30)), "current", "(half of an int32, which the epoch is), not 1073741824"),
        (leadership(0, version=2**15), "version", "0 to 32767 (int16), not 32768"),
        (SendTo(M0, ONE, 2**15), "acks", "-32768 to 32767 (int16), not 32768"),
        (SendTo(M0, ONE, -(2**15) - 1), "acks", "-32768 to 32767 (int16), not -32769"),
        (SendTo(M0, ONE, timeout_ms=0), "timeout_ms", "1 to 2147483647 (int32), not 0"),
        (SendTo(M0, ONE, timeout_ms=2**31), "timeout_ms", "1 to 2147483647 (int32), not 2147483648"),
    ],
)
def test_a_number_that_no_request_can_carry(step: Step, field: str, range_of_it: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        answers(step)
    assert (refused.value.step, refused.value.field) == (0, field)
    assert str(refused.value).startswith(f"{field} must be from ")
    assert str(refused.value).endswith(range_of_it)


@pytest.mark.parametrize("acks", [-(2**15), 2**15 - 1])
def test_the_outermost_numbers_are_carried(acks: int) -> None:
    told = answers(SendTo(M0, ONE, acks, 2**31 - 1), Consume(offset=Offset(2**63 - 1)))
    assert told[0]["answer"] == "INVALID_REQUIRED_ACKS"
    assert told[1]["error"] == "OFFSET_OUT_OF_RANGE"
