"""Does a leader answer about epochs what its epoch cache says? Invariant 17.

The cache is reconstructed from the elections and from the records that the leader is seen to have. A
lookup, a diverging epoch and the records themselves all show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.tracing.invariants import Invariant
from oracle.tracing.possibility import Possibility, carries_epochs

if TYPE_CHECKING:
    from oracle.log import EpochEnd
    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.invariants import Judge
    from oracle.tracing.observed import FetchAnswered, FetchSent, LookupAnswered, LookupSent, ObservedEpochRun
    from oracle.tracing.replica import TracedReplica
    from oracle.vocabulary import LeaderEpoch, Offset


def is_prefix_possible(replica: Possibility, request: FetchSent, rules: RuleSet) -> bool:
    """Return whether the follower's log may be a prefix of the leader's, as far as the leader compares them."""
    epoch = request.last_fetched_epoch
    if epoch is None or not rules.truncation.checks_on_fetch:
        return True
    high = rules.truncation.end_offset_for(replica.log.high, epoch)
    return high.leader_epoch == epoch and high.end_offset is not None and high.end_offset >= request.fetch_offset


class EpochAnswers:
    """Checks what leaders tell about epochs, and narrows what their logs may be."""

    def __init__(self, rules: RuleSet, judge: Judge) -> None:
        """Check under a release's rules."""
        self._rules = rules
        self._judge = judge

    def check_divergence(self, leader: TracedReplica, request: FetchSent, answer: FetchAnswered) -> None:
        """Check that the leader compared the follower's last epoch, and answered what its cache says."""
        fitting = [one for one in leader.possible if self._may_tell(one, request, answer.diverging_epoch)]
        if self._judge.keeps(Invariant.EPOCH_ANSWER, bool(fitting)):
            end = answer.diverging_epoch
            asked = request.last_fetched_epoch
            if end is None:
                leader.keep(_reaching(one, request.fetch_offset) for one in fitting)
            else:
                assert asked is not None, "a follower that tells no epoch cannot diverge"
                leader.keep(self._ending(one, asked, end) for one in fitting)
            return
        told = (
            "no diverging epoch"
            if answer.diverging_epoch is None
            else f"a divergence at {_shown(answer.diverging_epoch)}"
        )
        observed = (
            f"broker {leader.broker} answers {told} to a fetch from {request.fetch_offset} "
            f"after epoch {request.last_fetched_epoch}"
        )
        raise self._refusal(observed, self._expected(leader, request.last_fetched_epoch))

    def _may_tell(self, replica: Possibility, request: FetchSent, told: EpochEnd | None) -> bool:
        asked = request.last_fetched_epoch
        if told is None:
            return is_prefix_possible(replica, request, self._rules)
        if asked is None or not self._rules.truncation.checks_on_fetch or told.end_offset is None:
            return False
        is_prefix = told.leader_epoch == asked and told.end_offset >= request.fetch_offset
        return not is_prefix and self._may_end(replica, asked, told)

    def _may_end(self, replica: Possibility, epoch: LeaderEpoch, told: EpochEnd) -> bool:
        """Return whether the leader's answer about an epoch may be this one."""
        low, high = replica.log.ends_of(self._rules.truncation.end_offset_for, epoch)
        if told.end_offset is None or low.end_offset is None or high.end_offset is None:
            return told == low
        is_same_epoch = told.leader_epoch in (low.leader_epoch, high.leader_epoch)
        return is_same_epoch and low.end_offset <= told.end_offset <= high.end_offset

    def _ending(self, replica: Possibility, epoch: LeaderEpoch, told: EpochEnd) -> Possibility:
        """Return the leader now that the end of an epoch is known."""
        low, _ = replica.log.ends_of(self._rules.truncation.end_offset_for, epoch)
        if told.end_offset is None or low.end_offset is None:
            return replica
        return replica.with_log(replica.log.with_end_of(epoch, told.end_offset))

    def check_lookup(self, leader: TracedReplica, request: LookupSent, answer: LookupAnswered) -> None:
        """Check that the leader answered a lookup with what its cache says."""
        fitting = [one for one in leader.possible if self._may_end(one, request.epoch, answer.end)]
        if self._judge.keeps(Invariant.EPOCH_ANSWER, bool(fitting)):
            leader.keep(self._ending(one, request.epoch, answer.end) for one in fitting)
            return
        observed = f"broker {leader.broker} answers {_shown(answer.end)} about the end of epoch {request.epoch}"
        raise self._refusal(observed, self._expected(leader, request.epoch))

    def check_runs(self, leader: TracedReplica, answer: FetchAnswered) -> None:
        """Check that the records lie in the leader's log, in the epochs they tell."""
        possible = leader.possible
        for run in answer.runs:
            holding = [one for one in possible if self._may_hold(one, run)]
            if not self._judge.keeps(Invariant.EPOCH_ANSWER, bool(holding)):
                observed = f"broker {leader.broker} sends records {run.first_offset} to {run.last_offset}"
                caches = " or ".join(dict.fromkeys(_cache(one) for one in possible))
                raise self._refusal(f"{observed} of epoch {run.leader_epoch}", f"records of its log: {caches}")
            possible = [one.with_log(one.log.holding(run)) for one in holding]
        if answer.runs:
            leader.keep(possible)

    def _may_hold(self, replica: Possibility, run: ObservedEpochRun) -> bool:
        return (run.leader_epoch is not None) == carries_epochs(self._rules) and replica.log.may_hold(run)

    def _expected(self, leader: TracedReplica, epoch: LeaderEpoch | None) -> str:
        if epoch is None:
            return "nothing, as the follower told no epoch"
        pairs = [one.log.ends_of(self._rules.truncation.end_offset_for, epoch) for one in leader.possible]
        return " or ".join(dict.fromkeys(_between(low, high) for low, high in pairs))

    def _refusal(self, observed: str, allowed: str) -> Exception:
        return self._judge.refusal(Invariant.EPOCH_ANSWER, observed, allowed, self._rules.truncation.rule.name)


def _reaching(replica: Possibility, offset: Offset) -> Possibility:
    """Return a leader that serves a fetch from an offset: its log reaches it."""
    return replica.with_log(replica.log.at_least(offset))


def _cache(replica: Possibility) -> str:
    entries = (f"epoch {entry.leader_epoch} from {entry.start_offset}" for entry in replica.log.low.epochs)
    return ", ".join(entries) or "no epochs"


def _between(low: EpochEnd, high: EpochEnd) -> str:
    return _shown(low) if low == high else f"{_shown(low)} or later"


def _shown(end: EpochEnd) -> str:
    """Say an answer in words."""
    if end.end_offset is None:
        return "unknown"
    epoch = "" if end.leader_epoch is None else f"epoch {end.leader_epoch} "
    return f"{epoch}ending at {end.end_offset}"
