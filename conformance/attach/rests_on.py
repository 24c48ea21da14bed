"""What does the verdict on an attached ledger rest on? What is supposed, what was seen, and what nobody told."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from conformance.attach.unclean import GAP_S, longest_gap_s
from conformance.audit.cluster import MIN_ISR, UNCLEAN, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.attach.evidence import AttachEvidence
    from conformance.record.attached import SettingsWatched


def rests_on_what(evidence: AttachEvidence) -> Iterator[str]:
    """Return what is supposed, what was seen, and what brokers did not tell, in sentences."""
    attached = evidence.attached
    yield (
        "nothing was held on the wire and no broker's log was read: it is judged what clients can see, "
        "promises of the settings and not the steps of the protocol"
    )
    producer = f"acks={attached.acks_word}, {'' if attached.is_idempotent else 'not '}idempotent"
    yield f"{producer}, {_replicas_words(evidence)} of each of {attached.partitions} partitions"
    yield from _settings_words(evidence.settings)
    yield from _isr_words(evidence)
    if not evidence.asks_unclean():
        yield f"supposed: nobody asked for an unclean election (KIP-460), or had {UNCLEAN} on between two looks"
    for one in attached.not_told:
        yield f"cannot be told here: {one}"
    yield from _commands_words(evidence)
    yield "no setting promises anything once the last in-sync replica loses its disk, or what it had not flushed"


def _replicas_words(evidence: AttachEvidence) -> str:
    counts = {len(one.assigned) for one in evidence.watched if one.assigned} or {evidence.attached.replicas}
    return f"{min(counts)}{f' to {max(counts)}' if len(counts) > 1 else ''} replicas"


def _commands_words(evidence: AttachEvidence) -> Iterator[str]:
    """Say which commands broke the cluster; of one that did not run to its end nothing is known to be broken."""
    ran, given = evidence.commands, evidence.given
    if ran:
        failed = sum(1 for one in ran if one.exit_code)
        yield f"{len(ran)} commands were run against the cluster, {failed} of them failed"
    if ended := [f"'{one.command}'" for one in ran if one.exit_code is None and one.is_end_known]:
        yield f"commands that had not ended long after the ledger were ended: {', '.join(ended)}"
    if open_ended := [f"'{one.command}'" for one in ran if not one.is_end_known]:
        yield f"commands begun whose end is not known, since the tester ended first: {', '.join(open_ended)}"
    if left := [f"'{one.command}' (due at {one.at_s:g} s)" for one in given[len(ran) :]]:
        yield f"{len(left)} of {len(given)} commands were not run: {', '.join(left)}"


def _settings_words(settings: Sequence[SettingsWatched]) -> Iterator[str]:
    told = [one for one in settings if one.why_not is None]
    shown = [one for one, _ in groupby(map(_words_of, told))]
    if not shown:
        yield "the topic's settings were never seen"
    else:
        how = _how_watched([one.at_ns for one in (*told, settings[-1])], is_one=len(shown) == 1)
        yield f"the topic's settings {how}: {'; then '.join(shown)}"
    if unseen := Counter(one.why_not for one in settings if one.why_not is not None):
        (why, _), *others = unseen.most_common()
        more = f", and {len(others)} other reasons" if others else ""
        yield f"{unseen.total()} looks at the cluster or its settings were not answered: {why}{more}"


def _how_watched(moments: Sequence[int], *, is_one: bool) -> str:
    gap_s = longest_gap_s(moments)
    if gap_s > GAP_S:
        return f"{'at each look' if is_one else 'changed meanwhile'}, and not seen for {gap_s:,.0f} s"
    return "all along" if is_one else "changed meanwhile"


def _words_of(settings: SettingsWatched) -> str:
    told = (name for name in (MIN_ISR, UNCLEAN) if name in settings.values)
    return ", ".join(f"{name}={settings.values[name]}{_of_whom(settings.sources.get(name))}" for name in told)


def _of_whom(source: str | None) -> str:
    return "" if source in (None, Source.TOPIC.value) else f" ({source})"


def _isr_words(evidence: AttachEvidence) -> Iterator[str]:
    if not evidence.watched:
        yield "the cluster was never seen while records were produced"
        return
    least = min(len(one.isr) for one in evidence.watched)
    elected, partitions = len(evidence.changed_at), evidence.attached.partitions
    gap_s = longest_gap_s({one.at_ns for one in evidence.watched})
    often = "seen once a second" if gap_s <= GAP_S else f"seen once a second, but for {gap_s:,.0f} s not at all"
    yield f"{often}: at least {least} in-sync replicas, elections on {elected} of {partitions} partitions"
    is_whole = all(one.is_whole(evidence.attached.replicas) for one in evidence.watched)
    if not elected and is_whole and gap_s <= GAP_S:
        yield "no replica was seen out of sync and no leader changed: nothing was seen to break"
