"""Is an act refused that no interpreter can do, and one that no client does?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.rules.transactions import transaction_rules
from oracle.transactions.courses import ActError, ScriptCourse, check_possible
from oracle.transactions.script import (
    Add,
    CommitOffset,
    Deliver,
    End,
    Initialise,
    MarkAgain,
    ReadPartitions,
    Send,
)

if TYPE_CHECKING:
    from oracle.transactions.script import TransactionAct

OLD, NEW = transaction_rules("3.9.2"), transaction_rules("4.4.0")
A1 = (Initialise(), Send("a1"))
LATE_SEND = (Initialise(), Send("a1", late="x"))
END = ReadPartitions("at the end", is_last=True)


@pytest.mark.parametrize(
    ("acts", "place", "why"),
    [
        ((Send("a1"), END), 0, "its producer has no epoch"),
        ((Initialise(), Deliver("x"), END), 1, "nothing is kept back as 'x'"),
        ((*LATE_SEND, End(commits=False, late="x"), END), 2, "another request is kept back as 'x'"),
        ((*A1, MarkAgain(), END), 2, "partition 0 has no marker"),
        ((Initialise(), Send("a1", again=True), END), 1, "no batch whose sequence number"),
        ((*A1, Send("a1", 1), END), 2, "'a1' is in another partition already"),
        ((Initialise(), Send("COMMIT"), END), 1, "COMMIT is what a marker is called"),
        ((Initialise(), Send("3"), CommitOffset(3), END), 2, "'3' is in another partition already"),
        ((*A1, ReadPartitions("now")), 2, "a script ends with a look"),
        ((*A1, END, END), 2, "a script ends with a look"),
        (A1, 1, "a script ends with a look"),
    ],
)
def test_what_cannot_be_done_is_refused(acts: tuple[TransactionAct, ...], place: int, why: str) -> None:
    with pytest.raises(ActError, match=why) as refused:
        check_possible(acts, OLD)
    assert refused.value.step == place


def test_who_would_wait_for_ever_is_refused() -> None:
    """Where an end begins no epoch by mistake, a batch of the next one waits for a transaction that nobody ends."""
    rules = transaction_rules("4.4.0~transaction-is-verified~batch-of-older-epoch-is-refused")
    acts = (*LATE_SEND, End(commits=False), Deliver("x"), Send("a2"), END)
    with pytest.raises(ActError, match="wait for ever") as refused:
        check_possible(acts, rules)
    assert refused.value.step == 4
    check_possible((*acts[:4], END), rules)


@pytest.mark.parametrize(
    "acts",
    [
        (Initialise(1),),
        (*LATE_SEND, Send("a2")),
        (*LATE_SEND, End(commits=True)),
        (*A1, Send("a1")),
        (*A1, Send("a2"), Send("a1", again=True)),
        (*A1, End(commits=True, late="x"), Send("a2")),
        (*A1, End(commits=True, late="x"), End(commits=False)),
        (*A1, Send("a2", skips=2), Send("a3")),
        (*A1, Send("a2", skips=2), End(commits=True)),
        (*A1, Initialise(1), Send("b1", 1)),
        (*A1, Initialise(1), End(commits=True), End(commits=True)),
        (Initialise(late="x"), Send("a1")),
        (Initialise(), CommitOffset(1), CommitOffset(1)),
        (Initialise(), CommitOffset(1, late="x"), CommitOffset(2)),
    ],
)
def test_what_no_client_does_is_refused(acts: tuple[TransactionAct, ...]) -> None:
    before = ScriptCourse([OLD], acts[:-1])
    with pytest.raises(ActError):
        before.take(acts[-1])
    assert before.acts == acts[:-1]


@pytest.mark.parametrize(
    "acts",
    [
        (*LATE_SEND, Send("a1"), End(commits=True)),
        (*LATE_SEND, End(commits=False), Send("a2"), Deliver("x")),
        (*A1, Send("a1", again=True)),
        (*A1, End(commits=True, late="x"), End(commits=True), Send("a2"), Deliver("x")),
        (*A1, Send("a2", skips=2), End(commits=False), Send("a3")),
        (Initialise(), Add(0, late="x"), Send("a1")),
        (Initialise(), CommitOffset(1, late="x"), CommitOffset(1)),
        (*A1, Initialise(1), Send("a2"), End(commits=False), Initialise()),
    ],
)
def test_what_clients_do_is_taken(acts: tuple[TransactionAct, ...]) -> None:
    assert ScriptCourse([OLD], acts).acts == acts


def test_each_rule_set_must_allow_an_act() -> None:
    swapped = transaction_rules("4.4.0~transaction-is-verified~batch-of-older-epoch-is-refused")
    acts = (*LATE_SEND, End(commits=False), Deliver("x"), Send("a2"))
    assert len(ScriptCourse([NEW], acts).acts) == 5
    with pytest.raises(ActError, match="wait for ever"):
        ScriptCourse([NEW, swapped], acts)
