"""When is a topic at rest, by what its brokers tell? Each answer that is not to be believed alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from conformance.attach.one_at_a_time import GRACE_S
from conformance.attach.rest import STABLE_LOOKS, TopicRest, why_another
from conformance.probes.topic_of_clients import EARLIEST, NotAnsweredError, TopicSeenByClients
from conformance.record.attached import Attached, PartitionWatched
from conformance.record.directory import RunDirectory
from conformance.record.ledger import LedgerWriter, OutcomeEntry
from conformance.record.ledger_course import acknowledged_ends
from fault_injection.waiting import NotYetError
from oracle.vocabulary import ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ATTACHED = Attached("b:1", "t", 1, 3, -1, True, 0, 100, 0, cluster="c", topic_id="id")
REPLICAS = (1, 2, 3)
HEALTHY = PartitionWatched(0, 0, 1, 4, REPLICAS, 0, assigned=REPLICAS)
ZOMBIE = HEALTHY
ELECTED = replace(HEALTHY, leader=2, leader_epoch=5, isr=(2, 3))
EPOCHLESS = replace(HEALTHY, leader_epoch=None)


@dataclass
class ToldTopic:
    """What brokers answer: partition 0 as each tells it, and what its leader knows of offsets, as of its epoch."""

    views: dict[int, PartitionWatched] = field(default_factory=lambda: dict.fromkeys(REPLICAS, HEALTHY))
    high_watermark: int | None = 100
    log_end: int | None = 100
    log_start: int | None = 0
    ends_answered: bool = True
    has_epoch_ends: bool = True
    epoch_of_leader: int | None = None
    cluster: str | None = "c"
    topic_id: str | None = "id"
    added: int = 0

    def knows(self, request: int) -> bool:
        assert request == 23
        return self.has_epoch_ends

    def seen_by_each(self) -> Mapping[int, TopicSeenByClients]:
        if not self.views:
            raise NotAnsweredError("no broker answers")
        return {broker: self._seen(broker, one) for broker, one in self.views.items()}

    def _seen(self, broker: int, one: PartitionWatched) -> TopicSeenByClients:
        partitions = tuple(replace(one, told_by=broker, partition=number) for number in range(1 + self.added))
        return TopicSeenByClients(self.cluster, partitions, self.topic_id)

    def offsets(self, partitions: Sequence[PartitionWatched], timestamp: int = -1) -> dict[int, int]:
        offset = self.log_start if timestamp == EARLIEST else self.high_watermark
        return {} if offset is None or not self._is_current(partitions[0]) else {0: offset}

    def log_ends(self, partitions: Sequence[PartitionWatched]) -> dict[int, int | None]:
        is_told = self.ends_answered and partitions[0].leader_epoch is not None and self._is_current(partitions[0])
        return {0: self.log_end} if is_told else {}

    def _is_current(self, asked: PartitionWatched) -> bool:
        """Return whether a leader answers: not if it is in another epoch than it is asked for."""
        return asked.leader is not None and self.epoch_of_leader in (None, asked.leader_epoch)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def resting(
    topic: ToldTopic,
    acknowledged: int = 100,
    attached: Attached = ATTACHED,
    clock: Clock | None = None,
    unplaced: tuple[int, ...] = (),
) -> TopicRest:
    return TopicRest(topic, attached, {0: acknowledged}, unplaced, clock or Clock())  # type: ignore[arg-type]


def looked(rest: TopicRest, times: int = STABLE_LOOKS) -> str | None:
    """Look some times; return why it is not at rest at the last one, or None."""
    why: str | None = "never looked"
    for _ in range(times):
        try:
            rest.is_whole()
        except NotYetError as not_yet:
            why = str(not_yet)
        else:
            why = None
    return why


def test_a_topic_that_every_broker_tells_alike_is_at_rest_once_it_stands_still() -> None:
    rest = resting(ToldTopic())
    assert looked(rest, STABLE_LOOKS - 1) == "high watermarks move, or a leader does not tell where a log begins"
    assert looked(rest, 1) is None
    assert (rest.can_be_read, rest.unread, rest.ends, rest.log_starts) == (True, None, {0: 100}, {0: 0})
    assert rest.not_told == ()


def test_the_newest_leader_epoch_is_believed_and_its_isr() -> None:
    topic = ToldTopic(views={1: ZOMBIE, 2: ELECTED, 3: ELECTED})
    rest = resting(topic)
    assert looked(rest) == "partition 0 has 2 of 3 replicas in sync"
    assert (rest.partitions[0].leader, rest.partitions[0].leader_epoch) == (2, 5)


def test_a_leader_of_an_older_epoch_is_not_asked_for_its_high_watermark() -> None:
    newer = replace(HEALTHY, leader_epoch=5)
    rest = resting(ToldTopic(views={1: ZOMBIE, 2: newer, 3: newer}, epoch_of_leader=4))
    assert looked(rest) == "partition 0 has a leader that does not answer"
    assert not rest.can_be_read


def test_a_cut_off_leader_that_alone_answers_is_no_evidence_of_a_loss() -> None:
    topic = ToldTopic(views={1: ZOMBIE}, high_watermark=60, log_end=60)
    rest = resting(topic)
    assert "not every broker that is to have it names the same leader" in str(looked(rest))
    assert rest.can_be_read
    assert rest.unread is not None


def test_a_cut_off_leader_is_not_whole_where_records_were_acknowledged_without_an_offset() -> None:
    rest = resting(ToldTopic(views={1: ZOMBIE}), unplaced=(0,))
    assert "has records that were acknowledged without an offset, and not every broker" in str(looked(rest))
    assert rest.unread is not None
    assert looked(resting(ToldTopic(views={1: ZOMBIE}))) is None, "each has its offset, below the high watermark"
    assert looked(resting(ToldTopic(), unplaced=(0,))) is None, "every broker names the same leader"


def test_what_every_broker_tells_alike_is_evidence_of_a_loss() -> None:
    rest = resting(ToldTopic(high_watermark=60, log_end=60))
    assert looked(rest) is None
    assert rest.unread is None


def test_a_broker_that_is_away_is_not_missed_where_all_that_was_acknowledged_is_there() -> None:
    alone = replace(HEALTHY, isr=(1, 2))
    rest = resting(ToldTopic(views={1: alone, 2: alone}))
    assert looked(rest) == "partition 0 has 2 of 3 replicas in sync"
    assert rest.can_be_read
    assert rest.unread is None


def test_a_log_end_that_was_not_told_is_waited_for() -> None:
    topic = ToldTopic(ends_answered=False)
    rest = resting(topic)
    assert looked(rest) == "partition 0 has a leader that does not tell where its log ends"
    assert rest.unread is not None
    topic.ends_answered = True
    assert looked(rest) is None


def test_what_is_beyond_the_high_watermark_is_waited_for() -> None:
    topic = ToldTopic(log_end=101)
    rest = resting(topic)
    assert looked(rest) == "partition 0 has records beyond the high watermark"
    topic.high_watermark = 101
    assert looked(rest) is None


@pytest.mark.parametrize(
    "topic",
    [
        ToldTopic(dict.fromkeys(REPLICAS, EPOCHLESS), ends_answered=False),
        ToldTopic(has_epoch_ends=False),
        ToldTopic(log_end=None),
    ],
    ids=["no leader epochs", "no such request", "no end is known"],
)
def test_without_log_ends_it_goes_by_acknowledged_offsets_and_by_time(topic: ToldTopic) -> None:
    clock = Clock()
    rest = resting(topic, clock=clock)
    assert looked(rest) is None
    assert [line for line in rest.not_told if line.startswith("where logs end")]

    rest = resting(topic, acknowledged=101, clock=clock)
    clock.now = 1000.0
    assert "no log end is told" in str(looked(rest))
    assert rest.can_be_read
    assert rest.unread is not None
    clock.now += GRACE_S / 2
    told, topic.views = topic.views, {**topic.views, 3: replace(ELECTED, leader_epoch=None)}
    assert "not every broker that is to have it names the same leader" in str(looked(rest))
    topic.views = told
    clock.now += GRACE_S / 2 + 1
    assert "no log end is told" in str(looked(rest)), "in sync for a moment, and for that long again"
    clock.now += GRACE_S
    assert looked(rest) is None


def test_others_may_go_on_writing() -> None:
    topic = ToldTopic(log_end=120)
    rest = resting(topic, attached=replace(ATTACHED, beside_others=True))
    for moved in range(100, 120, 5):
        topic.high_watermark, topic.log_end = moved, moved + 20
        assert looked(rest, 1) == "partition 0 has records beyond the high watermark"
    topic.high_watermark, topic.log_end = 121, 141
    assert looked(rest, 1) is None
    assert rest.ends == {0: 121}


def test_without_others_a_topic_that_moves_is_not_at_rest() -> None:
    topic = ToldTopic()
    rest = resting(topic)
    for moved in range(100, 120, 5):
        topic.high_watermark = topic.log_end = moved
        assert looked(rest, 1) is not None
    assert not rest.can_be_read


def test_partitions_that_were_added_meanwhile_are_none_of_the_ledger() -> None:
    rest = resting(ToldTopic(added=2))
    assert looked(rest) is None
    assert len(rest.partitions) == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"cluster": "d"}, "the cluster that answers is d, and not c"),
        ({"topic_id": "other"}, "it was deleted and created again"),
        ({"added": -1}, "has 0 partitions, and had 1"),
        ({"views": {}}, "no broker answers"),
    ],
)
def test_another_topic_of_the_same_name_is_never_at_rest(changes: dict[str, object], why: str) -> None:
    topic = ToldTopic()
    rest = resting(topic)
    assert looked(rest) is None
    for name, value in changes.items():
        setattr(topic, name, value)
    assert why in str(looked(rest, 1))
    assert not rest.can_be_read
    assert rest.unread is not None


def test_ids_that_nobody_tells_are_said_and_not_guessed() -> None:
    rest = resting(ToldTopic(cluster=None, topic_id=None))
    assert looked(rest) is None
    assert [line.split(":")[0] for line in rest.not_told] == ["a cluster id", "a topic id"]
    assert why_another(TopicSeenByClients(None, (HEALTHY,)), ATTACHED) is None


def test_a_log_start_that_was_not_told_is_not_taken_for_zero() -> None:
    topic = ToldTopic(log_start=None)
    rest = resting(topic)
    assert looked(rest) is not None
    assert not rest.can_be_read
    topic.log_start = 7
    assert looked(rest) is None
    assert rest.log_starts == {0: 7}


def test_acknowledged_ends_are_those_of_the_greatest_offsets(tmp_path: Path) -> None:
    ledger = LedgerWriter(tmp_path / "ledger")
    for told in ([(10, 5), (11, None), (12, 9)], [(14, 8), (15, 0)]):
        ledger.record_outcomes([OutcomeEntry(one, ProduceOutcome.ACKNOWLEDGED, None, at, 0) for one, at in told])
    ends, unplaced = acknowledged_ends(RunDirectory(tmp_path), 10, 2)
    assert (ends, unplaced) == ({0: 10, 1: 1}, {1})


def test_a_partition_with_a_record_that_was_acknowledged_without_an_offset_is_named(tmp_path: Path) -> None:
    unknown, acknowledged = ProduceOutcome.INDETERMINATE, ProduceOutcome.ACKNOWLEDGED
    told = [(10, acknowledged, 5), (11, unknown, None), (12, acknowledged, None), (13, acknowledged, 7)]
    LedgerWriter(tmp_path / "ledger").record_outcomes([OutcomeEntry(one, is_, None, at, 0) for one, is_, at in told])
    _, unplaced = acknowledged_ends(RunDirectory(tmp_path), 10, 2)
    assert unplaced == {0}
