"""What must have become of every record of a soak? Predicted by a release's rules from the wire, and frozen.

Nothing else is read: no log of a broker, no topic, no probe. Frames, and what the tester did to processes, are replayed
by the rules of the release (``lineage``); what its logs hold at rest decides, range by range, and batches that are no
plain case are followed one by one (``batches``). Written with its digest before anybody reads the topic.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.observation.errors import TraceUnreadableError
from conformance.record.soak_course import COURSE_FILE
from conformance.record.soak_prediction import (
    BATCHES_FILE,
    PREDICTION_FILE,
    RANGES_FILE,
    REPLICAS_FILE,
    RangeRow,
    SoakPrediction,
    batches_schema,
    digest_of,
    ranges_schema,
    replicas_schema,
    write_rows,
)
from conformance.record.timeline import HOLD_ENDS, Event, read_timeline
from conformance.record.wire import NONE
from conformance.soak.batches import FollowedBatches
from conformance.soak.course import Course
from conformance.soak.lineage import Lineage
from conformance.soak.open_batches import IdsSentAgain
from conformance.soak.replicas import replicas_rows
from conformance.soak.stream import SoakStream, told_of
from oracle.guarantees import PromiseVerdict
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode, RangeFate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.record.directory import RunDirectory
    from conformance.record.soak import Soak
    from conformance.record.soak_prediction import BatchRow
    from conformance.record.wire import BatchOfIds
    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.committed import FatedRange
    from oracle.tracing.observed import TopicPartition


def predict_soak(
    run: RunDirectory, soak: Soak, rules: RuleSet | None = None, tell: Callable[[str], None] = lambda _: None
) -> SoakPrediction:
    """Predict what became of every record, write it to ``prediction/``, and return what is frozen.

    Args:
        run: the soak's directory, with its trace at an end.
        soak: of it.
        rules: another release's, by which frames that its brokers would not send are passed over; None takes those of
            the brokers.
        tell: told every few seconds how far it is.
    """
    began = time.monotonic()
    predicted = _PredictionInMaking(run, soak, rules or rules_for(soak.version, MetadataMode(soak.metadata)))
    why_not = None
    try:
        predicted.replay(tell)
    except TraceUnreadableError as error:
        why_not = str(error)
    ranges, digest = _written(run, predicted, is_known=why_not is None)
    report = predicted.lineage.report()
    frozen = SoakPrediction(
        rules_of=f"{predicted.lineage.rules.version} {predicted.lineage.rules.metadata.value}",
        digest=digest,
        records=_counted(ranges),
        touched=predicted.touched,
        events=sum(report.events.values()),
        seconds=round(time.monotonic() - began, 3),
        violation=None if report.passed_over is None else str(report.passed_over),
        why_not=why_not,
    )
    run.write(PREDICTION_FILE, frozen)
    run.write(COURSE_FILE, predicted.course.course())
    return frozen


def _written(run: RunDirectory, predicted: _PredictionInMaking, *, is_known: bool) -> tuple[list[RangeRow], str]:
    """Write what was predicted as tables, which are empty if nothing is known; return the ranges, and the digest."""
    batches = list(predicted.batches()) if is_known else []
    ranges = list(predicted.ranges(RangePromises(batches))) if is_known else []
    replicas = list(replicas_rows(predicted.lineage, batches)) if is_known else []
    digest = digest_of(
        write_rows(run.path / RANGES_FILE, ranges, ranges_schema()),
        write_rows(run.path / BATCHES_FILE, batches, batches_schema()),
        write_rows(run.path / REPLICAS_FILE, replicas, replicas_schema()),
    )
    return ranges, digest


def _counted(ranges: Sequence[RangeRow]) -> dict[str, int]:
    counts = {fate.value: 0 for fate in RangeFate}
    for row in ranges:
        counts[row.fate] += row.last_offset - row.first_offset + 1
    return counts


class _PredictionInMaking:
    """One prediction in the making."""

    def __init__(self, run: RunDirectory, soak: Soak, rules: RuleSet) -> None:
        self._run = run
        self._soak = soak
        self.lineage = Lineage(rules, soak)
        self.course = Course(soak)
        self._again = IdsSentAgain(soak)
        self._faults = StandingFaults(run)
        self.touched = 0
        self._followed: FollowedBatches

    def replay(self, tell: Callable[[str], None]) -> None:
        """Go through the trace, and tell how far it is.

        Raises:
            TraceUnreadableError: it cannot be read.
        """
        stream = SoakStream(self._run, self._soak, self._sent)
        for event in told_of(stream, self._soak, tell):
            self.lineage.feed(event)
            self.course.feed(event)
        self._is_plain = not stream.produced.unplaced and self._again.are_none and self.lineage.keeps_all()
        self._followed = FollowedBatches(self._run, self._soak, self.lineage, self._again, tell)

    def _sent(self, partition: int, batch: BatchOfIds, at: int) -> None:
        new = batch.count if batch.first_id == NONE else self._again.sent(partition, batch.first_id, batch.count)
        self.course.sent(batch.count, at)
        self.touched += new * self._faults.stand_at(at)

    def batches(self) -> Iterator[BatchRow]:
        """Yield the rows of what is no plain case; if all is, the trace is not gone through again for them."""
        if not self._is_plain:
            yield from self._followed.rows()

    def ranges(self, promises: RangePromises) -> Iterator[RangeRow]:
        """Yield what each partition holds, epoch by epoch, and what was acknowledged and is lost, or may be."""
        for name, final in sorted(self.lineage.final.items()):
            held = final.spans()
            lost = (one for one in self.lineage.acknowledged(name) if one.fate is RangeFate.LOST)
            for one in sorted((*held, *lost), key=lambda one: (one.first, one.leader_epoch)):
                row = self._range(name, one)
                yield replace(row, promise=promises.of(row))

    def _range(self, partition: TopicPartition, one: FatedRange) -> RangeRow:
        is_present = one.fate is RangeFate.PRESENT
        return RangeRow(
            partition=partition.partition,
            leader_epoch=one.leader_epoch,
            leader=self.lineage.leaders.get((partition, one.leader_epoch), NONE),
            first_offset=one.first,
            last_offset=one.last,
            fate=one.fate.value,
            rule="" if is_present else self.lineage.rules.truncation.rule.name,
            reason=self._followed.why(partition, one.leader_epoch, one.fate),
        )


class RangePromises:
    """What is the loss of ranges to what was promised? As the acknowledged batches in them have it."""

    def __init__(self, batches: Sequence[BatchRow]) -> None:
        self._batches: defaultdict[tuple[int, int, str], list[BatchRow]] = defaultdict(list)
        for row in batches:
            if row.promise:
                self._batches[row.partition, row.leader_epoch, row.fate].append(row)

    def of(self, told: RangeRow) -> str:
        """Return the gravest of the promises about what is in a range; nothing if none was made."""
        found = {row.promise for row in self._batches[told.partition, told.leader_epoch, told.fate] if _meet(row, told)}
        return next((one for one in (PromiseVerdict.BROKEN, PromiseVerdict.ALLOWED_BY_SETTINGS) if one in found), "")


def _meet(row: BatchRow, told: RangeRow) -> bool:
    """Return whether records of a batch are in a range, or may be."""
    base = row.base_offset
    return base is None or (base <= told.last_offset and told.first_offset < base + row.count)


class StandingFaults:
    """When did a fault stand, or a broker lie down? Asked moment by moment, in the order of time."""

    _ENDED_BY: Mapping[Event, frozenset[Event]] = {
        Event.FAULT_FIRED: frozenset({Event.FAULT_HEALED}),
        Event.HOLD_CAUGHT: HOLD_ENDS | {Event.HOLD_DISARMED},
        Event.BROKER_KILLED: frozenset({Event.BROKER_STARTED}),
        Event.BROKER_STOPPED: frozenset({Event.BROKER_STARTED}),
        Event.BROKER_PAUSED: frozenset({Event.BROKER_RESUMED}),
    }
    """A hold is a fault whose marks are its own."""

    def __init__(self, run: RunDirectory) -> None:
        ends = frozenset[Event]().union(*self._ENDED_BY.values())
        marks = read_timeline(run, may_be_cut=True)
        self._changes = [mark for mark in marks if mark.event in self._ENDED_BY or mark.event in ends]
        self._place = 0
        self._standing: set[tuple[Event, object]] = set()

    def stand_at(self, moment: int) -> bool:
        """Return whether one stands at a moment, not before the last that was asked about."""
        while self._place < len(self._changes) and self._changes[self._place].t_ns <= moment:
            mark = self._changes[self._place]
            self._standing -= {(one, mark.subject) for one, ends in self._ENDED_BY.items() if mark.event in ends}
            self._standing |= {(mark.event, mark.subject)} if mark.event in self._ENDED_BY else set()
            self._place += 1
        return bool(self._standing)
