"""For how many observations of a run did those requirements hold that every run is held against?

HW-01, HW-09 and HW-10 are no matter of one scenario. Two sources are counted: the probes after every step and
at every checkpoint (observations.ndjson), and the frames that the wire check replayed (trace_check.json).

Choices: a replica that is down is not asked about. The order of HW-10 counts for an in-sync follower that has
fetched from this leader, and once the leader's high watermark has reached the start of its leader epoch; that is
where the log of the leader ended when the epoch was first seen. What the leader is then said to know of a follower
may be from an earlier leadership, and what it knows of one that was down is from before: it must have changed since.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reports.wire import Wire

LOG_END, LEADER_NEVER_FALLS, ORDER = "HW-01", "HW-09", "HW-10"
ON_THE_WIRE: dict[str, tuple[int, ...]] = {LOG_END: (21,), LEADER_NEVER_FALLS: (14,), ORDER: ()}
"""The wire invariants, by number, that say the same: 14 of a leader's high watermark, 21 of a follower's.

None compares the five offsets of HW-10, each of them at most two: its order is held at probes alone.
"""
BREAKS = ON_THE_WIRE | {ORDER: (14, 21)}
"""The wire invariants that, where one does not hold, break the requirement."""
PROBED = ("numbers", "checkpoint")


@dataclass(frozen=True, slots=True)
class Held:
    """How often a requirement held.

    Attributes:
        probes: observations of the probes for which it held.
        frames: observations on the wire for which it held.
        broken: where it did not, one sentence each.
    """

    probes: int = 0
    frames: int = 0
    broken: tuple[str, ...] = ()

    @property
    def observations(self) -> int:
        """How many observations it held for."""
        return self.probes + self.frames

    def __add__(self, other: Held) -> Held:
        return Held(self.probes + other.probes, self.frames + other.frames, (*self.broken, *other.broken))


@dataclass(slots=True)
class _Epoch:
    """What is known of the leadership that is under way.

    Attributes:
        leader: who leads, and by which leader epoch.
        start: the first offset of the epoch.
        high_watermark: the leader's at the last observation.
        last: what the leader was last seen to know of its followers.
        known: what the leader may know of its followers from before this epoch, or from before they were down.
    """

    leader: tuple[int, int]
    start: int
    known: dict[str, Any]
    high_watermark: int = -1
    last: dict[str, Any] = field(default_factory=dict)


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


def held_in_run(observations: Iterable[Mapping[str, Any]], wire: Wire | None) -> dict[str, Held]:
    """Return for each requirement of every run how often it held in one run."""
    count = _Count()
    for seen in observations:
        if seen.get("kind") in PROBED:
            _note_replicas(count, seen)
            _note_leader(count, seen)
    return {
        each: Held(count.probes[each], _frames(wire, each), (*count.broken[each], *_violated(wire, each)))
        for each in ON_THE_WIRE
    }


def _frames(wire: Wire | None, requirement: str) -> int:
    invariants = () if wire is None else wire.invariants
    return sum(one.held for one in invariants if one.number in ON_THE_WIRE[requirement])


def _violated(wire: Wire | None, requirement: str) -> list[str]:
    if wire is None or wire.violation is None:
        return []
    number = int(wire.violation.invariant.split(",")[0])
    return [wire.sentence] if number in BREAKS[requirement] else []


def _note_replicas(count: _Count, seen: Mapping[str, Any]) -> None:
    for broker, numbers in seen["replicas"].items():
        end, mark = numbers.get("log_end_offset"), numbers.get("high_watermark")
        if numbers.get("alive") and end is not None and mark is not None:
            words = f"{_where(seen)}: broker {broker} has high watermark {mark} and log end offset {end}"
            count.note(LOG_END, words, holds=mark <= end)


def _note_leader(count: _Count, seen: Mapping[str, Any]) -> None:
    leader, numbers = seen.get("leader"), _alive(seen, seen.get("leader"))
    if leader is None or numbers is None or seen.get("leader_epoch") is None:
        return
    epoch = _epoch_of(count, seen, numbers)
    mark = numbers["high_watermark"]
    if epoch.high_watermark >= 0:
        words = f"{_where(seen)}: the high watermark of leader {leader} fell from {epoch.high_watermark} to {mark}"
        count.note(LEADER_NEVER_FALLS, words, holds=mark >= epoch.high_watermark)
    epoch.high_watermark = mark
    for follower, remote in seen.get("remote_log_end_offsets", {}).items():
        if mark >= epoch.start:
            _note_order(count, seen, epoch, (str(follower), remote))
        epoch.last[str(follower)] = remote
    for broker in seen["replicas"]:
        if _alive(seen, broker) is None:
            epoch.known[broker] = epoch.last.get(broker)


def _epoch_of(count: _Count, seen: Mapping[str, Any], numbers: Mapping[str, Any]) -> _Epoch:
    leader = (seen["leader"], seen["leader_epoch"])
    if count.epoch is None or count.epoch.leader != leader:
        is_first = seen["leader_epoch"] == 0
        known = {} if is_first else dict(seen.get("remote_log_end_offsets", {}))
        count.epoch = _Epoch(leader, 0 if is_first else numbers["log_end_offset"], known)
    return count.epoch


def _note_order(count: _Count, seen: Mapping[str, Any], epoch: _Epoch, told: tuple[str, Any]) -> None:
    follower, remote = told
    there, led = _alive(seen, follower), _alive(seen, seen["leader"])
    if there is None or led is None or int(follower) not in seen["isr"]:
        return
    if remote is None or epoch.known.get(follower) == remote or follower in seen.get("or_if_diverging_counts", {}):
        return
    ends = (led["log_end_offset"], there["log_end_offset"], remote)
    order = (*ends, led["high_watermark"], there["high_watermark"])
    words = f"{_where(seen)}: leader {seen['leader']} and follower {follower} stand at {order}"
    count.note(ORDER, words, holds=list(order) == sorted(order, reverse=True))


def _alive(seen: Mapping[str, Any], broker: object) -> Mapping[str, Any] | None:
    """Return the numbers of a replica that runs and answered, or None."""
    numbers: Mapping[str, Any] = seen["replicas"].get(str(broker), {})
    is_known = numbers.get("log_end_offset") is not None and numbers.get("high_watermark") is not None
    return numbers if numbers.get("alive") and is_known else None


def _where(seen: Mapping[str, Any]) -> str:
    return f"checkpoint {seen['name']}" if seen.get("name") else f"after step {seen.get('step', -1) + 1}"
