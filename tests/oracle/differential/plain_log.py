"""What does a broker's log do? A list of [label, epoch] and, beside it, a list of [epoch, start offset].

Written from Log / UnifiedLog and LeaderEpochFileCache; a log is changed in place.
"""

from __future__ import annotations

from typing import Any

Broker = dict[str, Any]
Answer = tuple[int | None, int | None]
"""An epoch and its end offset; None where the leader does not say."""

UNKNOWN: Answer = (None, None)


def end_of(broker: Broker) -> int:
    """Return the log end offset."""
    return len(broker["log"])


def latest_epoch(broker: Broker) -> int:
    """Return the last epoch of the cache, or -1."""
    return broker["cache"][-1][0] if broker["cache"] else -1


def append(broker: Broker, records: list[list[Any]], facts: dict[str, Any]) -> None:
    """Append [label, epoch] records; 0.10.2 keeps no epochs."""
    for label, epoch in records:
        if not facts["old_format"]:
            assign_epoch(broker, epoch, facts)
        broker["log"].append([label, epoch])


def assign_epoch(broker: Broker, epoch: int, facts: dict[str, Any]) -> None:
    """Note that an epoch starts at the log's end."""
    if facts["version"] < (0, 11):
        return
    cache, start = broker["cache"], end_of(broker)
    if facts["epoch_at_election"]:
        if not cache or cache[-1][0] != epoch or start < cache[-1][1]:
            broker["cache"] = [[e, s] for e, s in cache if e < epoch and s < start] + [[epoch, start]]
    elif not cache or (epoch > cache[-1][0] and start >= cache[-1][1]):
        cache.append([epoch, start])


def truncate(broker: Broker, offset: int, facts: dict[str, Any]) -> None:
    """Cut to an offset; a release may leave an epoch without records in the cache if there is nothing to cut."""
    if offset < end_of(broker) or facts["trims_epochs_always"]:
        load(broker, offset)


def load(broker: Broker, offset: int) -> None:
    """Cut to an offset; entries of the cache at the new end or after it go, and the high watermark follows."""
    del broker["log"][offset:]
    broker["cache"] = [[epoch, start] for epoch, start in broker["cache"] if start < end_of(broker)]
    broker["high_watermark"] = min(broker["high_watermark"], end_of(broker))


def end_offset_for(broker: Broker, epoch: int, facts: dict[str, Any]) -> Answer:
    """Return what this broker's cache says about an epoch, as OffsetsForLeaderEpoch would answer."""
    cache = broker["cache"]
    if epoch == -1 and not (facts["tells_end_of_no_epoch"] and not cache):
        return UNKNOWN
    if epoch == latest_epoch(broker):
        return (epoch, end_of(broker))
    later = [start for other, start in cache if other > epoch]
    if not later:
        return UNKNOWN
    not_later = [other for other, _ in cache if other <= epoch]
    if not_later:
        return (not_later[-1], later[0])
    return (epoch, later[0]) if facts["epoch_at_election"] else UNKNOWN


def cut_point(broker: Broker, answer: Answer, fallback: int, facts: dict[str, Any]) -> tuple[int, bool]:
    """Return where a follower cuts after a leader's answer, and whether it is done then.

    Args:
        broker: the follower.
        answer: the leader's epoch and end offset.
        fallback: where it cuts if the leader cannot tell.
        facts: the release's facts.
    """
    epoch, end = answer
    own_end = end_of(broker)
    if end is None:
        return min(fallback, own_end), True
    if epoch is None or not facts["answers_epoch"]:
        return min(end, own_end), True
    known_epoch, known_end = end_offset_for(broker, epoch, facts)
    if known_end is None:
        return min(end, own_end), True
    if known_epoch != epoch:
        return min(known_end, own_end), False
    return min(known_end, end, own_end), True
