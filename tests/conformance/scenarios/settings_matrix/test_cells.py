"""Is each crash the worst that the guarantee table knows for its settings, under kills, all over the ladder?"""

from __future__ import annotations

from enum import IntEnum

import pytest

from conformance.commands.guarantees import kept_table
from conformance.scenarios.settings_matrix.cells import ACKS, CELLS, SCENARIOS, Cell
from oracle.brokers import questions
from oracle.brokers.guarantee_table import release_name
from oracle.brokers.questions import Faults
from oracle.guarantees import PromiseVerdict
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode, Outcome

RELEASES = (
    *(
        (v, MetadataMode.ZOOKEEPER)
        for v in ("0.10.2.2", "0.11.0.3", "1.1.1", "2.0.1", "2.4.1", "2.8.2", "3.4.1", "3.9.2")
    ),
    *((v, MetadataMode.KRAFT) for v in ("3.4.1", "3.7.2", "3.9.2", "4.0.2", "4.1.2", "4.3.1")),
)
TABLE = kept_table()
OF_CELL = dict(zip(CELLS, SCENARIOS, strict=True))


class Worst(IntEnum):
    """What becomes of acknowledged records, from good to bad."""

    KEPT = 0
    LOST_AS_ALLOWED = 1
    PROMISE_BROKEN = 2


def of_schedule(cell: Cell, version: str, mode: MetadataMode) -> Worst:
    prediction = predict(OF_CELL[cell].schedule, rules_for(version, mode))
    verdicts = {record.promise.verdict for record in prediction.records}
    diverged = prediction.diverged and cell.acks == "all"  # without a promise the table asks for losses alone
    if PromiseVerdict.BROKEN in verdicts or diverged:
        return Worst.PROMISE_BROKEN
    return Worst.LOST_AS_ALLOWED if PromiseVerdict.ALLOWED_BY_SETTINGS in verdicts else Worst.KEPT


def of_table(cell: Cell, version: str, mode: MetadataMode) -> Worst:
    row = TABLE.row_of(release_name(rules_for(version, mode)))
    assert row is not None
    asked = questions.Cell(ACKS[cell.acks], cell.min_isr, cell.unclean, cell.replicas, Faults.KILLS)
    answer = row.answers[asked]
    if answer.lost is None or answer.lost.actions is None:
        return Worst.KEPT
    is_broken = answer.broken is not None and answer.broken.actions is not None
    return Worst.PROMISE_BROKEN if is_broken else Worst.LOST_AS_ALLOWED


@pytest.mark.parametrize("cell", CELLS, ids=[cell.words for cell in CELLS])
def test_the_crash_is_the_worst_of_the_table(cell: Cell) -> None:
    for version, mode in RELEASES:
        assert of_schedule(cell, version, mode) == of_table(cell, version, mode), f"{version} {mode.value}"


def test_there_is_one_cell_for_every_combination() -> None:
    assert len(set(CELLS)) == 3 * 3 * 2 * 2
    settings = {
        (s.schedule.settings.min_insync_replicas, s.schedule.settings.unclean_leader_election) for s in SCENARIOS
    }
    assert settings == {(minimum, unclean) for minimum in (1, 2, 3) for unclean in (False, True)}


@pytest.mark.parametrize(("version", "accepts"), [("3.6.2", False), ("3.7.2", True)])
def test_a_minimum_above_the_replicas_counts_as_their_number_since_3_7(version: str, accepts: bool) -> None:
    cell = Cell("all", 3, unclean=False, replicas=2)
    prediction = predict(OF_CELL[cell].schedule, rules_for(version, MetadataMode.KRAFT))
    outcome = next(record.outcome for record in prediction.records if record.label == "m0")
    assert (outcome is Outcome.ACKNOWLEDGED) == accepts


def what_comes_of(cell: Cell, version: str, mode: MetadataMode) -> object:
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
        return what_comes_of(Cell(acks, min_isr, unclean, replicas), version, mode)

    for min_isr in (1, 2):
        assert (of(min_isr, unclean=True) != of(min_isr, unclean=False)) is heeds_unclean, "unclean election"
    for unclean in (False, True):
        assert (of(1, unclean=unclean) != of(2, unclean=unclean)) is heeds_minimum, "a frozen high watermark"
