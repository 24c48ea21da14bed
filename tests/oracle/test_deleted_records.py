"""Records that are deleted on request: what a prediction shows, and where the request is refused or does not exist."""

from __future__ import annotations

import pytest

from oracle.log import UNDEFINED, EpochEnd, EpochEntry, ReplicaLog
from oracle.predict import NotOnReleaseError, initial_world, predict, take
from oracle.predicting.wording import ChangeKind
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, Pause, Resume
from oracle.steps.step import ScheduleError, Step
from oracle.steps.topic import CreateTopic, DeleteRecords, DeleteTopic, Reassign
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Fate, LeaderEpoch, MetadataMode, Offset, ProduceOutcome
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

KRAFT = rules_for("4.3.1", MetadataMode.KRAFT)
DELETED = DeleteRecords(Offset(1))


def test_deleted_records_are_not_lost() -> None:
    steps = (produce("m0", "m1"), DELETED, Checkpoint("deleted"))
    prediction = predict(schedule(*steps), KRAFT)
    assert [record.fate for record in prediction.records] == [Fate.DELETED, Fate.PRESENT]
    assert prediction.records[0].outcome is ProduceOutcome.ACKNOWLEDGED
    assert prediction.checkpoints[0].as_json()["replicas"]["2"]["log_start_offset"] == 1
    assert len(prediction.logs[ONE]) == 2


def test_where_the_log_starts_is_shown_only_where_records_were_deleted() -> None:
    prediction = predict(schedule(produce("m0"), Checkpoint("begin")), KRAFT)
    assert "log_start_offset" not in prediction.checkpoints[0].as_json()["replicas"]["1"]


def test_a_paused_broker_shows_what_it_has_written_down() -> None:
    steps = (produce("m0"), DELETED, Pause(TWO), Checkpoint("paused"), Resume(TWO))
    prediction = predict(schedule(*steps), KRAFT)
    assert prediction.checkpoints[0].replicas[TWO].log_start_offset == 0


def test_0_10_2_has_no_such_request() -> None:
    old = rules_for("0.10.2.2", MetadataMode.ZOOKEEPER)
    with pytest.raises(NotOnReleaseError, match=r"Kafka 0.10.2.2 has no request to delete records") as refused:
        predict(schedule(produce("m0"), DELETED), old)
    assert (refused.value.step, refused.value.field) == (1, "offset")
    predict(schedule(produce("m0"), DELETED), rules_for("0.11.0.3", MetadataMode.ZOOKEEPER))


REFUSED: dict[str, tuple[tuple[Step, ...], str, str]] = {
    "above the high watermark": ((produce("m0"), DeleteRecords(Offset(2))), "offset", "nothing above it is deleted"),
    "twice": ((produce("m0"), DELETED, DELETED), "offset", "starts at 1 already"),
    "past a short log": ((hold("x"), Kill(TWO), produce("m0"), DELETED), "offset", "broker 2 ends before 1"),
    "without a leader": ((produce("m0"), Kill(TWO), Kill(ONE), DELETED), "offset", "nobody leads"),
    "then moved": ((produce("m0"), DELETED, Reassign((ONE, THREE))), "replicas", "records were deleted"),
    "then a topic deleted": (
        (produce("m0"), CreateTopic("a"), DELETED, DeleteTopic("a")),
        "name",
        "writes down where logs start",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_predicted_is_refused(case: str) -> None:
    steps, field, message = REFUSED[case]
    with pytest.raises(ScheduleError, match=message) as refused:
        predict(schedule(*steps), KRAFT)
    assert (refused.value.step, refused.value.field) == (len(steps) - 1, field)


def test_the_chronicle_tells_where_logs_start() -> None:
    prediction = predict(schedule(produce("m0"), DELETED, Kill(TWO), replicas=(ONE, TWO)), KRAFT)
    told = [change.text for change in prediction.chronicle if change.kind is ChangeKind.PROCESS]
    assert told == [
        "broker 1 deletes what is before offset 1: its log starts there",
        "broker 2 deletes what is before offset 1: its log starts there",
        "broker 2 is killed",
        "broker 2 has not written down where its log starts: at 0 again",
    ]


@pytest.mark.parametrize(("version", "told"), [("2.0.0", UNDEFINED), ("2.0.1", EpochEnd(LeaderEpoch(0), Offset(1)))])
def test_a_leader_forgets_the_epochs_of_deleted_records(version: str, told: EpochEnd) -> None:
    """Broker 2 leads in epoch 1 from offset 1 on, where its log and that of broker 3 begin then."""
    rules = rules_for(version, MetadataMode.ZOOKEEPER)
    steps = (produce("m0"), Kill(ONE), produce("m1"), DELETED)
    begun = schedule(*steps, replicas=(ONE, TWO, THREE))
    world = initial_world(begun, rules, begun.replicas)
    for step in steps:
        world = take(world, step)
    for broker in (TWO, THREE):
        log = world.state.replica(broker).log
        assert [(entry.leader_epoch, entry.start_offset) for entry in log.epochs] == [(1, 1)]
        assert rules.truncation.end_offset_for(log, LeaderEpoch(0)) == told


def test_a_log_begins_in_the_epoch_of_its_first_record() -> None:
    log = ReplicaLog().with_epoch(LeaderEpoch(2))
    assert ReplicaLog().starting_at(Offset(1)) == ReplicaLog()
    assert log.starting_at(Offset(1)).epochs == (EpochEntry(LeaderEpoch(2), Offset(1)),)
