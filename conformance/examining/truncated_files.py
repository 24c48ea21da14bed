"""Does a truncation cut all files of a log alike, and is what is left all that a restarted broker serves?

The leader has three records that no follower has when it is killed; it returns as a follower and cuts them. Then it is
stopped orderly, which makes its index files end with their last entry, and its files are decoded. One topic has its
records in one segment with an index entry for each batch but the first, the other has one record a segment.

Sources: ``LogSegment.append``, ``recover`` and ``truncateTo``, ``Log.truncateTo``, of 0.10.2 to 3.9.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.examination_cluster import DEADLINE_S, examination_cluster
from conformance.probes.checkpoints import (
    HIGH_WATERMARK_FILE,
    OFFSET_INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
    high_watermark_checkpoint,
    offset_index,
    time_index,
)
from conformance.probes.connection import BrokerConnection
from conformance.probes.replica import served_records
from conformance.probes.segments import SEGMENT_SUFFIX, batch_positions, records_of
from conformance.running.election_requests import request_election
from fault_injection.cluster.readiness import await_unregistered
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.waiting import until
from fault_injection.wire.points import Point
from oracle.vocabulary import Acks, ElectionKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.examining.context import ExaminationContext
    from conformance.examining.examination_cluster import ExaminationCluster
    from conformance.record.answers import Value
    from oracle.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class SegmentFiles:
    """One segment.

    Attributes:
        base_offset: the offset that its files are named after.
        records: the offsets of the records in ``.log``.
        indexed: the offsets in ``.index``.
        timed: the offsets in ``.timeindex``.
        points_right: whether every entry of ``.index`` names the byte at which its batch begins.
    """

    base_offset: int
    records: tuple[int, ...]
    indexed: tuple[int, ...]
    timed: tuple[int, ...]
    points_right: bool


def segment_files(
    files: Sequence[str], read: Callable[[str], bytes], topic: str, partition: int
) -> tuple[SegmentFiles, ...]:
    """Decode the segments of a replica, the oldest first.

    Args:
        files: relative paths of the files in the broker's log directory.
        read: gives the content of one of them.
        topic: the topic.
        partition: the partition.
    """
    folder = f"{topic}-{partition}/"
    logs = sorted(path for path in files if path.startswith(folder) and path.endswith(SEGMENT_SUFFIX))
    return tuple(_decoded_segment(path.removesuffix(SEGMENT_SUFFIX), files, read) for path in logs)


def _decoded_segment(stem: str, files: Sequence[str], read: Callable[[str], bytes]) -> SegmentFiles:
    base_offset = int(stem.rpartition("/")[2])

    def content(suffix: str) -> bytes:
        return read(stem + suffix) if stem + suffix in files else b""

    log = content(SEGMENT_SUFFIX)
    entries = offset_index(content(OFFSET_INDEX_SUFFIX), base_offset)
    positions = batch_positions(log)
    return SegmentFiles(
        base_offset,
        records=tuple(record.offset for record in records_of(log)),
        indexed=tuple(entry.offset for entry in entries),
        timed=tuple(entry.offset for entry in time_index(content(TIME_INDEX_SUFFIX), base_offset)),
        points_right=all(positions.get(entry.offset) == entry.position for entry in entries),
    )


ONE, MANY = "truncated-segment", "truncated-segments"
CUT_AT, RECORDS = 3, 6
LEFT, CUT = range(CUT_AT), range(CUT_AT, RECORDS)
LATER = 100
"""The id of the record that is produced after everything."""
OLD_LEADER, NEW_LEADER = 1, 2
HOLD = "fetch of what is cut later"
VALUE_BYTES = {ONE: 100, MANY: 600_000}
INDEXES = {"index.interval.bytes": "0", "segment.index.bytes": "4096"}
SAFE = {"min.insync.replicas": "1", "unclean.leader.election.enable": "false"}
CONFIGS = {ONE: INDEXES | SAFE, MANY: INDEXES | SAFE | {"segment.bytes": str(2**20)}}


@dataclass(frozen=True, slots=True)
class TruncatedFiles:
    """The files of a deposed leader before and after it cut its log, and what it serves when it leads again."""

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            f"produce records 0 to {CUT_AT - 1} to both topics, acks=all; broker 2 has them",
            f"hold broker 2's fetch and produce records {CUT_AT} to {RECORDS - 1}, acks=1; decode broker 1's files",
            "kill broker 1; broker 2 leads; start broker 1, which cuts its logs; stop it orderly; decode its files",
            f"start broker 1, produce record {LATER}, let broker 1 lead again and fetch everything that it serves",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict every file's content, as offsets."""
        before, after = [*range(RECORDS)], [*LEFT]
        parted: list[Value] = [[o, [o], [], [o]] for o in LEFT]
        return (
            QuestionAnswer(_files(ONE, "before"), [[0, [*before], [*before[1:]], [*before[1:]]]]),
            QuestionAnswer(_positions(ONE, "before"), value=True),
            QuestionAnswer(_files(ONE, "after"), [[0, [*after], [*after[1:]], [*after[1:]]]]),
            QuestionAnswer(_positions(ONE, "after"), value=True),
            QuestionAnswer(_files(MANY, "after"), [*parted, [CUT_AT, [], [], []]]),
            *(QuestionAnswer(f"record ids that broker 1 serves of {topic}", [*after, LATER]) for topic in (ONE, MANY)),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Truncate on real brokers."""
        with _topics(context) as place:
            _produce_what_is_left(place)
            _produce_what_is_cut(place)
            yield from _answers(place, ONE, "before")
            _depose(place)
            place.cluster.stop(OLD_LEADER)
            yield from _answers(place, ONE, "after")
            yield QuestionAnswer(_files(MANY, "after"), _as_offsets(_decoded(place, MANY)))
            await_unregistered(place.cluster, OLD_LEADER)
            _start(place)
            for topic in (ONE, MANY):
                _produce(place, NEW_LEADER, topic, LATER, Acks.ALL)
                _lead_again(place, topic)
                with BrokerConnection(place.cluster.client_address(OLD_LEADER)) as connection:
                    served = served_records(connection, topic, 0)
                yield QuestionAnswer(
                    f"record ids that broker 1 serves of {topic}",
                    [record.record_id if record.value_matches else None for record in served],
                )


@contextmanager
def _topics(context: ExaminationContext) -> Iterator[ExaminationCluster]:
    """Have both topics."""
    with examination_cluster(context, ClusterSpec(context.release, context.metadata)) as place, ExitStack() as topics:
        for topic, configs in CONFIGS.items():
            topics.enter_context(place.topic(topic, [(OLD_LEADER, NEW_LEADER)], configs))
        yield place


def _produce(place: ExaminationCluster, leader: int, topic: str, record_id: int, acks: Acks) -> None:
    place.produce(leader, topic, record_id, acks, value_length=VALUE_BYTES[topic])


def _produce_what_is_left(place: ExaminationCluster) -> None:
    """Produce the records that both have, and wait until the leader has noted that they are committed."""
    for topic in CONFIGS:
        for record_id in LEFT:
            _produce(place, OLD_LEADER, topic, record_id, Acks.ALL)

    def is_noted() -> bool:
        noted = high_watermark_checkpoint(place.cluster.read_file(OLD_LEADER, HIGH_WATERMARK_FILE))
        return all(noted.get((topic, 0)) == CUT_AT for topic in CONFIGS)

    until(is_noted, deadline_s=DEADLINE_S, what="the high watermarks to be checkpointed")


def _produce_what_is_cut(place: ExaminationCluster) -> None:
    place.gate.arm(HOLD, Point("fetch_request", NEW_LEADER, OLD_LEADER, ONE, 0, CUT_AT))
    place.await_caught(HOLD)
    for topic in CONFIGS:
        for record_id in CUT:
            _produce(place, OLD_LEADER, topic, record_id, Acks.LEADER)


def _depose(place: ExaminationCluster) -> None:
    """Kill the leader, let the other one lead, and have the old one back as a follower in sync."""
    place.cluster.kill(OLD_LEADER)
    for topic in CONFIGS:
        place.await_leads(NEW_LEADER, topic, (NEW_LEADER,))
    await_unregistered(place.cluster, OLD_LEADER)
    _start(place)


def _start(place: ExaminationCluster) -> None:
    place.start(OLD_LEADER)
    for topic in CONFIGS:
        place.await_leads(NEW_LEADER, topic, (OLD_LEADER, NEW_LEADER))


def _lead_again(place: ExaminationCluster, topic: str) -> None:
    """Let the old leader lead, and wait until it knows that everything in its log is committed."""
    request_election(place.cluster, NEW_LEADER, topic, ElectionKind.PREFERRED)
    place.await_leads(OLD_LEADER, topic, (OLD_LEADER, NEW_LEADER))

    def is_committed() -> bool:
        end, high_watermark = place.offsets(OLD_LEADER, topic)
        return end == high_watermark

    until(is_committed, deadline_s=DEADLINE_S, what=f"all records of {topic} to be committed")


def _decoded(place: ExaminationCluster, topic: str) -> tuple[SegmentFiles, ...]:
    files = place.cluster.files(OLD_LEADER)
    return segment_files(files, lambda path: place.cluster.read_file(OLD_LEADER, path), topic, 0)


def _answers(place: ExaminationCluster, topic: str, when: str) -> Iterator[QuestionAnswer]:
    decoded = _decoded(place, topic)
    yield QuestionAnswer(_files(topic, when), _as_offsets(decoded))
    yield QuestionAnswer(_positions(topic, when), all(segment.points_right for segment in decoded))


def _as_offsets(decoded: tuple[SegmentFiles, ...]) -> Value:
    return [[s.base_offset, [*s.records], [*s.indexed], [*s.timed]] for s in decoded]


def _files(topic: str, when: str) -> str:
    return f"{topic} {when} the cut: [segment, offsets in .log, in .index, in .timeindex]"


def _positions(topic: str, when: str) -> str:
    return f"{topic} {when} the cut: each entry of .index points at its batch"


TRUNCATED_FILES = TruncatedFiles()
