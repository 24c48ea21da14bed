"""What does it mean that records are lost, there twice, or in another order? By what their settings promised.

Nothing here was held on a wire: it is judged what every client can see. The ledger and the topic decide about records,
the watcher's looks about offsets and epochs, the settings' looks about what was promised when.

Sources: KIP-101, KIP-966, KIP-98, KIP-207; the durability notes on ``acks`` and ``unclean.leader.election.enable``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from conformance.record.attached import AttachVerdict, Judged, Promised
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.record.attached import Attached, Counted, PartitionWatched, SettingsWatched
    from conformance.record.fault_commands import CommandRun, FaultCommand

_WORST_FIRST = (Promised.BROKEN, Promised.ALLOWED_BY_SETTINGS, Promised.KEPT)
UNCLEAN, MIN_ISR = "unclean.leader.election.enable", "min.insync.replicas"


@dataclass(frozen=True, slots=True)
class AttachEvidence:
    """All that an attached ledger is judged by.

    Attributes:
        watched: in the order of time; ``settings`` likewise.
        given: the commands that were to break the cluster; ``commands`` are the first of them, those that ran.
    """

    attached: Attached
    counted: Counted
    watched: Sequence[PartitionWatched]
    settings: Sequence[SettingsWatched]
    commands: Sequence[CommandRun] = ()
    given: Sequence[FaultCommand] = ()

    @property
    def changed_leaders(self) -> frozenset[int]:
        """Return the partitions of which another leader, or another leader epoch, was seen."""
        seen: dict[int, set[tuple[int, int | None]]] = defaultdict(set)
        for one in self.watched:
            if one.leader is not None:
                seen[one.partition].add((one.leader, one.leader_epoch))
        return frozenset(number for number, leaders in seen.items() if len(leaders) > 1)

    @property
    def other_leaders(self) -> frozenset[int]:
        """Return the partitions of which more than one broker was seen to lead."""
        seen = {(one.partition, one.leader) for one in self.watched if one.leader is not None}
        counts = Counter(partition for partition, _ in seen)
        return frozenset(number for number, leaders in counts.items() if leaders > 1)

    def had(self, setting: str, value: str) -> bool:
        """Return whether a setting of the topic had a value at any look."""
        return any(one.values.get(setting) == value for one in self.settings)

    @property
    def are_settings_seen(self) -> bool:
        """Return whether looks at the settings told of unclean elections; one that failed hides none of the others."""
        looks = [one for one in self.settings if one.why_not is None]
        return bool(looks) and all(one.values.get(UNCLEAN) is not None for one in looks)


def judge_attached(evidence: AttachEvidence) -> AttachVerdict:
    """Judge every class of records, and what clients saw."""
    judged = (*_of_records(evidence), *_of_views(evidence))
    rests_on = tuple(_rests_on(evidence))
    if not evidence.counted.identity_holds:
        untrusted = "the counts do not add up to the rows of the files: no number of this directory can be trusted"
        return AttachVerdict(Promised.INCONCLUSIVE, untrusted, judged, rests_on)
    open_why = _why_open(evidence) or _why_untold(judged)
    if open_why is not None and not any(one.verdict == Promised.BROKEN for one in judged):
        return AttachVerdict(Promised.INCONCLUSIVE, open_why, judged, rests_on)
    worst = next(verdict for verdict in _WORST_FIRST if any(one.verdict == verdict for one in (*judged, _NOTHING_LOST)))
    if worst == Promised.KEPT and evidence.attached.acks == Acks.NONE:
        return AttachVerdict(Promised.NONE, "acks=0: nothing is acknowledged, and nothing promised", judged, rests_on)
    reasons = [f"{one.what}: {one.count}, {one.reason}" for one in judged if one.verdict == worst and one.count]
    return AttachVerdict(worst, "; ".join(reasons) or _kept_words(evidence), judged, rests_on)


_NOTHING_LOST = Judged("all", 0, Promised.KEPT, "")


def _kept_words(evidence: AttachEvidence) -> str:
    acknowledged = evidence.counted.told("acknowledged")
    return f"every one of {acknowledged:,} acknowledged records is there, once, where it was acknowledged"


def _why_open(evidence: AttachEvidence) -> str | None:
    if evidence.attached.is_at_rest is False:
        return "some partition could not be read to its log end: go on with --resume when the cluster is whole"
    if evidence.attached.acks != Acks.NONE and not evidence.counted.told("acknowledged"):
        return "no record was acknowledged: there is nothing to lose"
    return None


def _why_untold(judged: Sequence[Judged]) -> str | None:
    """Return why it cannot be told whether a promise was broken by what was found."""
    untold = (one for one in judged if one.verdict == Promised.UNSEEN and one.count)
    return next((f"{one.what}: {one.count}, {one.reason}" for one in untold), None)


def _of_records(evidence: AttachEvidence) -> Iterator[Judged]:
    counted = evidence.counted
    yield _lost(evidence)
    yield _always("phantom", counted.total("phantom"), "nobody produced what is there")
    yield _always("value_changed", counted.total("value_changed"), "a value is not the one that was sent")
    yield _always("resurrected", counted.total("resurrected"), "a record is there that was refused before it was sent")
    yield _unless_idempotent("duplicated", evidence, "the producer sends again what it has no answer to")
    yield _unless_idempotent("moved", evidence, "a record that is there twice has one of its two offsets acknowledged")
    yield _unless_idempotent("reordered", evidence, "what is sent again comes after what was sent meanwhile")
    if deleted := counted.total("deleted"):
        yield Judged(
            "deleted",
            deleted,
            Promised.ALLOWED_BY_SETTINGS,
            "retention, or a DeleteRecords, moved the start of the log past them",
        )


def _lost(evidence: AttachEvidence) -> Judged:
    count = evidence.counted.total("lost")
    if not count:
        return Judged("lost", 0, Promised.KEPT, "no acknowledged record is missing")
    if evidence.attached.is_at_rest is False:
        return Judged("lost", count, Promised.UNSEEN, "what is beyond the high watermark may have them")
    if unmoved := _unmoved(evidence):
        return Judged(
            "lost", count, Promised.BROKEN, f"partition {unmoved} had one leader, in one leader epoch, all along"
        )
    if evidence.attached.acks == Acks.LEADER:
        return _lost_by_one(evidence, count)
    if not evidence.are_settings_seen:
        reason = f"acks=all promises them unless {UNCLEAN} is on, which cannot be seen here"
        return Judged("lost", count, Promised.UNSEEN, reason)
    if evidence.had(UNCLEAN, "true"):
        reason = "acks=all, and unclean elections were allowed: a replica without the records may have been elected"
        return Judged("lost", count, Promised.ALLOWED_BY_SETTINGS, reason)
    reason = (
        f"acks=all and {UNCLEAN}=false promise every acknowledged record as long as one in-sync replica keeps its disk "
        "and nobody asks for an unclean election (KIP-460)"
    )
    return Judged("lost", count, Promised.BROKEN, reason)


def _unmoved(evidence: AttachEvidence) -> str:
    """Name the partitions that lost records without any election; none where leader epochs cannot be seen."""
    if any(one.leader_epoch is None for one in evidence.watched):
        return ""
    losing = {one.partition for one in evidence.counted.partitions if one.classes.get("lost")}
    seen = {one.partition for one in evidence.watched}
    return ", ".join(map(str, sorted((losing & seen) - evidence.changed_leaders)))


def _lost_by_one(evidence: AttachEvidence, count: int) -> Judged:
    """Judge what acks=1 lost: it promises a record for as long as its leader lives.

    The same leader in another epoch need not have been elected: some releases begin one when the ISR shrinks.
    """
    losing = {one.partition for one in evidence.counted.partitions if one.classes.get("lost")}
    reason = "acks=1 promises a record as long as its leader does not change, and leaders did"
    if losing <= evidence.other_leaders:
        return Judged("lost", count, Promised.ALLOWED_BY_SETTINGS, reason)
    return Judged(
        "lost", count, Promised.UNSEEN, "acks=1 promises them unless leaders changed, which cannot be seen here"
    )


def _always(what: str, count: int, reason: str) -> Judged:
    return Judged(what, count, Promised.BROKEN if count else Promised.KEPT, reason if count else "none")


def _unless_idempotent(what: str, evidence: AttachEvidence, why_allowed: str) -> Judged:
    count = evidence.counted.total(what)
    if not count:
        return Judged(what, 0, Promised.KEPT, "none")
    if evidence.attached.is_idempotent:
        return Judged(
            what, count, Promised.BROKEN, "an idempotent producer's records are there once, in the order of sending"
        )
    return Judged(what, count, Promised.ALLOWED_BY_SETTINGS, f"without idempotence {why_allowed}")


def _of_views(evidence: AttachEvidence) -> Iterator[Judged]:
    """Judge what a client saw of offsets and epochs."""
    yield _always(
        "high_watermark_fell",
        len(list(_falls(evidence.watched))),
        "the high watermark that consumers see fell although leader and epoch stayed",
    )
    if any(one.leader_epoch is not None for one in evidence.watched):
        fell = len(list(_epoch_falls(evidence.watched)))
        yield _always("leader_epoch_fell", fell, "one broker told of an older leader epoch than before")
    else:
        yield Judged(
            "leader_epoch_fell", 0, Promised.UNSEEN, "the release does not tell clients leader epochs (before 2.1)"
        )


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
        if one.leader_epoch is None:
            continue
        key = (one.partition, one.told_by)
        if one.leader_epoch < newest.get(key, 0):
            yield one
        newest[key] = max(one.leader_epoch, newest.get(key, 0))


def _rests_on(evidence: AttachEvidence) -> Iterator[str]:
    attached = evidence.attached
    yield (
        "nothing was held on the wire and no broker's log was read: it is judged what clients can see, "
        "promises of the settings and not the steps of the protocol"
    )
    producer = f"acks={attached.acks_word}, {'' if attached.is_idempotent else 'not '}idempotent"
    yield f"{producer}, {attached.replicas} replicas of each of {attached.partitions} partitions"
    yield from _settings_words(evidence.settings)
    yield from _isr_words(evidence)
    yield from _commands_words(evidence)
    yield "no setting promises anything once the last in-sync replica loses its disk, or what it had not flushed"


def _commands_words(evidence: AttachEvidence) -> Iterator[str]:
    """Say which commands broke the cluster; of one that did not run to its end nothing is known to be broken."""
    ran, given = evidence.commands, evidence.given
    if ran:
        failed = sum(1 for one in ran if one.exit_code)
        yield f"{len(ran)} commands were run against the cluster, {failed} of them failed"
    if ended := [f"'{one.command}'" for one in ran if one.exit_code is None]:
        yield f"commands that had not ended long after the ledger were ended: {', '.join(ended)}"
    if left := [f"'{one.command}' (due at {one.at_s:g} s)" for one in given[len(ran) :]]:
        yield f"{len(left)} of {len(given)} commands were not run, or not to their end: {', '.join(left)}"


def _settings_words(settings: Sequence[SettingsWatched]) -> Iterator[str]:
    words = (_words_of(one.values) if one.why_not is None else f"not seen: {one.why_not}" for one in settings)
    shown = [one for one, _ in groupby(words)]
    if not shown:
        yield "the topic's settings were never seen"
    elif len(shown) == 1:
        yield f"the topic's settings all along: {shown[0]}"
    else:
        yield f"the topic's settings changed meanwhile: {'; then '.join(shown)}"


def _words_of(values: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name}={values[name]}" for name in (MIN_ISR, UNCLEAN) if name in values)


def _isr_words(evidence: AttachEvidence) -> Iterator[str]:
    if not evidence.watched:
        yield "the cluster was never seen while records were produced"
        return
    least = min(len(one.isr) for one in evidence.watched)
    elected, partitions = len(evidence.changed_leaders), evidence.attached.partitions
    yield f"seen once a second: at least {least} in-sync replicas, elections on {elected} of {partitions} partitions"
