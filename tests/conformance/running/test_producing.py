"""What is written down of a record that nobody collected: what a broker said, and nothing that the client made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.clients.one_produce import OneRecord
from conformance.clients.producer import DeliveryReport
from conformance.record.ledger import LedgerWriter
from conformance.running import producing as producing_module
from conformance.running.producing import RecordSender
from oracle.vocabulary import Label, ProduceOutcome
from tests.oracle.schedules import produce, schedule

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.observations import OutcomeSeen

ACKNOWLEDGED = DeliveryReport(ProduceOutcome.ACKNOWLEDGED, None, 0)
PURGED = DeliveryReport(ProduceOutcome.INDETERMINATE, "_PURGE_INFLIGHT", None)
REFUSED = DeliveryReport(ProduceOutcome.INDETERMINATE, "NOT_LEADER_OR_FOLLOWER", None)


@pytest.mark.parametrize(
    ("before", "after", "written"),
    [
        (ACKNOWLEDGED, ACKNOWLEDGED, ("acknowledged", None)),
        (None, REFUSED, ("indeterminate", "NOT_LEADER_OR_FOLLOWER")),
        (None, PURGED, ("indeterminate", "GIVEN_UP")),
        (None, None, ("indeterminate", "GIVEN_UP")),
    ],
)
def test_a_record_that_is_given_up(
    tmp_path: Path, before: DeliveryReport | None, after: DeliveryReport | None, written: tuple[str, str | None]
) -> None:
    known = [before]
    sending = SimpleNamespace(poll=lambda: known[0], close=lambda: known.__setitem__(0, after))
    seen: list[OutcomeSeen] = []
    producing = _producing(tmp_path, seen, m0=sending)
    producing.give_up_pending()
    assert [(one.outcome, one.error) for one in seen] == [written]


def test_what_a_step_sees_answered_is_written_down_with_that_step(tmp_path: Path) -> None:
    """Of a run that ends early it counts; what comes as the producers are cut off does not."""
    seen: list[OutcomeSeen] = []
    answers: dict[str, DeliveryReport | None] = {"m0": ACKNOWLEDGED, "m1": None}
    closed: list[str] = []
    sendings = {
        label: SimpleNamespace(poll=lambda label=label: answers[label], close=lambda label=label: closed.append(label))
        for label in answers
    }
    producing = _producing(tmp_path, seen, **sendings)
    producing.note_answered()
    producing.note_answered()
    assert [one.label for one in seen] == closed == ["m0"]
    answers["m1"] = ACKNOWLEDGED
    producing.note_answered()
    producing.give_up_pending()
    assert [(one.label, one.outcome) for one in seen] == [("m0", "acknowledged"), ("m1", "acknowledged")]


@pytest.mark.parametrize(
    ("unreachable", "leader", "is_named", "goes_straight"),
    [
        (frozenset(), 1, False, False),
        (frozenset(), 1, True, True),
        ({1}, 1, False, True),
        ({2}, 1, False, True),
        ({2}, None, False, False),
    ],
)
def test_no_client_asks_a_broker_that_may_name_the_leader_of_before(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    unreachable: set[int],
    leader: int | None,
    is_named: bool,
    goes_straight: bool,
) -> None:
    monkeypatch.setattr(producing_module, "DirectSending", lambda *_: "straight")
    monkeypatch.setattr(producing_module, "send", lambda *_, **__: "by metadata")
    producing = _producing(tmp_path, [], m0=None)
    producing._rest = cast("Any", SimpleNamespace(unreachable=lambda: unreachable))
    record = OneRecord(0, -1, 1_000, 0, 100)
    sent = producing._sending("127.0.0.1:9092", record, leader, is_named=is_named)
    assert sent == ("straight" if goes_straight else "by metadata")


def _producing(tmp_path: Path, seen: list[OutcomeSeen], **sendings: object) -> RecordSender:
    nothing = cast("Any", SimpleNamespace())
    producing = RecordSender(
        schedule(produce(*sendings)),
        cluster=nothing,
        probe=nothing,
        rest=nothing,
        ledger=LedgerWriter(tmp_path / "ledger"),
        recorder=cast("Any", SimpleNamespace(observe=seen.append)),
        topic="t",
        record_id_base=0,
    )
    producing._sendings.update({Label(label): cast("Any", sending) for label, sending in sendings.items()})
    return producing
