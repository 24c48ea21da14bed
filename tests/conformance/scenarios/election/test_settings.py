"""Is each crash the worst that the guarantee table knows for its settings, under kills, all over the ladder?"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING

import pytest

from conformance.commands import worst_schedules
from conformance.kept_guarantees import kept_table
from conformance.scenarios.election.el_03_settings import (
    ACKS,
    CELLS,
    OF_CELLS,
    OF_POWER_FAILURES,
    POWER_FAILURES,
    SettingsCombination,
)
from oracle.brokers import questions
from oracle.brokers.guarantee_table import release_name
from oracle.brokers.questions import Faults
from oracle.guarantees import PromiseVerdict
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import LoseTail
from oracle.vocabulary import MetadataMode, ProduceOutcome

if TYPE_CHECKING:
    from conformance.catalogue.scenario import Scenario

RELEASES = (
    *(
        (v, MetadataMode.ZOOKEEPER)
        for v in ("0.10.2.2", "0.11.0.3", "1.1.1", "2.0.1", "2.4.1", "2.8.2", "3.4.1", "3.9.2")
    ),
    *((v, MetadataMode.KRAFT) for v in ("3.4.1", "3.7.2", "3.9.2", "4.0.2", "4.1.2", "4.3.1")),
)
TABLE = kept_table()
OF_CELL = dict(zip(CELLS, OF_CELLS, strict=True))
AFTER_POWER_FAILURE = {scenario.name.partition(",")[2]: scenario.schedule.steps for scenario in OF_POWER_FAILURES}


class Worst(IntEnum):
    """What becomes of acknowledged records, from good to bad."""

    KEPT = 0
    LOST_AS_ALLOWED = 1
    PROMISE_BROKEN = 2


def of_schedule(cell: SettingsCombination, version: str, mode: MetadataMode) -> Worst:
    prediction = predict(OF_CELL[cell].schedule, rules_for(version, mode))
    verdicts = {record.promise.verdict for record in prediction.records}
    diverged = prediction.diverged and cell.acks == "all"  # without a promise the table asks for losses alone
    if PromiseVerdict.BROKEN in verdicts or diverged:
        return Worst.PROMISE_BROKEN
    return Worst.LOST_AS_ALLOWED if PromiseVerdict.ALLOWED_BY_SETTINGS in verdicts else Worst.KEPT


def of_table(cell: SettingsCombination, version: str, mode: MetadataMode) -> Worst:
    row = TABLE.row_of(release_name(rules_for(version, mode)))
    assert row is not None
    asked = questions.GuaranteeCell(ACKS[cell.acks], cell.min_isr, cell.unclean, cell.replicas, Faults.KILLS)
    answer = row.answers[asked]
    if answer.lost is None or answer.lost.actions is None:
        return Worst.KEPT
    is_broken = answer.broken is not None and answer.broken.actions is not None
    return Worst.PROMISE_BROKEN if is_broken else Worst.LOST_AS_ALLOWED


@pytest.mark.parametrize("cell", CELLS, ids=[cell.words for cell in CELLS])
def test_the_crash_is_the_worst_of_the_table(cell: SettingsCombination) -> None:
    for version, mode in RELEASES:
        assert of_schedule(cell, version, mode) == of_table(cell, version, mode), f"{version} {mode.value}"


def test_every_cell_that_power_failures_alone_can_harm_has_a_schedule_of_its_own() -> None:
    harmed = {cell.words for cell in CELLS if worst_schedules.is_lost_to_power_alone(cell)}
    assert set(AFTER_POWER_FAILURE) == harmed == {scenario.name.partition(",")[2] for scenario in OF_POWER_FAILURES}
    assert {(cell.min_isr, cell.replicas) for cell in map(SettingsCombination.of_words, harmed)} == {
        (1, 2),
        (2, 2),
        (3, 2),
        (1, 3),
        (2, 3),
        (3, 3),
    }


@pytest.mark.slow
@pytest.mark.parametrize("scenario", OF_POWER_FAILURES, ids=[scenario.name for scenario in OF_POWER_FAILURES])
def test_the_power_failure_loses_what_the_table_says_on_every_release(scenario: Scenario) -> None:
    cell = SettingsCombination.of_words(scenario.name.partition(",")[2])
    assert worst_schedules.is_worst(scenario.schedule, cell)
    assert any(isinstance(step, LoseTail) for step in scenario.schedule.steps)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", OF_POWER_FAILURES, ids=[scenario.name for scenario in OF_POWER_FAILURES])
def test_without_its_power_failure_a_schedule_is_not_the_worst(scenario: Scenario) -> None:
    cell = SettingsCombination.of_words(scenario.name.partition(",")[2])
    steps = tuple(step for step in scenario.schedule.steps if not isinstance(step, LoseTail))
    assert not worst_schedules.is_worst(replace(scenario.schedule, steps=steps), cell)


@pytest.mark.slow
@pytest.mark.parametrize("words", [words for words in AFTER_POWER_FAILURE if words.endswith("replicas=2")])
def test_the_explorer_finds_the_kept_schedule(words: str) -> None:
    assert worst_schedules.worst(SettingsCombination.of_words(words)).steps == AFTER_POWER_FAILURE[words]


def test_the_file_is_written_as_it_is_kept() -> None:
    assert worst_schedules.as_text(AFTER_POWER_FAILURE) == POWER_FAILURES.read_text("utf-8")


def test_there_is_one_cell_for_every_combination() -> None:
    assert len(set(CELLS)) == 3 * 3 * 2 * 2
    settings = {
        (s.schedule.settings.min_insync_replicas, s.schedule.settings.unclean_leader_election) for s in OF_CELLS
    }
    assert settings == {(minimum, unclean) for minimum in (1, 2, 3) for unclean in (False, True)}


@pytest.mark.parametrize(("version", "accepts"), [("3.6.2", False), ("3.7.2", True)])
def test_a_minimum_above_the_replicas_counts_as_their_number_since_3_7(version: str, accepts: bool) -> None:
    cell = SettingsCombination("all", 3, unclean=False, replicas=2)
    prediction = predict(OF_CELL[cell].schedule, rules_for(version, MetadataMode.KRAFT))
    outcome = next(record.outcome for record in prediction.records if record.label == "m0")
    assert (outcome is ProduceOutcome.ACKNOWLEDGED) == accepts


def what_comes_of(cell: SettingsCombination, version: str, mode: MetadataMode) -> object:
    """Return the fates and high watermarks that a cell's schedule is predicted to have."""
    prediction = predict(OF_CELL[cell].schedule, rules_for(version, mode))
    fates = [(record.label, record.outcome, record.fate) for record in prediction.records]
    watermarks = [[n.high_watermark for n in seen.replicas.values()] for seen in prediction.checkpoints]
    return fates, watermarks


@pytest.mark.parametrize("acks", ["0", "1"])
@pytest.mark.parametrize("replicas", [2, 3])
@pytest.mark.parametrize(
    ("version", "mode", "heeds_unclean", "heeds_minimum"),
    [
        ("0.10.2.2", MetadataMode.ZOOKEEPER, True, False),
        ("2.8.2", MetadataMode.ZOOKEEPER, True, False),
        ("3.6.2", MetadataMode.KRAFT, False, False),
        ("3.9.2", MetadataMode.KRAFT, True, True),
        ("4.3.1", MetadataMode.KRAFT, True, True),
    ],
)
def test_without_acks_all_both_settings_are_reached(
    acks: str, replicas: int, version: str, mode: MetadataMode, *, heeds_unclean: bool, heeds_minimum: bool
) -> None:
    def of(min_isr: int, *, unclean: bool) -> object:
        return what_comes_of(SettingsCombination(acks, min_isr, unclean, replicas), version, mode)

    for min_isr in (1, 2):
        assert (of(min_isr, unclean=True) != of(min_isr, unclean=False)) is heeds_unclean, "unclean election"
    for unclean in (False, True):
        assert (of(1, unclean=unclean) != of(2, unclean=unclean)) is heeds_minimum, "a frozen high watermark"
