"""Is a partition that moves predicted by the replicas it has at each moment, and is its move explained?"""

from __future__ import annotations

import pytest

from oracle.predict import predict
from oracle.predicting.wording import ChangeKind
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, Pause, Resume, Start
from oracle.steps.topic import Reassign
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Fate, MetadataMode, PointName
from tests.oracle.schedules import ONE, THREE, TWO, moved_unheard, produce, schedule

RELEASES = [
    ("0.10.2.2", MetadataMode.ZOOKEEPER),
    ("2.8.2", MetadataMode.ZOOKEEPER),
    ("3.7.2", MetadataMode.KRAFT),
    ("4.3.1", MetadataMode.KRAFT),
]
MOVED = schedule(
    produce("m0"), Checkpoint("before"), Reassign((THREE, ONE)), produce("m1"), Checkpoint("after"), replicas=(TWO, ONE)
)


@pytest.mark.parametrize(("version", "metadata"), RELEASES)
def test_only_assigned_replicas_have_numbers(version: str, metadata: MetadataMode) -> None:
    prediction = predict(MOVED, rules_for(version, metadata))
    before, after = prediction.checkpoints
    assert (before.leader, set(before.replicas)) == (TWO, {ONE, TWO})
    assert (after.leader, set(after.replicas), after.leadership) == (THREE, {ONE, THREE}, 1)
    assert set(prediction.logs) == {ONE, THREE}
    assert [record.fate for record in prediction.records] == [Fate.PRESENT, Fate.PRESENT]
    assert prediction.races == ()


def test_the_new_replica_has_what_was_written_before() -> None:
    prediction = predict(MOVED, rules_for("4.3.1", MetadataMode.KRAFT))
    assert [record.label for record in prediction.logs[THREE]] == ["m0", "m1"]


@pytest.mark.parametrize(("version", "metadata"), RELEASES)
def test_the_deletion_is_told_once_with_its_rule(version: str, metadata: MetadataMode) -> None:
    rules = rules_for(version, metadata)
    told = [change for change in predict(MOVED, rules).chronicle if change.rule is rules.reassignment.rule]
    left, change = sorted(told, key=lambda one: one.kind is ChangeKind.PROCESS)
    assert left.kind is ChangeKind.ISR
    assert "broker 2 left" in left.text
    assert (change.kind, change.broker) == (ChangeKind.PROCESS, TWO)
    assert change.text == "broker 2 deletes its replica: it is not assigned any more"


@pytest.mark.parametrize(
    ("version", "metadata", "log_end_offset"),
    [
        ("0.10.2.2", MetadataMode.ZOOKEEPER, 0),
        ("1.0.2", MetadataMode.ZOOKEEPER, 1),
        ("2.0.1", MetadataMode.ZOOKEEPER, 1),
        ("2.8.2", MetadataMode.ZOOKEEPER, 0),
        ("3.9.2", MetadataMode.KRAFT, 0),
        ("4.4.0", MetadataMode.KRAFT, 0),
    ],
)
def test_a_leader_counts_no_replica_of_which_it_has_not_heard(
    version: str, metadata: MetadataMode, log_end_offset: int
) -> None:
    is_kraft = metadata is MetadataMode.KRAFT
    point = PointName.CONTROLLER_FETCH_RESPONSE if is_kraft else PointName.LEADER_AND_ISR
    moving, moved = predict(moved_unheard(point), rules_for(version, metadata)).checkpoints
    assert (moving.replicas[TWO].log_end_offset, moving.isr) == (log_end_offset, (ONE,))
    assert moving.remote_log_end_offsets.get(TWO) is None
    assert (moved.replicas[TWO].log_end_offset, set(moved.isr)) == (1, {ONE, TWO})


def test_the_schedule_names_the_brokers_it_moves_to() -> None:
    assert MOVED.brokers == (TWO, ONE, THREE)


@pytest.mark.parametrize(
    ("rules", "eligible", "leader"),
    [("4.4.0", (2,), None), ("4.4.0~removed-replica-stays-eligible", (), ONE)],
)
def test_a_removed_replica_stays_eligible_and_keeps_the_only_one_from_leading(
    rules: str, eligible: tuple[int, ...], leader: int | None
) -> None:
    steps = (produce("m0"), Reassign((ONE,)), Checkpoint("moved"), Kill(ONE), Start(ONE), Checkpoint("back"))
    crashed = (Kill(TWO), Start(TWO), Checkpoint("end"))
    asked = schedule(*steps, *crashed, min_isr=2)
    moved, back, end = predict(asked, rules_for(rules, MetadataMode.KRAFT)).checkpoints

    assert moved.elr == eligible
    assert (back.leader, end.leader) == (leader, ONE)


def test_who_is_eligible_is_settled_before_an_election() -> None:
    """Broker 2 is elected from the eligible ones; as the only replica it reaches the minimum, and broker 1 stays."""
    asked = schedule(Reassign((TWO,)), Pause(TWO), Resume(TWO), Checkpoint("end"), replicas=(ONE,), min_isr=2)
    end = predict(asked, rules_for("4.4.0", MetadataMode.KRAFT)).checkpoints[-1]
    assert (end.leader, end.isr, end.elr) == (TWO, (TWO,), (ONE,))
