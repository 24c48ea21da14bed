"""Do the steps that lose a record with three replicas lose one with four and five, as the prediction says?"""

from __future__ import annotations

import pytest

from conformance.kept_guarantees import kept_table
from oracle.brokers.guarantee_table import release_name
from oracle.brokers.lifting import lifted, schedule_of_cell
from oracle.brokers.questions import Faults, GuaranteeCell, cells, question
from oracle.brokers.shrinking import PartitionDefect, defects
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.steps.brokers import Kill
from oracle.vocabulary import Acks, BrokerId, MetadataMode

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT
RELEASES = (("0.10.2.2", ZOOKEEPER), ("2.0.0", ZOOKEEPER), ("2.8.2", ZOOKEEPER), ("3.9.2", KRAFT), ("4.4.0", KRAFT))


@pytest.mark.parametrize("replicas", [4, 5])
@pytest.mark.parametrize(("version", "mode"), RELEASES)
def test_each_loss_with_three_replicas_is_one_with_more(version: str, mode: MetadataMode, replicas: int) -> None:
    rules = rules_for(version, mode)
    row = kept_table().row_of(release_name(rules))
    assert row is not None
    for cell in cells():
        found = row.answers[cell]
        if cell.replicas < 3 or cell.acks is not Acks.ALL or found.lost is None or found.lost.actions is None:
            continue
        more = GuaranteeCell(cell.acks, cell.min_isr, cell.unclean, replicas, cell.faults)
        schedule = schedule_of_cell(rules, more, found)
        assert schedule is not None
        assert len(schedule.replicas) == replicas
        assert schedule.steps[0] == Kill(BrokerId(4))
        broken = found.broken is not None and found.broken.actions is not None
        wanted = PartitionDefect.PROMISE_BROKEN if broken else PartitionDefect.ACKNOWLEDGED_LOST
        assert wanted in defects(predict(schedule, rules))


def test_steps_that_lose_nothing_under_other_rules_are_not_lifted_there() -> None:
    old, new = rules_for("0.10.2.2", ZOOKEEPER), rules_for("4.4.0", KRAFT)
    row = kept_table().row_of(release_name(old))
    assert row is not None
    cell = GuaranteeCell(Acks.ALL, 2, unclean=False, replicas=3, faults=Faults.KILLS)
    schedule = schedule_of_cell(old, cell, row.answers[cell])
    assert schedule is not None
    settings = TopicSettings(2, unclean_leader_election=False)
    assert lifted(schedule, 4, settings, old) is not None
    assert lifted(schedule, 4, settings, new) is None


def test_a_cell_that_is_searched_stands_for_itself_and_one_with_more_replicas_for_none() -> None:
    cell = GuaranteeCell(Acks.ALL, 2, unclean=False, replicas=3, faults=Faults.KILLS)
    more = GuaranteeCell(Acks.ALL, 2, unclean=False, replicas=5, faults=Faults.KILLS)
    assert (cell.searched, more.searched) == (cell, cell)
    rules = rules_for("4.4.0", KRAFT)
    row = kept_table().row_of(release_name(rules))
    assert row is not None
    assert schedule_of_cell(rules, more, row.answers[cell]) is None
    assert question(rules, more.searched) == question(rules, cell)
