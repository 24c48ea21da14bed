"""Is a schedule said to hold brokers to just the rules without which something else would be measured?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.hunting.rules_at_work import predicted_or_none, rules_held, told_apart, watching
from oracle.predict import predict
from oracle.prediction import Alternative
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import Hold, ReleaseHold
from oracle.steps.questions import ListOffsets
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import OffsetSpec, PointName
from tests.conformance.hunting.rule_sets import LONG, NEEDS_MIN_ISR, NEWEST, ONE, OTHERS, SWAPPED, TWO, schedule, sent

OWN = predict(LONG, NEWEST)


def test_a_rule_is_held_where_its_swap_would_be_measured() -> None:
    held = rules_held(LONG, NEWEST, OTHERS)
    assert "high_watermark" in held[NEEDS_MIN_ISR]
    assert "fetch-of-an-earlier-start-is-refused" not in held


def test_a_schedule_in_which_nothing_happens_holds_no_rule() -> None:
    assert rules_held(schedule(sent("m0"), minimum=1), NEWEST, OTHERS) == {}


def test_only_rules_that_answer_otherwise_are_at_work() -> None:
    watched = watching(NEWEST, OTHERS)
    assert predict(LONG, watched) == OWN
    assert NEEDS_MIN_ISR in watched.at_work
    assert len(watched.at_work) < len(OTHERS) / 2


def test_what_is_the_same_is_not_told_apart() -> None:
    assert told_apart(OWN, OWN) == frozenset()


@pytest.mark.parametrize("code", ["leader", "isr", "elr"])
def test_a_number_of_the_partition_is_told(code: str) -> None:
    fields: dict[str, Any] = {code: (7,)}
    changed = replace(OWN.checkpoints[0], **fields)
    assert told_apart(OWN, replace(OWN, checkpoints=(changed, *OWN.checkpoints[1:]))) == {code}


@pytest.mark.parametrize("code", ["log_start_offset", "log_end_offset", "high_watermark", "alive"])
def test_a_number_of_a_replica_is_told(code: str) -> None:
    first = OWN.checkpoints[0]
    fields: dict[str, Any] = {code: 7}
    numbers = {**first.replicas, ONE: replace(first.replicas[ONE], **fields)}
    changed = replace(first, replicas=numbers, remote_log_end_offsets={**first.remote_log_end_offsets})
    assert told_apart(OWN, replace(OWN, checkpoints=(changed, *OWN.checkpoints[1:]))) == {code}


def test_what_the_leader_knows_of_its_followers_is_told() -> None:
    changed = replace(OWN.checkpoints[0], remote_log_end_offsets={TWO: None})
    assert told_apart(OWN, replace(OWN, checkpoints=(changed, *OWN.checkpoints[1:]))) == {"remote_log_end_offset"}


@pytest.mark.parametrize(
    ("fields", "code"), [({"error": "X"}, "outcome"), ({"fate": None}, "missing"), ({"offset": 9}, "moved")]
)
def test_what_becomes_of_a_record_is_told(fields: dict[str, Any], code: str) -> None:
    changed = replace(OWN.records[0], **fields)
    assert told_apart(OWN, replace(OWN, records=(changed, *OWN.records[1:]))) == {code}


def test_a_log_and_an_answer_are_told() -> None:
    asked = predict(schedule(ListOffsets(OffsetSpec.EARLIEST, ONE), minimum=1), NEWEST)
    assert told_apart(OWN, replace(OWN, logs={})) == {"replica_log"}
    assert told_apart(asked, replace(asked, answers=())) == {"question"}


def test_an_outcome_that_both_can_have_tells_nothing() -> None:
    other = replace(OWN, logs={})
    both = replace(OWN, alternatives=(Alternative((), OWN), Alternative((), other)))
    assert told_apart(OWN, both) == frozenset()
    assert told_apart(OWN, replace(both, alternatives=(Alternative((), other),) * 2)) == {"replica_log"}


def test_of_too_many_outcomes_nothing_is_said() -> None:
    other = Alternative((), replace(OWN, logs={}))
    assert told_apart(OWN, replace(OWN, alternatives=(other,) * 9)) == frozenset()


def test_rules_that_refuse_a_schedule_tell_nothing() -> None:
    held = Hold("h", PointName.ALTER_PARTITION_REQUEST, broker=ONE)
    joining = schedule(held, Kill(TWO), Start(TWO), Checkpoint("held"), ReleaseHold("h"), minimum=1)
    assert predicted_or_none(joining, NEWEST) is not None
    assert predicted_or_none(joining, OTHERS["maximal-isr"]) is None
    assert predicted_or_none(LONG, SWAPPED) != OWN
