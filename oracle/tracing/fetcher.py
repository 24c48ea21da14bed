"""What does a follower make of an answer that has reached it? It drops it, cuts its log, or appends.

Sources: AbstractFetcherThread.processFetchRequest, truncateToEpochEndOffsets; HW-06, TR-04, TR-09.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from oracle.error_codes import ErrorCode
from oracle.replacing import replace
from oracle.tracing.exchange import NO_ERROR
from oracle.tracing.known_log import START, EpochLog, KnownLog
from oracle.tracing.observed import FetchAnswered, FetchSent
from oracle.tracing.possibility import OffsetBounds, Possibility, cut
from oracle.vocabulary import Offset

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.exchange import Exchange
    from oracle.tracing.observed import LookupAnswered, ObservedEpochRun


def taken(replica: Possibility, exchange: Exchange, rules: RuleSet) -> tuple[Possibility, ...]:
    """Return what the follower may be once it has handled the answer of an exchange."""
    dropped = replace(replica, has_taken=True)
    answer = exchange.answer
    assert answer is not None
    if not _accepts(replica, exchange, rules):
        return (dropped,)
    if isinstance(answer, FetchAnswered):
        accepted = tuple(one for read in exchange.copied or (answer,) for one in _fetched(dropped, read, rules))
    else:
        accepted = _looked_up(dropped, answer, rules)
    return (dropped, *accepted) if _is_stale(replica, exchange) else accepted


def partly_taken(replica: Possibility, exchange: Exchange, rules: RuleSet) -> Iterator[Possibility]:
    """Yield what the follower may be that was killed between the first record of an answer and its last one.

    A follower writes all batches of an answer at once, and what a killed one leaves of a batch its next start drops
    (FileRecords.append, LogSegment.recover). Where batches end is not known: it may be behind any record.
    """
    answer = exchange.answer
    if not isinstance(answer, FetchAnswered) or not _accepts(replica, exchange, rules):
        return
    for read in exchange.copied or (answer,):
        for place, run in enumerate(read.runs):
            is_last = place + 1 == len(read.runs)
            until = Offset(run.last_offset - 1) if is_last else run.last_offset
            if run.first_offset <= until:
                shortest = (*read.runs[:place], run._replace(last_offset=run.first_offset))
                longest = (*read.runs[:place], run._replace(last_offset=until))
                yield from _ending_between(replica, shortest, longest)


def _accepts(replica: Possibility, exchange: Exchange, rules: RuleSet) -> bool:
    """Return whether the follower may do what the answer of an exchange says, and does not drop it for certain."""
    if replica.leader != exchange.request.leader:
        return False
    if isinstance(exchange.answer, FetchAnswered):
        return _awaits(replica, exchange) and not (_is_stale(replica, exchange) and rules.drops_stale_fetches)
    return replica.truncating and not (_is_stale(replica, exchange) and rules.drops_stale_lookups)


def _is_stale(replica: Possibility, exchange: Exchange) -> bool:
    """Return whether the follower is in another leader epoch than when it sent the request."""
    return replica.leader_epoch not in exchange.sent_in


def _awaits(replica: Possibility, exchange: Exchange) -> bool:
    """Return whether the follower still fetches where the request did."""
    request = exchange.request
    assert isinstance(request, FetchSent)
    return not replica.truncating and replica.log.is_end(request.fetch_offset)


def _fetched(replica: Possibility, answer: FetchAnswered, rules: RuleSet) -> tuple[Possibility, ...]:
    if answer.error == ErrorCode.OFFSET_OUT_OF_RANGE:
        return (replace(replica, is_out_of_range=True),)
    if answer.error != NO_ERROR or not answer.is_listed:
        return (replica,)
    if answer.diverging_epoch is None:
        return tuple(_appended(replica, answer))
    if rules.takes_high_watermark_before_cut:
        (replica,) = _appended(replica, answer)
    return cut(replica, answer.diverging_epoch, rules)


def _appended(replica: Possibility, answer: FetchAnswered) -> Iterator[Possibility]:
    """Append the records, then take the leader's high watermark, at most the end, and its log start offset."""
    for known in _before(replica, answer.runs):
        log = known.both(lambda bound: reduce(EpochLog.appended, answer.runs, bound)) if answer.runs else known
        told = OffsetBounds(answer.high_watermark, answer.high_watermark).at_most(log.low.end, log.high.end)
        start = max(replica.log_start, answer.log_start_offset or START)
        for begun in log.starting_at(start) if replica.log_start < start <= log.low.end else (log,):
            uncut = replica.uncut if begun is replica.log else None
            yield replace(replica, log=begun, high_watermark=told, log_start=start, uncut=uncut)


def _before(replica: Possibility, runs: Sequence[ObservedEpochRun]) -> tuple[KnownLog, ...]:
    """Return the log that records are appended to: an epoch without records is gone before a later one."""
    epoch = runs[0].leader_epoch if runs else None
    is_new = epoch is not None and epoch > replica.log.low.latest_epoch
    return replica.log.settled() if is_new else (replica.log,)


def _ending_between(
    replica: Possibility, shortest: Sequence[ObservedEpochRun], longest: Sequence[ObservedEpochRun]
) -> Iterator[Possibility]:
    """Yield the replica with its log ending somewhere between two appends."""
    for known in _before(replica, shortest):
        low, high = reduce(EpochLog.appended, shortest, known.low), reduce(EpochLog.appended, longest, known.high)
        yield replica.with_log(KnownLog(low, high))


def _looked_up(replica: Possibility, answer: LookupAnswered, rules: RuleSet) -> tuple[Possibility, ...]:
    return (replica,) if answer.error != NO_ERROR else cut(replica, answer.end, rules)
