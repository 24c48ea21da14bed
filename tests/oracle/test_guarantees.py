"""Which losses break a promise? One row per kind of acknowledgement, settings and election."""

from __future__ import annotations

import pytest

from oracle.guarantees import PromiseVerdict, judge_loss, promise_of
from oracle.schedule import TopicSettings
from oracle.state import LostRecord
from oracle.vocabulary import Acks, BrokerId, Label, ProduceOutcome

SAFE, UNSAFE = TopicSettings(unclean_leader_election=False), TopicSettings(unclean_leader_election=True)
ALLOWED, BROKEN, NONE = PromiseVerdict.ALLOWED_BY_SETTINGS, PromiseVerdict.BROKEN, PromiseVerdict.NONE

ROWS = [
    # acks, outcome, settings, elected cleanly, had appended -> verdict, in the reason
    (Acks.NONE, ProduceOutcome.INDETERMINATE, UNSAFE, False, False, NONE, None),
    (Acks.ALL, ProduceOutcome.INDETERMINATE, SAFE, True, True, NONE, None),
    (Acks.ALL, ProduceOutcome.REFUSED, SAFE, True, False, NONE, None),
    (
        Acks.LEADER,
        ProduceOutcome.ACKNOWLEDGED,
        SAFE,
        True,
        False,
        ALLOWED,
        "acks=1 promises nothing once its leader is gone",
    ),
    (Acks.LEADER, ProduceOutcome.ACKNOWLEDGED, UNSAFE, False, True, ALLOWED, "acks=1"),
    (Acks.ALL, ProduceOutcome.ACKNOWLEDGED, SAFE, True, True, BROKEN, "had appended the record, cut it"),
    (Acks.ALL, ProduceOutcome.ACKNOWLEDGED, SAFE, True, False, BROKEN, "elected cleanly without the record (KAFKA-0)"),
    (
        Acks.ALL,
        ProduceOutcome.ACKNOWLEDGED,
        UNSAFE,
        True,
        False,
        BROKEN,
        "elected cleanly without the record (KAFKA-0)",
    ),
    (Acks.ALL, ProduceOutcome.ACKNOWLEDGED, UNSAFE, False, True, BROKEN, "had appended the record, cut it"),
    (Acks.ALL, ProduceOutcome.ACKNOWLEDGED, UNSAFE, False, False, ALLOWED, "unclean election on does not promise more"),
    (Acks.ALL, ProduceOutcome.ACKNOWLEDGED, SAFE, False, False, ALLOWED, "unclean election off does not promise more"),
]


@pytest.mark.parametrize(("acks", "outcome", "settings", "clean", "appended", "verdict", "reason"), ROWS)
def test_loss_is_judged(
    acks: Acks,
    outcome: ProduceOutcome,
    settings: TopicSettings,
    *,
    clean: bool,
    appended: bool,
    verdict: PromiseVerdict,
    reason: str | None,
) -> None:
    loss = LostRecord(Label("m0"), BrokerId(2), was_clean=clean, had_appended=appended)
    promise = judge_loss(acks, outcome, settings, loss, "KAFKA-0")
    assert promise.verdict is verdict
    assert promise.reason is None if reason is None else reason in str(promise.reason)


@pytest.mark.parametrize(
    ("acks", "outcome", "words"),
    [
        (Acks.NONE, ProduceOutcome.INDETERMINATE, None),
        (Acks.NONE, ProduceOutcome.ACKNOWLEDGED, None),
        (Acks.LEADER, ProduceOutcome.ACKNOWLEDGED, "as long as its leader does"),
        (Acks.ALL, ProduceOutcome.ACKNOWLEDGED, "survives every election"),
        (Acks.ALL, ProduceOutcome.INDETERMINATE, None),
    ],
)
def test_promise_in_words(acks: Acks, outcome: ProduceOutcome, words: str | None) -> None:
    promise = promise_of(acks, outcome)
    assert promise is None if words is None else words in str(promise)
