"""Does the page of a ledger show when nothing was acknowledged, who was out of sync, what is lost, and what failed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.record.attached import (
    ATTACH_FILE,
    VERDICT_FILE,
    WATCHED_FILE,
    Attached,
    AttachVerdict,
    Judged,
    PartitionWatched,
    Promised,
    append_lines,
)
from conformance.record.attached_counted import COUNTED_FILE, NOTED, Counted, LostRange, PartitionCounted, lost_ranges
from conformance.record.directory import RunDirectory
from conformance.record.fault_commands import COMMANDS_FILE, COMMANDS_GIVEN_FILE, CommandRun, FaultCommand
from conformance.record.ledger import NOT_SENT, LedgerWriter, OutcomeEntry
from conformance.record.ledger_course import course_of
from oracle.vocabulary import ProduceOutcome
from reports.attach_page import write_attach_page
from tests.reports.browser import objections

if TYPE_CHECKING:
    from pathlib import Path

S = 1_000_000_000
CLASSES = dict.fromkeys(("kept", "lost", "absent", "duplicated"), 0)
ACKNOWLEDGED_IN = (0, 0, 1, 5, 5, 6)


def _told(record_id: int, second: int, error: str | None = None) -> OutcomeEntry:
    outcome = ProduceOutcome.ACKNOWLEDGED if error is None else ProduceOutcome.REFUSED
    return OutcomeEntry(record_id, outcome, error, None if error else record_id, second * S + 1)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """Return ten seconds of a ledger: nothing acknowledged in three of them, three records lost, a command failed."""
    run = RunDirectory.create(tmp_path, "attached", parts=("ledger", "reconciliation"))
    run.write(ATTACH_FILE, Attached("b:1", "t", 1, 3, 1, False, 0, 100, 0, ended_ns=10 * S))
    acknowledged = [_told(number, second) for number, second in enumerate(ACKNOWLEDGED_IN)]
    LedgerWriter(run.path / "ledger").record_outcomes([*acknowledged, _told(6, 9, NOT_SENT), _told(7, 9, "_ALL_BAD")])
    outcomes, classes = {"acknowledged": 6, "refused": 2, "indeterminate": 0}, {**CLASSES, "kept": 3, "lost": 3}
    run.write(COUNTED_FILE, Counted((PartitionCounted(0, 8, 3, outcomes, classes, {}),), (), 0, True))
    judged = (
        Judged("lost", 3, Promised.ALLOWED_BY_SETTINGS, "acks=1"),
        Judged("phantom", 0, Promised.KEPT, "none"),
        Judged("leader_epoch_fell", 0, Promised.UNSEEN, "the release does not tell it"),
    )
    run.write(VERDICT_FILE, AttachVerdict(Promised.ALLOWED_BY_SETTINGS, "lost", judged, ()))
    append_lines(run, WATCHED_FILE, [_look(0, (1, 2, 3)), _look(2 * S, (1, 3)), _look(9 * S, (1, 2, 3))])
    append_lines(run, COMMANDS_GIVEN_FILE, [FaultCommand("kill 2", 1.0), FaultCommand("start 2", 3.0)])
    ran = [CommandRun("kill 2", S, 5 * S, 0, "1.log"), CommandRun("start 2", 5 * S, 6 * S, 127, "2.log")]
    append_lines(run, COMMANDS_FILE, ran)
    (run.path / NOTED).mkdir()
    noted = {"partition": [0, 0, 0, 0], "acknowledged_offset": [3, 2, 5, None], "lost": [True, True, True, False]}
    pq.write_table(pa.table(noted), run.path / NOTED / "part.parquet")
    return run


def _look(at_ns: int, isr: tuple[int, ...]) -> PartitionWatched:
    return PartitionWatched(at_ns, 0, 1, 0, isr, 1, 0)


def test_the_page_tells_the_longest_time_without_an_acknowledgement(run: RunDirectory) -> None:
    assert course_of(run, 0).acknowledged == (2, 1, 0, 0, 0, 2, 1, 0, 0, 0)
    page = write_attach_page(run).read_text()
    assert "No record was acknowledged for 3 s, from 2 s on." in page


def test_an_outage_that_lasts_to_the_end_is_told(run: RunDirectory) -> None:
    LedgerWriter(run.path / "ledger").record_outcomes([_told(8, 30, "_MSG_TIMED_OUT")])
    assert course_of(run, 0).longest_silence == (7, 24)


def test_records_that_were_never_sent_are_not_refused(run: RunDirectory) -> None:
    page = write_attach_page(run).read_text()
    assert "<dt>Records sent</dt><dd>7 in 10 s</dd>" in page
    assert "<dt>Refused</dt><dd>1</dd>" in page
    assert "1 more were written down and not sent" in page


def test_lost_records_are_told_by_their_offsets(run: RunDirectory) -> None:
    assert lost_ranges(run) == [LostRange(0, 2, 3), LostRange(0, 5, 5)]
    assert "Lost, by the offsets that were acknowledged" in write_attach_page(run).read_text()


def test_a_bar_says_who_leads_and_who_is_out_of_sync(run: RunDirectory) -> None:
    page = write_attach_page(run).read_text()
    assert ">1, without 2</text>" in page
    assert "broker 1 leads, leader epoch 0; in sync: 1, 3</title>" in page


def test_a_command_that_failed_or_came_late_is_told_so(run: RunDirectory) -> None:
    page = write_attach_page(run).read_text()
    assert "failed: exit 127" in page
    assert "5.0 s, due at 3 s and late" in page
    assert "1.0 s, due" not in page


def test_what_was_not_found_stands_below_what_was_and_what_cannot_be_seen(run: RunDirectory) -> None:
    page = write_attach_page(run).read_text()
    places = [page.index(f'<th scope="row">{name}') for name in ("lost", "leader epoch fell", "phantom")]
    assert places == sorted(places)
    assert "there, and nobody sent it" in page


@pytest.mark.browser
def test_nothing_can_be_objected_to_in_a_browser(run: RunDirectory) -> None:
    assert objections(write_attach_page(run)) == []
