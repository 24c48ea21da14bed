"""Is a course the same play as the prediction, and does it tell what is late, again, and what becomes of a batch?"""

from __future__ import annotations

import pytest

from conformance.examining import transaction_scripts as scripts
from conformance.examining.transaction_scripts import TransactionScript
from oracle.rules.transactions import transaction_rules
from oracle.transactions.course import ABORTED, COMMITTED, OPEN, PlayedAct, WatchedPlay, ends_of, watch
from oracle.transactions.leader import outcomes
from oracle.transactions.script import Deliver, End, Initialise, MarkAgain, Send, asked, predict
from oracle.transactions.state import EndTxn, InitProducerId, ProduceBatch, Record, TxnBatch, TxnPhase, WriteTxnMarker

ALL = {name: one for name, one in vars(scripts).items() if isinstance(one, TransactionScript)}
VERSIONS = ("0.11.0.3", "2.8.2", "3.9.2", "4.0.0", "4.4.0")


def watched(version: str, *acts: object) -> tuple[tuple[PlayedAct, ...], WatchedPlay]:
    return watch(acts, transaction_rules(version))  # type: ignore[arg-type]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", sorted(ALL))
def test_what_is_told_is_what_is_predicted(name: str, version: str) -> None:
    script = ALL[name]
    rules = transaction_rules(version, script.level if version[0] == "4" else None)
    acts, play = watch(script.acts, rules)
    told = tuple((asked(act.number, act.act, what), value) for act in acts for what, value in act.told)
    assert told == predict(script.acts, rules)
    assert acts[-1].after == play.known
    for log in play.logs:
        decided = outcomes(log.batches)
        ends = zip(log.batches, ends_of(log.batches), strict=True)
        for batch, end in ends:
            if batch.record is not None:
                known = decided.get(batch.record)
                assert end == (OPEN if known is None else COMMITTED if known[-1] else ABORTED)
            else:
                assert end is None


def test_a_late_request_has_its_name_where_it_is_kept_back_and_where_it_arrives() -> None:
    acts, _ = watched("3.9.2", Initialise(), Initialise(1), Send("a", producer=1, late="it"), Send("b", producer=1))
    (kept,) = [one for one in acts[2].requests if isinstance(one.request, ProduceBatch)]
    assert (kept.late, kept.answer, kept.sender) == ("it", None, 1)
    acts, _ = watched("3.9.2", Initialise(), Send("a", late="it"), End(commits=False), Deliver("it"))
    assert [(one.late, one.answer is None) for act in acts for one in act.requests if one.late] == [
        ("it", True),
        ("it", False),
    ]


def test_only_a_marker_of_an_earlier_act_is_there_again() -> None:
    acts, _ = watched("3.9.2", Initialise(), Send("a"), End(commits=True), Send("b"), MarkAgain(), End(commits=True))
    markers = [one for act in acts for one in act.requests if isinstance(one.request, WriteTxnMarker)]
    assert [one.is_again for one in markers] == [False, True, False]
    assert {one.sender for one in markers} == {None}


def test_a_transaction_is_complete_with_the_answer_to_its_last_marker() -> None:
    acts, _ = watched("3.9.2", Initialise(), Send("a"), Send("b", 1), End(commits=True))
    phases = [(type(one.request), one.after.coordinator.phase) for one in acts[-1].requests]
    assert phases == [
        (EndTxn, TxnPhase.PREPARE_COMMIT),
        (WriteTxnMarker, TxnPhase.PREPARE_COMMIT),
        (WriteTxnMarker, TxnPhase.COMPLETE_COMMIT),
    ]


def test_who_is_told_to_wait_asks_again() -> None:
    acts, _ = watched("3.9.2", Initialise(), Send("a"), Initialise(1))
    kinds = [type(one.request) for one in acts[-1].requests]
    assert kinds == [InitProducerId, WriteTxnMarker, InitProducerId]
    assert acts[-1].epochs == ((0, 0), (1, 2))


def test_the_first_marker_behind_a_batch_decides() -> None:
    record = Record(0, 0)
    batches = [TxnBatch(0, 0, record), TxnBatch(0, -1, None, commits=True), TxnBatch(0, 1, record)]
    assert ends_of(batches) == [COMMITTED, None, OPEN]
    assert ends_of([*batches, TxnBatch(0, -1, None)]) == [COMMITTED, None, ABORTED, None]
