"""What must the replicas of a soak hold at rest, next to one another? Predicted from the wire, as ranges of offsets.

The replay knows the log of every replica at rest by leader epochs. One leader appends in an epoch, so at one offset two
replicas hold the same record exactly if both hold one of the same epoch. Up to 0.10.2 replicas in sync do not always: a
follower that takes a new leader cuts its log to its own high watermark, and fetches on from there, whatever its leader
has below (KIP-101).

Batches of those releases carry no epoch. A batch that was sent again, and came to lie at the same offset in another
epoch, cannot be told from the first: there either may be.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from conformance.record.soak_prediction import ReplicasFate, ReplicasRow
from conformance.soak.spans import OffsetSpan, union, within, without
from oracle.tracing.committed import replicas_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from conformance.record.soak_prediction import BatchRow
    from conformance.soak.lineage import Lineage
    from conformance.soak.spans import Spans
    from oracle.tracing.committed import Epochs, ReplicasApart


def replicas_rows(lineage: Lineage, batches: Iterable[BatchRow]) -> Iterator[ReplicasRow]:
    """Yield where two replicas of a partition must differ, or may.

    Args:
        lineage: replayed to its end.
        batches: what was predicted of those that are no plain case.
    """
    alike = same_records(batches) if lineage.rules.truncation.notes_epochs else {}
    final = lineage.final
    rule = lineage.rules.truncation.rule.name
    for name, logs in sorted(lineage.logs().items()):
        end, why_open = final[name].end, final[name].why_open
        for pair in combinations(sorted(lineage.brokers), 2) if why_open is not None and end else ():
            yield ReplicasRow(name.partition, *pair, 0, end - 1, ReplicasFate.EITHER.value, rule, why_open or "")
        for one in replicas_apart(logs, end):
            yield from _rows(name.partition, one, rule, alike.get(name.partition, ()))


def _rows(partition: int, one: ReplicasApart, rule: str, alike: Spans) -> Iterator[ReplicasRow]:
    whole = (OffsetSpan(one.first, one.last + 1),)
    open_ones = within(whole, alike) if one.is_certain else whole
    told = [(span, ReplicasFate.EITHER) for span in open_ones]
    told += [(span, ReplicasFate.DIFFERENT) for span in without(whole, open_ones)]
    for (first, end), fate in sorted(told):
        left, right = one.brokers
        yield ReplicasRow(partition, left, right, first, end - 1, fate.value, rule, _reason(one))


def _reason(one: ReplicasApart) -> str:
    has = (f"broker {broker} has {_words(epochs)}" for broker, epochs in zip(one.brokers, one.epochs, strict=True))
    return ", ".join(has)


def _words(epochs: Epochs) -> str:
    return "records of leader epoch " + " or ".join(map(str, sorted(epochs)))


def same_records(batches: Iterable[BatchRow]) -> Mapping[int, Spans]:
    """Return at which offsets of each partition the same records were appended in more than one leader epoch.

    Ids rise with the offsets by one step, so two copies are at the same offsets if their ids are those of one line.
    """
    lines: defaultdict[tuple[int, int], list[BatchRow]] = defaultdict(list)
    for row in batches:
        if row.base_offset is not None:
            lines[row.partition, row.first_id - row.base_offset * row.step].append(row)
    found: defaultdict[int, list[OffsetSpan]] = defaultdict(list)
    for (partition, _), rows in lines.items():
        found[partition] += _in_two_epochs(rows)
    return {partition: union(spans) for partition, spans in found.items()}


def _in_two_epochs(rows: Iterable[BatchRow]) -> Iterator[OffsetSpan]:
    by_epoch: defaultdict[int, list[OffsetSpan]] = defaultdict(list)
    for row in rows:
        assert row.base_offset is not None
        by_epoch[row.leader_epoch].append(OffsetSpan(row.base_offset, row.base_offset + row.count))
    for one, other in combinations(by_epoch.values(), 2):
        yield from within(union(one), union(other))
