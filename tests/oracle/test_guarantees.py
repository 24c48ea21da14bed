"""Which losses break a promise? One row per kind of acknowledgement, settings and election."""

from __future__ import annotations

import pytest

from oracle.guarantees import PromiseVerdict, judge_loss, promise_of
from oracle.schedule import Settings
from oracle.state import Loss
from oracle.vocabulary import Acks, BrokerId, Label, Outcome

SAFE, UNSAFE = Settings(unclean_leader_election=False), Settings(unclean_leader_election=True)
ALLOWED, BROKEN, NONE = PromiseVerdict.ALLOWED_BY_SETTINGS, PromiseVerdict.BROKEN, PromiseVerdict.NONE

ROWS = [
    # acks, outcome, settings, elected cleanly, had appended -> verdict, in the reason
    (Acks.NONE, Outcome.INDETERMINATE, UNSAFE, False, False, NONE, None),
    (Acks.ALL, Outcome.INDETERMINATE, SAFE, True, True, NONE, None),
    (Acks.ALL, Outcome.REFUSED, SAFE, True, False, NONE, None),
    (Acks.LEADER, Outcome.ACKNOWLEDGED, SAFE, True, False, ALLOWED, "acks=1 promises nothing once its leader is gone"),
    (Acks.LEADER, Outcome.ACKNOWLEDGED, UNSAFE, False, True, ALLOWED, "acks=1"),
    (Acks.ALL, Outcome.ACKNOWLEDGED, SAFE, True, True, BROKEN, "had appended the record, cut it"),
    (Acks.ALL, Outcome.ACKNOWLEDGED, SAFE, True, False, BROKEN, "elected cleanly without the record (KAFKA-0)"),
    (Acks.ALL, Outcome.ACKNOWLEDGED, UNSAFE, True, False, BROKEN, "elected cleanly without the record (KAFKA-0)"),
    (Acks.ALL, Outcome.ACKNOWLEDGED, UNSAFE, False, True, BROKEN, "had appended the record, cut it"),
    (Acks.ALL, Outcome.ACKNOWLEDGED, UNSAFE, False, False, ALLOWED, "unclean election on does not promise more"),
    (Acks.ALL, Outcome.ACKNOWLEDGED, SAFE, False, False, ALLOWED, "unclean election off does not promise more"),
]


@pytest.mark.parametrize(("acks", "outcome", "settings", "clean", "appended", "verdict", "reason"), ROWS)
def test_loss_is_judged(
    acks: Acks,
    outcome: Outcome,
    settings: Settings,
    *,
    clean: bool,
    appended: bool,
    verdict: PromiseVerdict,
    reason: str | None,
) -> None:
    loss = Loss(Label("m0"), BrokerId(2), was_clean=clean, had_appended=appended)
    promise = judge_loss(acks, outcome, settings, loss, "KAFKA-0")
    assert promise.verdict is verdict
    assert promise.reason is None if reason is None else reason in str(promise.reason)


@pytest.mark.parametrize(
    ("acks", "outcome", "words"),
    [
        (Acks.NONE, Outcome.INDETERMINATE, None),
        (Acks.NONE, Outcome.ACKNOWLEDGED, None),
        (Acks.LEADER, Outcome.ACKNOWLEDGED, "as long as its leader does"),
        (Acks.ALL, Outcome.ACKNOWLEDGED, "survives every election"),
        (Acks.ALL, Outcome.INDETERMINATE, None),
    ],
)
def test_promise_in_words(acks: Acks, outcome: Outcome, words: str | None) -> None:
    promise = promise_of(acks, outcome)
    assert promise is None if words is None else words in str(promise)
