"""Do those requirements hold in this run that every run is held against: HW-01, HW-09, HW-10?

They are no matter of one scenario. Two sources are counted: the probes after every step and at every checkpoint, and
the frames that the wire check replayed.

Choices: a replica that is down is not asked about. The order of HW-10 counts for an in-sync follower that has
fetched from this leader, and once the leader's high watermark has reached the start of its leader epoch; that is
where the log of the leader ended when the epoch was first seen. What the leader is then said to know of a follower
may be from an earlier leadership, what it knows of one that was down is from before, and a fetch that was delivered
late tells where its follower once ended: it must have changed since.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.record.observations import MeasuredCheckpoint, MeasuredNumbers
from conformance.record.verdict import EVERY_RUN, HeldInRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.record.observations import Observation, ReplicaSeen
    from conformance.record.trace_check import TraceResult

LOG_END, LEADER_NEVER_FALLS, ORDER = EVERY_RUN
ON_THE_WIRE: dict[str, tuple[int, ...]] = {LOG_END: (21,), LEADER_NEVER_FALLS: (14,), ORDER: ()}
"""The wire invariants, by number, that say the same: 14 of a leader's high watermark, 21 of a follower's.

None compares the five offsets of HW-10, each of them at most two: its order is held at probes alone.
"""
BREAKS = ON_THE_WIRE | {ORDER: (14, 21)}
"""The wire invariants that, where one does not hold, break the requirement."""


@dataclass(slots=True)
class _Epoch:
    """What is known of the leadership that is under way.

    Attributes:
        leader: who leads, and by which leader epoch.
        start: the first offset of the epoch.
        known: what the leader may know of its followers from before this epoch, or from before they were down, or by a
            fetch that was delivered late.
        high_watermark: the leader's at the last observation.
        last: what the leader was last seen to know of its followers.
    """

    leader: tuple[int, int]
    start: int
    known: dict[int, int | None]
    high_watermark: int = -1
    last: dict[int, int | None] = field(default_factory=dict)


@dataclass(slots=True)
class _Count:
    probes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ON_THE_WIRE, 0))
    broken: dict[str, list[str]] = field(default_factory=lambda: {each: [] for each in ON_THE_WIRE})
    epoch: _Epoch | None = None

    def note(self, requirement: str, words: str, *, holds: bool) -> None:
        if holds:
            self.probes[requirement] += 1
        else:
            self.broken[requirement].append(words)


def held_in_run(
    observations: Iterable[Observation], trace: TraceResult | None, late: Mapping[int, int] | None = None
) -> tuple[HeldInRun, ...]:
    """Return for each requirement of every run how often it held in one run, and where it did not.

    Args:
        observations: what the probes saw, in order.
        trace: what the wire check counted; None without one.
        late: whose fetch a step delivered late, by the index of the step.
    """
    count = _Count()
    for seen in observations:
        if isinstance(seen, MeasuredNumbers):
            _note_replicas(count, seen)
            _note_leader(count, seen, None if late is None or seen.step is None else late.get(seen.step))
    return tuple(
        HeldInRun(each, count.probes[each], _frames(trace, each), (*count.broken[each], *_violated(trace, each)))
        for each in ON_THE_WIRE
    )


def _frames(trace: TraceResult | None, requirement: str) -> int:
    invariants = () if trace is None else trace.invariants
    return sum(one.held for one in invariants if one.number in ON_THE_WIRE[requirement])


def _violated(trace: TraceResult | None, requirement: str) -> list[str]:
    if trace is None or trace.violation is None or trace.violation.invariant not in BREAKS[requirement]:
        return []
    return [trace.violation.text]


def _note_replicas(count: _Count, seen: MeasuredNumbers) -> None:
    for broker, numbers in seen.replicas.items():
        if numbers.alive:
            end, mark = numbers.log_end_offset, numbers.high_watermark
            words = f"{_where(seen)}: broker {broker} has high watermark {mark} and log end offset {end}"
            count.note(LOG_END, words, holds=mark <= end)


def _note_leader(count: _Count, seen: MeasuredNumbers, late: int | None) -> None:
    numbers = _alive(seen, seen.leader)
    if seen.leader is None or numbers is None:
        return
    epoch = _epoch_of(count, seen, seen.leader, numbers)
    mark = numbers.high_watermark
    if epoch.high_watermark >= 0:
        words = f"{_where(seen)}: the high watermark of leader {seen.leader} fell from {epoch.high_watermark} to {mark}"
        count.note(LEADER_NEVER_FALLS, words, holds=mark >= epoch.high_watermark)
    epoch.high_watermark = mark
    if late is not None:
        epoch.known[late] = seen.remote_log_end_offsets.get(late)
    for follower, remote in seen.remote_log_end_offsets.items():
        if mark >= epoch.start:
            _note_order(count, seen, epoch, follower, remote)
        epoch.last[follower] = remote
    for broker in seen.replicas:
        if _alive(seen, broker) is None:
            epoch.known[broker] = epoch.last.get(broker)


def _epoch_of(count: _Count, seen: MeasuredNumbers, broker: int, numbers: ReplicaSeen) -> _Epoch:
    leader = (broker, seen.leader_epoch)
    if count.epoch is None or count.epoch.leader != leader:
        is_first = seen.leader_epoch == 0
        known: Mapping[int, int | None] = {} if is_first else seen.remote_log_end_offsets
        count.epoch = _Epoch(leader, 0 if is_first else numbers.log_end_offset, dict(known))
    return count.epoch


def _note_order(count: _Count, seen: MeasuredNumbers, epoch: _Epoch, follower: int, remote: int | None) -> None:
    there, led = _alive(seen, follower), _alive(seen, seen.leader)
    if there is None or led is None or follower not in seen.isr:
        return
    if remote is None or epoch.known.get(follower) == remote or follower in seen.or_if_diverging_counts:
        return
    ends = (led.log_end_offset, there.log_end_offset, remote)
    order = (*ends, led.high_watermark, there.high_watermark)
    words = f"{_where(seen)}: leader {seen.leader} and follower {follower} stand at {order}"
    count.note(ORDER, words, holds=list(order) == sorted(order, reverse=True))


def _alive(seen: MeasuredNumbers, broker: int | None) -> ReplicaSeen | None:
    """Return the numbers of a replica that runs, or None."""
    numbers = None if broker is None else seen.replicas.get(broker)
    return numbers if numbers is not None and numbers.alive else None


def _where(seen: MeasuredNumbers) -> str:
    if isinstance(seen, MeasuredCheckpoint):
        return f"checkpoint {seen.name}"
    return f"after step {-1 if seen.step is None else seen.step + 1}"
