"""Do the replicas of a soak differ where it was predicted, and nowhere else? Ranges of offsets are held against ranges.

A tail that is lost and a batch that has rotted are against every prediction: at rest every replica in sync has all that
is below the high watermark, as it was appended.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from conformance.record.soak_prediction import ReplicasFate
from conformance.record.soak_verdict import ApartAs, JudgedRange, ReplicasJudged
from conformance.soak.spans import OffsetSpan, Spans, length, union, within, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from conformance.record.soak_counted import DivergedRange, ReplicasCounted
    from conformance.record.soak_prediction import ReplicasRow

RANGES_TOLD = 60
Place = tuple[int, int, int]
"""A partition and two of its brokers."""
_GRAVEST_FIRST = (ApartAs.AGAINST, ApartAs.NOT_THERE, ApartAs.EITHER, ApartAs.PREDICTED)
_SENTENCES = {
    ApartAs.AGAINST: "replicas differ at {0:,} offsets where they must not: {1}",
    ApartAs.NOT_THERE: "replicas are alike at {0:,} offsets where they must differ: {1}",
    ApartAs.EITHER: "replicas differ at {0:,} offsets where the wire leaves it open: {1}",
}


class JudgedReplicas:
    """What segment files say, held against what was predicted of them.

    Args:
        counted: what the files say.
        rows: what was predicted; None if nothing could be.
    """

    def __init__(self, counted: ReplicasCounted, rows: Sequence[ReplicasRow] | None) -> None:
        self._counted = counted
        self._rows = rows or ()
        found = _by_place(counted.ranges) if rows is not None else {}
        must = _by_place(one for one in self._rows if one.fate == ReplicasFate.DIFFERENT)
        may = _by_place(one for one in self._rows if one.fate == ReplicasFate.EITHER)
        is_whole = not counted.unread and not counted.more_ranges
        self._spans: dict[ApartAs, dict[Place, Spans]] = {
            ApartAs.AGAINST: _each(
                found, lambda at, spans: without(spans, union((*must.get(at, ()), *may.get(at, ()))))
            ),
            ApartAs.NOT_THERE: _each(must if is_whole else {}, lambda at, spans: without(spans, found.get(at, ()))),
            ApartAs.EITHER: _each(found, lambda at, spans: within(spans, may.get(at, ()))),
            ApartAs.PREDICTED: _each(found, lambda at, spans: within(spans, must.get(at, ()))),
        }

    def judged(self) -> ReplicasJudged:
        """Return at how many offsets they differ as predicted, and not, and where."""
        listed = [(kind, *one) for kind in _GRAVEST_FIRST for one in _listed(self._spans[kind])]
        counts = {kind.value: _offsets(spans) for kind, spans in self._spans.items()}
        told = tuple(self._range(*one) for one in listed[:RANGES_TOLD])
        return ReplicasJudged(counts, told, len(listed[RANGES_TOLD:]))

    def _range(self, kind: ApartAs, place: Place, span: OffsetSpan) -> JudgedRange:
        reasons = (
            row.reason
            for row in self._rows
            if (row.partition, row.broker_a, row.broker_b) == place
            and row.first_offset <= span.first <= row.last_offset
        )
        return JudgedRange(kind, *place, span.first, span.end - 1, next(reasons, ""))

    def _sentence(self, kind: ApartAs) -> Iterator[str]:
        if spans := self._spans[kind]:
            (partition, one, other), (first, end) = next(_listed(spans))
            where = f"those of brokers {one} and {other} of partition {partition} at {first:,} to {end - 1:,}"
            yield _SENTENCES[kind].format(_offsets(spans), where)

    def against(self) -> Iterator[str]:
        """Yield what is against the prediction, or against every one, in sentences."""
        yield from self._sentence(ApartAs.AGAINST)
        yield from self._sentence(ApartAs.NOT_THERE)
        yield from self._harmed()

    def _harmed(self) -> Iterator[str]:
        if tails := self._counted.lost_tails:
            one = tails[0]
            yield (
                f"{len(tails):,} replicas end below the high watermark at rest: that of broker {one.broker} of "
                f"partition {one.partition} at offset {one.log_end:,}, {one.records:,} records short"
            )
        for batch in self._counted.rotten_samples[:1]:
            yield (
                f"{self._counted.rotten:,} batches are not what their checksum says: offsets {batch.first_offset:,} to "
                f"{batch.last_offset:,} of partition {batch.partition} on broker {batch.broker}, {batch.segment} from "
                f"byte {batch.position:,} on"
            )

    def undecided(self) -> Iterator[str]:
        """Yield what leaves it open whether replicas are as predicted."""
        unread = self._counted.unread
        if unread:
            more = f" (and {len(unread) - 1:,} more)" if len(unread) > 1 else ""
            yield f"a replica was not read: {unread[0]}{more}"
        yield from self._sentence(ApartAs.EITHER)
        if self._counted.more_ranges:
            yield f"replicas differ in {self._counted.more_ranges:,} ranges more than were held against the prediction"


def _by_place(ranges: Iterable[DivergedRange] | Iterable[ReplicasRow]) -> dict[Place, Spans]:
    found: defaultdict[Place, list[OffsetSpan]] = defaultdict(list)
    for one in ranges:
        found[one.partition, one.broker_a, one.broker_b].append(OffsetSpan(one.first_offset, one.last_offset + 1))
    return {place: union(spans) for place, spans in found.items()}


def _offsets(spans: Mapping[Place, Spans]) -> int:
    """Return how many offsets of how many partitions these are, each once, whoever differs there."""
    partitions: defaultdict[int, list[OffsetSpan]] = defaultdict(list)
    for (partition, *_), several in spans.items():
        partitions[partition] += several
    return sum(length(union(several)) for several in partitions.values())


def _each(several: Mapping[Place, Spans], what: Callable[[Place, Spans], Spans]) -> dict[Place, Spans]:
    return {at: left for at, spans in several.items() if (left := what(at, spans))}


def _listed(several: Mapping[Place, Spans]) -> Iterator[tuple[Place, OffsetSpan]]:
    return ((at, one) for at in sorted(several) for one in several[at])
