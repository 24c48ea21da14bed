"""Is the promise of an examination judged by what was measured, and not by what was predicted?"""

from __future__ import annotations

import pytest

from conformance.judgement.promises import PromisedAnswer, promises_of_answers
from conformance.judgement.verdicts import judge_answers
from conformance.record.answers import ComparedAnswer
from conformance.record.verdict import Conformance, PromiseKept, RecordLoss
from oracle.transactions.promised import MISSING, UNASKED


def answered(predicted: list[object], measured: list[object] | None) -> PromisedAnswer:
    return PromisedAnswer(MISSING, predicted, measured)


@pytest.mark.parametrize(
    ("promised", "kept", "why"),
    [
        ((), PromiseKept.NO_PROMISE, None),
        ((answered([], []),), PromiseKept.KEPT, None),
        ((answered(["a2"], []),), PromiseKept.KEPT, None),
        ((answered(["a2"], None),), None, None),
        ((answered(["a2"], ["a2"]),), PromiseKept.BROKEN_AS_PREDICTED, "consumers are not given: a2"),
        ((answered([], ["a2"]),), PromiseKept.BROKEN, "consumers are not given: a2: not predicted"),
        (
            (answered(["a2"], ["a2"]), PromisedAnswer(UNASKED, [], ["a1"])),
            PromiseKept.BROKEN,
            "nobody has asked to commit: a1: not predicted",
        ),
    ],
)
def test_a_promise_is_kept_or_broken(
    promised: tuple[PromisedAnswer, ...], kept: PromiseKept | None, why: str | None
) -> None:
    found, reason = promises_of_answers(promised)
    assert found is kept
    assert (reason or "").endswith(why or "")
    assert (reason is None) is (why is None)


def test_the_reason_says_what_broke_it() -> None:
    asked = [ComparedAnswer(MISSING, "[a2]", "[a2]", None, agrees=True)]
    verdict = judge_answers(asked, None, (answered(["a2"], ["a2"]),))
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, PromiseKept.BROKEN_AS_PREDICTED)
    said = "acknowledged records of committed transactions that consumers are not given: a2"
    assert verdict.reason == f"1 answer as predicted; {said}"
    assert verdict.promise_reason == said
    assert verdict.losses == (RecordLoss("a2", "broken", said),)


def test_only_what_is_missing_is_lost() -> None:
    verdict = judge_answers([], None, (PromisedAnswer(UNASKED, ["a1"], ["a1"]), answered([], ["a2"])))
    assert [(loss.label, loss.reason[:15]) for loss in verdict.losses] == [("a2", "not predicted: ")]


def test_nothing_is_said_of_the_promise_of_an_examination_that_ended_early() -> None:
    verdict = judge_answers([], ("INCONCLUSIVE", "it ended"), (answered([], ["a2"]),))
    assert (verdict.promise, verdict.promise_reason) == (None, None)
