"""The directory of a soak for tests: built from the forms of its files, as large as is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from conformance.record.attached import append_lines
from conformance.record.directory import RunDirectory
from conformance.record.ledger import NOT_SENT
from conformance.record.soak import AcksOfProducers, Soak, note_soak
from conformance.record.soak_counted import (
    CLASSES,
    COUNTED_FILE,
    ClassCounted,
    Compared,
    Control,
    LostTail,
    ReplicasCounted,
    RottenBatch,
    SoakCounted,
    SoakPartition,
    SoakRecord,
)
from conformance.record.soak_course import COURSE_FILE, LedState, PartitionCourse, SoakCourse
from conformance.record.soak_faults import FaultKind, FaultTimeline, PlannedFault, write_faults
from conformance.record.soak_prediction import (
    BATCHES_FILE,
    PREDICTION_FILE,
    RANGES_FILE,
    BatchRow,
    RangeRow,
    SoakPrediction,
    batches_schema,
    digest_of,
    ranges_schema,
    write_rows,
)
from conformance.record.soak_verdict import ApartAs, FaultsOfSoak, JudgedRange, ReplicasJudged, SoakVerdict
from conformance.record.timeline import TIMELINE_FILE, Event, TimelineMark
from conformance.record.verdict import VERDICT_FILE, Conformance, PromiseKept
from oracle.vocabulary import RangeFate

if TYPE_CHECKING:
    from pathlib import Path

S = 1_000_000_000
BEGAN_NS = 1000 * S
RULE = "truncate-to-high-watermark"
NO_FAULTS = FaultTimeline()
Counts = Mapping[str, ClassCounted]


@dataclass(frozen=True)
class SoakFiles:
    """What is in a soak's directory, before it is written."""

    soak: Soak
    counted: SoakCounted
    verdict: SoakVerdict
    course: SoakCourse | None
    faults: FaultTimeline = NO_FAULTS
    marks: tuple[TimelineMark, ...] = ()
    ranges: tuple[Mapping[str, Any], ...] = ()
    batches: tuple[Mapping[str, Any], ...] = ()
    violation: str | None = None
    why_not: str | None = None

    def write(self, runs: Path) -> RunDirectory:
        run = RunDirectory.create(runs, "soaked", ("prediction", "producers", "reconciliation"))
        note_soak(run, self.soak)
        write_faults(run, self.faults)
        append_lines(run, TIMELINE_FILE, list(self.marks))
        tables = (
            write_rows(run.path / RANGES_FILE, [RangeRow(**row) for row in self.ranges], ranges_schema()),
            write_rows(run.path / BATCHES_FILE, [BatchRow(**row) for row in self.batches], batches_schema()),
        )
        records = {fate.value: sum(_length(row) for row in self.ranges if row["fate"] == fate) for fate in RangeFate}
        rules_of = f"{self.soak.version} {self.soak.metadata}"
        told = {"violation": self.violation, "why_not": self.why_not}
        run.write(PREDICTION_FILE, SoakPrediction(rules_of, digest_of(*tables), records, 2000, 900, 3.5, **told))
        run.write(COUNTED_FILE, self.counted)
        run.write(VERDICT_FILE, self.verdict)
        if self.course is not None:
            run.write(COURSE_FILE, self.course)
        return run


def _length(row: Mapping[str, Any]) -> int:
    return int(row["last_offset"] - row["first_offset"] + 1)


def asked(**changes: Any) -> Soak:  # noqa: ANN401 - the fields of a soak
    soak = Soak(
        version="0.10.2.2",
        metadata="zookeeper",
        topic="soak-20261128t000000",
        partitions=2,
        replicas=3,
        min_insync_replicas=2,
        producers=4,
        acks=AcksOfProducers.MIXED,
        is_idempotent=False,
        base=1000,
        value_length=100,
        seed=7,
        faults="seed 7",
        records=2000,
        ends=(1000, 900),
        began_ns=BEGAN_NS,
        ended_ns=BEGAN_NS + 20 * S,
    )
    return replace(soak, **changes)


def counted_in(partition: int, attempted: int, classes: Counts, read: int | None = None) -> SoakPartition:
    every = {name: classes.get(name, ClassCounted()) for name in CLASSES}
    outcomes = {"acknowledged": attempted - 3, "refused": 2, "indeterminate": 1} if attempted else {}
    there = attempted if read is None else read
    return SoakPartition(partition, attempted, outcomes, there, there, 0, every, every)


def counted_of(*partitions: SoakPartition, samples: Sequence[SoakRecord] = (), **more: Any) -> SoakCounted:  # noqa: ANN401
    replicas = ReplicasCounted(120, 0, {}, (), (), logs=6, log_bytes=1_234_567)
    told = {
        "identity_holds": True,
        "control": Control(500, 490, 490, 0),
        "cross_check": (),
        "replicas": replicas,
        **more,
    }
    return SoakCounted(partitions, tuple(samples), Compared(40, 3, 150), **told)


def ranged(partition: int, epoch: int, first: int, last: int, fate: RangeFate, reason: str = "") -> dict[str, Any]:
    row = {"partition": partition, "leader_epoch": epoch, "leader": 1 + epoch % 3, "fate": fate.value}
    rule = "" if fate is RangeFate.PRESENT else RULE
    return {**row, "first_offset": first, "last_offset": last, "rule": rule, "reason": reason}


def batch(partition: int, epoch: int, base: int | None, count: int, answer: str, acks: int, fate: RangeFate) -> Any:  # noqa: ANN401
    row = {"partition": partition, "producer": 0, "first_id": 1000, "count": count, "step": 2, "base_offset": base}
    return {**row, "leader_epoch": epoch, "acks": acks, "answer": answer, "fate": fate.value, "rule": "", "reason": ""}


def killed(broker: int, at_s: float, for_s: float | None, text: str | None = None) -> list[TimelineMark]:
    words = text or f"broker {broker} killed (kill -9)"
    marks = [TimelineMark(Event.BROKER_KILLED, f"{broker}", words, BEGAN_NS + int(at_s * S))]
    if for_s is not None:
        ended_ns = BEGAN_NS + int((at_s + for_s) * S)
        marks.append(TimelineMark(Event.BROKER_STARTED, f"{broker}", f"broker {broker} started", ended_ns))
    return marks


def flowing(partitions: int, seconds: float, rate: int, states: Sequence[LedState] = ()) -> SoakCourse:
    buckets = 80
    width = seconds / buckets
    led = tuple(states) or (LedState(0.0, 1, 0, (1, 2, 3)),)
    counts = tuple(0 if 30 <= place < 40 else int(rate * width) for place in range(buckets))
    lag = tuple(9 if 30 <= place < 40 else 0 for place in range(buckets))
    courses = tuple(PartitionCourse(number, led) for number in range(partitions))
    return SoakCourse(width, counts, counts, lag, tuple(min(one, partitions) for one in lag), courses)


ALIKE = ReplicasJudged({})
KEPT = SoakFiles(
    soak=asked(),
    counted=counted_of(
        counted_in(0, 1000, {"kept": ClassCounted(1000)}), counted_in(1, 900, {"kept": ClassCounted(900)})
    ),
    verdict=SoakVerdict(
        Conformance.CONFORMS,
        PromiseKept.KEPT,
        "all 1,894 acknowledged records are there",
        (),
        FaultsOfSoak(1, 1),
        ALIKE,
    ),
    course=flowing(2, 20.0, 100),
    faults=FaultTimeline((PlannedFault(5.0, FaultKind.KILL, 3.0, broker=1),), seed=7),
    marks=tuple(killed(1, 5.0, 3.0)),
    ranges=(ranged(0, 0, 0, 999, RangeFate.PRESENT), ranged(1, 0, 0, 899, RangeFate.PRESENT)),
)
"""A soak in which one broker was killed, and everything was kept."""
DIVERGED = ReplicasCounted(
    118,
    9,
    {0: 31},
    (LostTail(1, 3, 890, 10),),
    (),
    rotten=1,
    rotten_samples=(RottenBatch(1, 2, "00000000000000000000.log", 40_310, 412, 418),),
    logs=5,
    log_bytes=912,
    unread=("partition 1 has 3 replicas, and a folder on the disks of these brokers: 1, 2",),
)
APART = ReplicasJudged(
    {"predicted": 28, "either": 0, "against": 3, "not_there": 0},
    (
        JudgedRange(ApartAs.AGAINST, 0, 2, 3, 700, 702),
        JudgedRange(ApartAs.PREDICTED, 0, 1, 2, 285, 312, "broker 1 has records of leader epoch 0, broker 2 of 2"),
    ),
    more_ranges=4,
)
LOSING = replace(
    KEPT,
    counted=counted_of(
        counted_in(0, 1000, {"kept": ClassCounted(940, 20), "lost": ClassCounted(40)}),
        counted_in(1, 900, {"kept": ClassCounted(890), "moved": ClassCounted(against=10)}),
        samples=[
            SoakRecord("lost", "predicted", 0, 1004, "acknowledged", 310, 0, None, None, None),  # type: ignore[arg-type]
            SoakRecord("moved", "against", 1, 1005, "acknowledged", 77, 1, 0, 78, 77),  # type: ignore[arg-type]
        ],
        errors={"NOT_LEADER_FOR_PARTITION": 12, NOT_SENT: 4},
        replicas=DIVERGED,
    ),
    verdict=SoakVerdict(
        Conformance.DEVIATES,
        PromiseKept.ALLOWED_BY_SETTINGS,
        "10 records are not as predicted",
        ("10 records are not as predicted",),
        faults=FaultsOfSoak(1, 1, 1, ("a frame that was lain in wait for never came",)),
        replicas=APART,
    ),
    faults=FaultTimeline(
        (PlannedFault(5.0, FaultKind.KILL_AHEAD, 3.0, partition=0), PlannedFault(44.0, FaultKind.ROLL, 1.0)), 7, True
    ),
    ranges=(
        ranged(0, 0, 0, 299, RangeFate.PRESENT),
        ranged(0, 0, 300, 339, RangeFate.LOST, "leader epoch 1 began at offset 300 on broker 2, which had no more"),
        ranged(0, 0, 340, 359, RangeFate.EITHER, "leader epoch 1 began at offset 300 on broker 2, or later"),
        ranged(0, 1, 300, 999, RangeFate.PRESENT),
        ranged(1, 0, 0, 899, RangeFate.PRESENT),
    ),
    batches=(
        batch(0, 0, 300, 25, "acknowledged", 1, RangeFate.LOST),
        batch(0, 0, 325, 20, "acknowledged", -1, RangeFate.LOST),
        batch(0, 0, None, 3, "none", 1, RangeFate.EITHER),
    ),
)
"""One in which records are lost, and open, and some are against the prediction."""
