"""What does it mean that clients saw a high watermark, a leader epoch or the end of one go back? Each is a class.

Sources: KIP-101 (where an epoch ends), KIP-207 and KIP-320 (a leader answers in its epoch alone), KIP-966.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from conformance.record.attached import Judged, Promised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from conformance.attach.evidence import AttachEvidence
    from conformance.record.attached import EpochEndTold, PartitionWatched

    OfCommitted = Callable[[Mapping[int, int]], tuple[Promised, str]]

_NO_EPOCHS = "brokers do not tell clients leader epochs here (Kafka does reliably from 2.4 on)"


def of_views(evidence: AttachEvidence, of_committed: OfCommitted) -> Iterator[Judged]:
    """Judge what clients saw of offsets and epochs.

    Args:
        evidence: all of it.
        of_committed: says what it means, and why, that something is gone that every in-sync replica had: of each
            partition, at a moment.
    """
    if all(one.leader_epoch is None for one in evidence.watched):
        for what in ("high_watermark_fell", "leader_epoch_fell", "epoch_ends_disagree"):
            yield Judged(what, 0, Promised.UNSEEN, _NO_EPOCHS)
        return
    fell = "the high watermark that consumers see fell although leader and epoch stayed"
    yield broken_if_any("high_watermark_fell", len(list(_falls(evidence.watched))), fell)
    older = "one broker told of an older leader epoch than before"
    yield broken_if_any("leader_epoch_fell", len(list(_epoch_falls(evidence.watched))), older)
    yield _epoch_ends(evidence, of_committed)


def broken_if_any(what: str, count: int, reason: str) -> Judged:
    """Judge what no setting allows: it is a broken promise wherever it is found."""
    return Judged(what, count, Promised.BROKEN if count else Promised.KEPT, reason if count else "none")


def _epoch_ends(evidence: AttachEvidence, of_committed: OfCommitted) -> Judged:
    """Judge where epochs end in the logs of now: none before a high watermark that was seen in it, or an older one."""
    what = "epoch_ends_disagree"
    ends = {(one.partition, one.leader_epoch): one.end_offset for one in evidence.epoch_ends}
    if not ends or evidence.attached.is_at_rest is False:
        return Judged(what, 0, Promised.UNSEEN, "no broker told at rest where leader epochs end")
    if disordered := sum(1 for _ in _disordered(evidence.epoch_ends)):
        return Judged(what, disordered, Promised.BROKEN, "a leader epoch ends before an older one does")
    cut = [
        (key[0], at_ns)
        for key, (highest, at_ns) in _highest(evidence.watched).items()
        if highest > ends.get(key, highest)
    ]
    if not cut:
        return Judged(what, 0, Promised.KEPT, "none")
    verdict, reason = of_committed({number: max(at for one, at in cut if one == number) for number, _ in cut})
    return Judged(what, len(cut), verdict, f"a leader epoch ends before a high watermark that was seen in it; {reason}")


def _disordered(ends: Iterable[EpochEndTold]) -> Iterator[EpochEndTold]:
    by_partition: dict[int, list[EpochEndTold]] = defaultdict(list)
    for one in ends:
        by_partition[one.partition].append(one)
    for epochs in by_partition.values():
        for older, newer in pairwise(sorted(epochs, key=lambda one: one.leader_epoch)):
            if newer.end_offset < older.end_offset:
                yield newer


def _highest(watched: Sequence[PartitionWatched]) -> Mapping[tuple[int, int], tuple[int, int]]:
    """Return the greatest high watermark that a leader told in each epoch of each partition, and when it first did."""
    highest: dict[tuple[int, int], tuple[int, int]] = {}
    for one in watched:
        if one.leader_epoch is not None and one.high_watermark is not None:
            key = (one.partition, one.leader_epoch)
            if one.high_watermark > highest.get(key, (-1, 0))[0]:
                highest[key] = (one.high_watermark, one.at_ns)
    return highest


def _falls(watched: Iterable[PartitionWatched]) -> Iterator[PartitionWatched]:
    """Yield looks at which the high watermark was less than before, of one leader in one epoch."""
    highest: dict[tuple[int, int, int], int] = {}
    for one in watched:
        if one.leader is None or one.leader_epoch is None or one.high_watermark is None:
            continue
        key = (one.partition, one.leader, one.leader_epoch)
        if one.high_watermark < highest.get(key, 0):
            yield one
        highest[key] = max(one.high_watermark, highest.get(key, 0))


def _epoch_falls(watched: Iterable[PartitionWatched]) -> Iterator[PartitionWatched]:
    newest: dict[tuple[int, int], int] = {}
    for one in watched:
        if one.leader_epoch is None or one.told_by < 0:  # whose id was not known yet
            continue
        key = (one.partition, one.told_by)
        if one.leader_epoch < newest.get(key, 0):
            yield one
        newest[key] = max(one.leader_epoch, newest.get(key, 0))
