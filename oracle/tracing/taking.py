"""What does a follower make of an answer that has reached it? It drops it, cuts its log, or appends.

Sources: AbstractFetcherThread.processFetchRequest, truncateToEpochEndOffsets; HW-06, TR-04, TR-09.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from oracle.tracing.exchange import NO_ERROR
from oracle.tracing.known_log import START, EpochLog
from oracle.tracing.observed import FetchAnswered, FetchSent
from oracle.tracing.possibility import Bounds, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.exchange import Exchange
    from oracle.tracing.observed import LookupAnswered
    from oracle.tracing.possibility import Possibility

OFFSET_OUT_OF_RANGE = 1


def taken(replica: Possibility, exchange: Exchange, rules: RuleSet) -> tuple[Possibility, ...]:
    """Return what the follower may be once it has handled the answer of an exchange."""
    dropped = replace(replica, has_taken=True)
    answer = exchange.answer
    assert answer is not None
    if replica.leader != exchange.request.leader:
        return (dropped,)
    is_stale = replica.leader_epoch not in exchange.sent_in
    if isinstance(answer, FetchAnswered):
        if not _awaits(replica, exchange) or (is_stale and rules.drops_stale_fetches):
            return (dropped,)
        accepted = _fetched(dropped, answer, rules)
    elif not replica.truncating or (is_stale and rules.drops_stale_lookups):
        return (dropped,)
    else:
        accepted = _looked_up(dropped, answer, rules)
    return (dropped, *accepted) if is_stale else accepted


def _awaits(replica: Possibility, exchange: Exchange) -> bool:
    """Tell whether the follower still fetches where the request did."""
    request = exchange.request
    assert isinstance(request, FetchSent)
    return not replica.truncating and replica.log.is_end(request.fetch_offset)


def _fetched(replica: Possibility, answer: FetchAnswered, rules: RuleSet) -> tuple[Possibility, ...]:
    if answer.error == OFFSET_OUT_OF_RANGE:
        return (replace(replica, is_out_of_range=True),)
    if answer.error != NO_ERROR:
        return (replica,)
    if answer.diverging_epoch is None:
        return tuple(_appended(replica, answer))
    if rules.takes_high_watermark_before_cut:
        (replica,) = _appended(replica, answer)
    return cut(replica, answer.diverging_epoch, rules)


def _appended(replica: Possibility, answer: FetchAnswered) -> Iterator[Possibility]:
    """Append the records, then take the leader's high watermark, at most the end, and its log start offset."""
    epoch = answer.runs[0].leader_epoch if answer.runs else None
    is_new = epoch is not None and epoch > replica.log.low.latest_epoch
    for known in replica.log.settled() if is_new else (replica.log,):
        log = known.both(lambda bound: reduce(EpochLog.appended, answer.runs, bound)) if answer.runs else known
        told = Bounds(answer.high_watermark, answer.high_watermark).at_most(log.low.end, log.high.end)
        start = max(replica.log_start, answer.log_start_offset or START)
        for begun in log.starting_at(start) if replica.log_start < start <= log.low.end else (log,):
            yield replace(replica, log=begun, high_watermark=told, log_start=start)


def _looked_up(replica: Possibility, answer: LookupAnswered, rules: RuleSet) -> tuple[Possibility, ...]:
    return (replica,) if answer.error != NO_ERROR else cut(replica, answer.end, rules)
