"""What does it mean that records are lost, there twice, or in another order? By what their settings promised.

Nothing here was held on a wire: it is judged what every client can see. The ledger and the topic decide about records,
the watcher's looks about offsets and epochs, the settings' looks about what was promised when.

Sources: KIP-101, KIP-966, KIP-98, KIP-207; the durability notes on ``acks`` and ``unclean.leader.election.enable``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.attach.judging_views import broken_if_any, of_views
from conformance.attach.rests_on import rests_on_what
from conformance.audit.cluster import UNCLEAN
from conformance.record.attached import AttachVerdict, Judged, Promised
from conformance.record.attached_counted import CLASS_MEANS
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.attach.evidence import AttachEvidence
    from conformance.attach.unclean import LossWindow

_GRAVEST_FIRST = (Promised.BROKEN, Promised.UNSEEN, Promised.ALLOWED_BY_SETTINGS)
_WORST_FIRST = (Promised.BROKEN, Promised.ALLOWED_BY_SETTINGS, Promised.KEPT)
_ENDING = frozenset({"_PURGE_QUEUE", "_PURGE_INFLIGHT", "_FATAL"})
"""Errors of records after which a producer sends nothing more."""
_NEVER = (
    ("phantom", "nobody produced what is there"),
    ("value_changed", "a value is not the one that was sent"),
    ("resurrected", "a record is there that was refused before it was sent"),
)
"""What no setting allows, and why it is wrong."""
_OF_ONE_TOPIC = frozenset({"lost", "high_watermark_fell", "leader_epoch_fell", "epoch_ends_disagree"})
"""What a topic that was deleted and created again looks like."""


def judge_attached(evidence: AttachEvidence) -> AttachVerdict:
    """Judge every class of records, and what clients saw."""
    views = of_views(evidence, lambda since: _of_committed(evidence, since))
    judged = tuple(_unless_another(one, evidence) for one in (*_of_records(evidence), *views))
    rests_on = tuple(rests_on_what(evidence))
    if not evidence.counted.identity_holds:
        untrusted = "the counts do not add up to the rows of the files: no number of this directory can be trusted"
        return AttachVerdict(Promised.INCONCLUSIVE, untrusted, judged, rests_on)
    open_why = _why_open(evidence) or _why_untold(judged)
    if open_why is not None and not any(one.verdict == Promised.BROKEN for one in judged):
        return AttachVerdict(Promised.INCONCLUSIVE, open_why, judged, rests_on)
    worst = next(verdict for verdict in _WORST_FIRST if any(one.verdict == verdict for one in (*judged, _NOTHING_LOST)))
    if worst == Promised.KEPT and evidence.attached.acks == Acks.NONE:
        return AttachVerdict(Promised.NONE, "acks=0: nothing is acknowledged, and nothing promised", judged, rests_on)
    reasons = [_words_of(one) for one in judged if one.verdict == worst and one.count]
    return AttachVerdict(worst, "; ".join(reasons) or _kept_words(evidence), judged, rests_on)


def _words_of(judged: Judged) -> str:
    return f"{judged.count:,} {judged.what.replace('_', ' ')} ({CLASS_MEANS[judged.what]}): {judged.reason}"


_NOTHING_LOST = Judged("all", 0, Promised.KEPT, "")


def _kept_words(evidence: AttachEvidence) -> str:
    acknowledged = evidence.counted.told("acknowledged")
    return f"every one of {acknowledged:,} acknowledged records is there, once, where it was acknowledged"


def _why_open(evidence: AttachEvidence) -> str | None:
    if evidence.attached.is_at_rest is False:
        why = evidence.attached.unread or "some partition could not be read to its log end"
        return f"{why}: go on with --resume when the cluster is whole"
    if evidence.attached.acks != Acks.NONE and not evidence.counted.told("acknowledged"):
        return "no record was acknowledged: there is nothing to lose"
    return None


def _why_untold(judged: Sequence[Judged]) -> str | None:
    """Return why it cannot be told whether a promise was broken by what was found."""
    untold = (one for one in judged if one.verdict == Promised.UNSEEN and one.count)
    return next(map(_words_of, untold), None)


def _unless_another(judged: Judged, evidence: AttachEvidence) -> Judged:
    """Accuse no cluster of what looks as if the topic had been deleted and created again, where nothing tells."""
    if judged.verdict != Promised.BROKEN or judged.what not in _OF_ONE_TOPIC or not evidence.may_be_another_topic:
        return judged
    reason = "every partition lost its first record: was the topic deleted and created again? No topic id tells it here"
    return replace(judged, verdict=Promised.UNSEEN, reason=reason)


def _of_records(evidence: AttachEvidence) -> Iterator[Judged]:
    yield _lost(evidence)
    for what, reason in _NEVER:
        yield broken_if_any(what, evidence.counted.total(what), reason)
    yield _unless_idempotent("duplicated", evidence, "the producer sends again what it has no answer to")
    yield _unless_idempotent("moved", evidence, "a record that is there twice has one of its two offsets acknowledged")
    yield _unless_idempotent("reordered", evidence, "what is sent again comes after what was sent meanwhile")
    yield from _deleted(evidence)


def _lost(evidence: AttachEvidence) -> Judged:
    count = evidence.counted.total("lost")
    if not count:
        return Judged("lost", 0, Promised.KEPT, "no acknowledged record is missing")
    if evidence.attached.is_at_rest is False:
        return Judged("lost", count, Promised.UNSEEN, "what is beyond the high watermark may have them")
    if unmoved := ", ".join(map(str, sorted(evidence.unmoved))):
        reason = f"partition {unmoved} had one leader, in one leader epoch, all along"
        return Judged("lost", count, Promised.BROKEN, reason)
    if evidence.attached.acks == Acks.LEADER:
        return _lost_by_one(evidence, count)
    verdict, reason = _of_committed(evidence, evidence.lost_since)
    return Judged("lost", count, verdict, f"acks=all, and {reason}")


def _of_committed(evidence: AttachEvidence, since: Mapping[int, int]) -> tuple[Promised, str]:
    """Judge that something is gone that every in-sync replica had.

    Args:
        evidence: all of it.
        since: of each partition with such a thing, when the last of it was known to be there.
    """
    judged = [_of_window(evidence, one) for one in evidence.loss_windows(since)]
    return min(judged, key=lambda one: _GRAVEST_FIRST.index(one[0]))


def _of_window(evidence: AttachEvidence, window: LossWindow) -> tuple[Promised, str]:
    """Judge that something is gone by what was set when an election can have lost it."""
    unclean = evidence.unclean_elections
    first = window.until_first_change
    if unclean.were_on(first) and window.changed_ns is not None:
        reason = "unclean elections were allowed: a replica without the records may have been elected"
        return Promised.ALLOWED_BY_SETTINGS, _with_supposed(reason, unclean.supposed_on(first))
    if unclean.were_on(window):
        when = "only after leaders had changed" if window.changed_ns is not None else "and no change of leader was seen"
        return Promised.UNSEEN, f"unclean elections were on after they were acknowledged, {when}"
    if why := _why_off_unseen(evidence, window):
        return Promised.UNSEEN, why
    reason = (
        f"{UNCLEAN}=false promises every acknowledged record as long as one in-sync replica keeps its disk "
        "and nobody asks for an unclean election (KIP-460)"
    )
    return Promised.BROKEN, _with_supposed(reason, unclean.supposed(window))


def _with_supposed(reason: str, supposed: str | None) -> str:
    return reason if supposed is None else f"{reason}; it is supposed that {supposed}"


def _why_off_unseen(evidence: AttachEvidence, window: LossWindow) -> str | None:
    """Return why it cannot be told that no unclean election was allowed in a window."""
    if evidence.asks_unclean(window.until_ns):
        return "a command was run that asks for an unclean election (KIP-460), or switches them on"
    if evidence.unclean_elections.may_have_been_on(window):
        return f"{UNCLEAN} was on at one look and off at another, or of one broker alone: which it was then is not told"
    return evidence.unclean_elections.why_unseen(window)


def _lost_by_one(evidence: AttachEvidence, count: int) -> Judged:
    """Judge what acks=1 lost: it promises a record for as long as its leader lives.

    The same leader in another epoch need not have been elected: some releases begin one when the ISR shrinks. A leader
    that changed before a record was acknowledged is no excuse for that record.
    """
    if evidence.excused_by(evidence.led_by_other_at):
        reason = (
            "acks=1 promises a record as long as its leader does not change, and leaders did, after they acknowledged"
        )
        return Judged("lost", count, Promised.ALLOWED_BY_SETTINGS, reason)
    reason = "acks=1 promises them unless the leader changed after it acknowledged them, which was not seen"
    return Judged("lost", count, Promised.UNSEEN, reason)


def _deleted(evidence: AttachEvidence) -> Iterator[Judged]:
    """Judge what is below the start of the log: anybody with the right to may have asked for it (KIP-107)."""
    unplaced = sum(one.unplaced for one in evidence.counted.partitions)
    if deleted := evidence.counted.total("deleted") - unplaced:
        if why := evidence.why_not_deleted():
            yield Judged("deleted", deleted, Promised.UNSEEN, f"they are below the start of the log; {why}")
        else:
            reason = "retention, or a DeleteRecords, moved the start of the log past them"
            yield Judged("deleted", deleted, Promised.ALLOWED_BY_SETTINGS, reason)
    if unplaced:
        reason = "they were acknowledged without an offset, and the start of the log moved: deleted, or lost"
        yield Judged("deleted_or_lost", unplaced, Promised.UNSEEN, reason)


def _unless_idempotent(what: str, evidence: AttachEvidence, why_allowed: str) -> Judged:
    count = evidence.counted.total(what)
    if not count:
        return Judged(what, 0, Promised.KEPT, "none")
    if not evidence.attached.is_idempotent:
        return Judged(what, count, Promised.ALLOWED_BY_SETTINGS, f"without idempotence {why_allowed}")
    if silent := evidence.counted.untold:
        reason = (
            f"{silent:,} records have neither an answer nor an error: the tester ended before it wrote down what they "
            "had, and after an error the client begins a new producer epoch, and sends again"
        )
        return Judged(what, count, Promised.UNSEEN, reason)
    if renewing := evidence.counted.erring(*_renewing(evidence)):
        reason = (
            f"{renewing:,} records ended with an error: after one the client begins a new producer epoch, and sends "
            "again in it what no broker had answered, on every partition; brokers cannot know it again"
        )
        return Judged(what, count, Promised.UNSEEN, reason)
    reason = "an idempotent producer's records are there once, in the order of sending"
    return Judged(what, count, Promised.BROKEN, reason)


def _renewing(evidence: AttachEvidence) -> frozenset[str]:
    """Return the errors after which librdkafka drains all partitions, and goes on in a new producer epoch.

    Its ``rd_kafka_idemp_drain_epoch_bump``: after a message that timed out, and after any other gap in the sequence.
    """
    return frozenset(name for one in evidence.counted.partitions for name in one.errors) - _ENDING
