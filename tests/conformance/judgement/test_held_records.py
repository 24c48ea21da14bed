"""Is said which record a replica held when, if the logs after the run confirm it, and nothing otherwise?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.judgement import held_records as inferring
from conformance.judgement.held_records import held_records, misses_leader_change, stale_leaders
from conformance.record.directory import RunDirectory
from conformance.record.verdict import HeldRecord, StaleLeader
from oracle.steps.frames import Hold
from oracle.vocabulary import BrokerId
from tests.conformance.judgement.recorded_runs import unpacked
from tests.reports import golden_faults, golden_runs
from tests.reports.golden_writer import logs_of, write_golden

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.judgement.held_records import LogsOfRun


@pytest.fixture
def zombie(tmp_path: Path) -> LogsOfRun:
    return logs_of(RunDirectory(write_golden(golden_faults.zombie_leader(), tmp_path)))


@pytest.fixture
def clean_loss(tmp_path: Path) -> LogsOfRun:
    return logs_of(RunDirectory(write_golden(golden_runs.clean_loss(), tmp_path)))


def test_what_the_deposed_leader_wrote_is_replaced_though_no_number_shows_it(zombie: LogsOfRun) -> None:
    found = held_records(zombie)

    assert {(one.broker, one.label, one.step) for one in found} == {(2, "z0", 3), (1, "m0", 4), (2, "m0", 5)}
    assert [(one.broker, one.replaced, one.step) for one in found if one.replaced] == [(2, "z0", 5)]


def test_a_broker_that_has_not_heard_of_its_leader_keeps_what_it_has(zombie: LogsOfRun) -> None:
    unheld = replace(zombie, timeline=[mark for mark in zombie.timeline if not mark.event.value.startswith("hold_")])

    assert [(one.replaced, one.step) for one in held_records(unheld) if one.replaced] == [("z0", 4)]


def test_only_the_broker_whose_frame_is_held_misses_its_leader(zombie: LogsOfRun) -> None:
    steps = (replace(one, broker=BrokerId(1)) if isinstance(one, Hold) else one for one in zombie.schedule.steps)
    other = replace(zombie, schedule=replace(zombie.schedule, steps=tuple(steps)))

    assert [broker for broker in (1, 2) if misses_leader_change(zombie, broker, 2)] == [2]
    assert [broker for broker in (1, 2) if misses_leader_change(other, broker, 2)] == [1]
    assert not misses_leader_change(zombie, 2, 0)
    assert not misses_leader_change(zombie, 2, 5)


def test_a_stale_leader_is_one_that_led_when_the_frame_was_caught(zombie: LogsOfRun) -> None:
    of_the_other = (replace(one, broker=BrokerId(1)) if isinstance(one, Hold) else one for one in zombie.schedule.steps)

    assert {one.broker for one in stale_leaders(zombie)} == {2}
    assert StaleLeader(2, 2) in stale_leaders(zombie)
    assert not {StaleLeader(0, 2), StaleLeader(5, 2)} & {*stale_leaders(zombie)}
    assert stale_leaders(replace(zombie, schedule=replace(zombie.schedule, steps=tuple(of_the_other)))) == ()
    unheld = replace(zombie, timeline=[mark for mark in zombie.timeline if not mark.event.value.startswith("hold_")])
    assert stale_leaders(unheld) == ()


def test_nothing_is_said_that_the_logs_after_the_run_do_not_confirm(clean_loss: LogsOfRun) -> None:
    found = {(one.broker, one.offset, one.label) for one in held_records(clean_loss)}
    (first, *_), others = zip(*clean_loss.ends.items(), strict=True)

    assert {(1, 1, "m1"), (3, 1, "m1"), (3, 1, "m2")} <= found
    assert held_records(replace(clean_loss, ends={first: others[0]})) == ()
    assert held_records(replace(clean_loss, ends={broker: ["m9"] for broker in clean_loss.ends})) == ()


def test_of_more_records_than_anybody_draws_nothing_is_found_out(
    clean_loss: LogsOfRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert held_records(clean_loss)
    monkeypatch.setattr(inferring, "RECORDS_MAX", 1)
    assert held_records(clean_loss) == ()


def test_real_runs_are_confirmed(tmp_path: Path) -> None:
    lost, replaced = (logs_of(unpacked(name, tmp_path)) for name in ("0.10.2.2-tr-01", "4.4.0-le-05-leader-kraft-log"))

    assert [(one.broker, one.label) for one in held_records(lost) if one.offset == 1] == [
        (1, "m1"),
        (2, "m1"),
        (2, "m2"),
    ]
    assert [one for one in held_records(replaced) if one.replaced] == [HeldRecord(10, 2, 0, "m0", "z0")]
