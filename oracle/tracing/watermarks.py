"""Is the high watermark in an answer one that its leader may have? Invariants 14, 21 and 22."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.tracing.invariants import Invariant

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.exchange import Exchange
    from oracle.tracing.invariants import Judge
    from oracle.tracing.leadership import Leadership
    from oracle.tracing.observed import FetchAnswered
    from oracle.vocabulary import Offset

OF_LEADER = "high-watermark-is-lowest-end-offset"
OF_FOLLOWER = "follower-learns-high-watermark-from-answer"
STRICT = "high-watermark-needs-min-isr"


class Watermarks:
    """Checks the high watermarks that leaders tell."""

    def __init__(self, rules: RuleSet, judge: Judge) -> None:
        """Check under a release's rules."""
        self._rules = rules
        self._judge = judge

    def check(self, view: Leadership, exchange: Exchange, answer: FetchAnswered) -> None:
        """Check the high watermark in an answer: an immediate one was read before its own fetch counted."""
        told = answer.high_watermark
        is_after = self._rules.answers_new_high_watermark
        low = view.low if is_after else exchange.low
        high = view.high if is_after or not exchange.is_immediate else view.highest_without(exchange)
        if view.is_frozen():
            is_still = self._judge.keeps(Invariant.FROZEN_HIGH_WATERMARK, told <= high or told > view.thawed_high)
            if not is_still:
                raise self._refusal(Invariant.FROZEN_HIGH_WATERMARK, view, told, f"at most {high}", STRICT)
        self._check_bounds(view, told, low, high)
        view.hear(told)

    def _check_bounds(self, view: Leadership, told: Offset, low: Offset, high: Offset) -> None:
        invariant, rule = Invariant.HIGH_WATERMARK_OF_LEADER, OF_LEADER
        if view.knows_start_only():
            invariant, rule = Invariant.HIGH_WATERMARK_OF_FOLLOWER, OF_FOLLOWER
        if not self._judge.keeps(invariant, low <= told <= high):
            raise self._refusal(invariant, view, told, f"between {low} and {high}" if low < high else str(low), rule)

    def _refusal(self, invariant: Invariant, view: Leadership, told: Offset, allowed: str, rule: str) -> Exception:
        return self._judge.refusal(invariant, f"leader {view.broker} tells the high watermark {told}", allowed, rule)
