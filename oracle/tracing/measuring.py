"""Does a probe find what the replica may have? Invariants 14, 16 and 21 against measured numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.tracing.invariants import Invariant
from oracle.tracing.possibility import Bounds
from oracle.tracing.watermarks import OF_FOLLOWER, OF_LEADER, STRICT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.tracing.invariants import Judge
    from oracle.tracing.leadership import Leadership
    from oracle.tracing.observed import ReplicaMeasured
    from oracle.tracing.replica import Replica
    from oracle.vocabulary import Offset


class Measuring:
    """Checks measured numbers."""

    def __init__(self, judge: Judge) -> None:
        """Report to a judge."""
        self._judge = judge

    def check(self, replica: Replica, measured: ReplicaMeasured) -> None:
        """Check one measurement."""
        reachable = replica.reachable()
        earlier = [held for held in replica.history if held.until >= measured.since]
        ends = [Bounds(one.log.low.end, one.log.high.end) for one in reachable] + [held.end for held in earlier]
        watermarks = [one.high_watermark for one in reachable] + [held.high_watermark for held in earlier]
        invariant, rule = Invariant.HIGH_WATERMARK_OF_FOLLOWER, OF_FOLLOWER
        if replica.leadership is not None:
            replica.leadership.pass_time(measured.at)
            invariant, rule = self._of_leader(replica.leadership, measured.high_watermark)
            watermarks.append(Bounds(replica.leadership.low_at(measured.since), replica.leadership.high))
        end = "follower-appends-what-it-fetched"
        self._compare(
            Invariant.FETCH_OFFSET, f"broker {measured.broker} log end offset", measured.log_end_offset, ends, end
        )
        watermark = measured.high_watermark
        self._compare(invariant, f"broker {measured.broker} high watermark", watermark, watermarks, rule)

    def _of_leader(self, view: Leadership, number: int | None) -> tuple[Invariant, str]:
        """Return which invariant a leader's high watermark would break: what only a frozen one must not be, or any."""
        if view.knows_start_only():
            return Invariant.HIGH_WATERMARK_OF_FOLLOWER, OF_FOLLOWER
        if not view.is_frozen() or number is None:
            return Invariant.HIGH_WATERMARK_OF_LEADER, OF_LEADER
        if view.high < number <= view.thawed_high:
            return Invariant.FROZEN_HIGH_WATERMARK, STRICT
        self._judge.keeps(Invariant.FROZEN_HIGH_WATERMARK, holds=True)
        return Invariant.HIGH_WATERMARK_OF_LEADER, OF_LEADER

    def _compare(
        self, invariant: Invariant, name: str, number: Offset | None, bounds: Iterable[Bounds], rule: str
    ) -> None:
        if number is None:
            return
        if not self._judge.keeps(invariant, any(bound.has(number) for bound in bounds)):
            allowed = " or ".join(dict.fromkeys(f"{bound.low} to {bound.high}" for bound in bounds))
            raise self._judge.refusal(invariant, f"{name} is {number}", allowed, rule)
