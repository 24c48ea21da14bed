"""Which durability promises were broken, by which release, and why? What the judge wrote, as a headline says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.verdict import PromiseKept
from reports.version_matrix import line_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from reports.model import RunView


BROKEN = (PromiseKept.BROKEN, PromiseKept.BROKEN_AS_PREDICTED)
"""The verdicts of a promise that did not hold, the gravest first."""
MIN_ISR = "min.insync.replicas"
_LABELS_MAX = 4
_RELEASES_MAX = 3


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """A run in which a durability promise was broken.

    Attributes:
        scenario: the scenario's full name; ``anchor`` where its report tells the run.
        line: the release line that broke it.
        promise: whether that was predicted.
        records: labels of the records whose loss broke it; none if something else did, such as logs that differ.
        acks: what those of them were sent with that were acknowledged.
        cause: by what it was broken.
    """

    scenario: str
    anchor: str
    line: str
    promise: PromiseKept
    records: tuple[str, ...]
    acks: tuple[str, ...]
    cause: str

    @property
    def unnamed_records(self) -> str:
        """Return the records that the cause does not name, in words."""
        return labels_words([label for label in self.records if not re.search(rf"\b{re.escape(label)}\b", self.cause)])


def broken_promise(run: RunView) -> BrokenPromise | None:
    """Return how a run broke its promise; None if it did not."""
    if run.verdict.promise not in BROKEN:
        return None
    records = _losses(run, "broken")
    acknowledged = {row.label for row in run.records.rows if row.measured_outcome.startswith("acknowledged")}
    acks = _acks_of(run, acknowledged.intersection(records))
    return BrokenPromise(run.name, run.anchor, line_words(run), run.verdict.promise, records, acks, _cause(run))


def _losses(run: RunView, promise: str) -> tuple[str, ...]:
    """Return the labels of the lost records about which the judge says so: broken, or allowed_by_settings."""
    return tuple(loss.label for loss in run.verdict.losses if loss.promise == promise)


def _acks_of(run: RunView, labels: Iterable[str]) -> tuple[str, ...]:
    """Return what some records were sent with; of one that is not shown, what any record of the run was sent with."""
    acks = {row.label: (row.acks,) for row in run.records.rows}
    sent = (one for label in labels for one in acks.get(label, run.records.acks))
    return tuple(sorted({one for one in sent if one}, reverse=True))


def lost_records(run: RunView) -> tuple[str, ...]:
    """Return the labels of the records that were measured as lost; beyond the records shown, those the judge named."""
    lost = [row.label for row in run.records.rows if row.measured_fate == "lost"]
    return tuple(dict.fromkeys([*lost, *(loss.label for loss in run.verdict.losses)]))


def broken_words(broken: Sequence[BrokenPromise]) -> str:
    """Return which releases break which promise, in how many ways, and how many nobody predicted; empty for none."""
    if not broken:
        return ""
    lines = tuple(dict.fromkeys(one.line for one in broken))
    ways = {one.scenario for one in broken}
    shown = f"{len(ways)} way{'' if len(ways) == 1 else 's'} shown"
    surprising = {one.scenario for one in broken if one.promise is PromiseKept.BROKEN}
    what = _breaks(broken, is_plural=len(lines) > 1)
    return f"{kafka_words(lines, is_subject=True)} {what}: {shown}{_unpredicted(ways, surprising)}"


def _breaks(broken: Sequence[BrokenPromise], *, is_plural: bool) -> str:
    """Return what releases do against their promise: of all that they do, the gravest."""
    acks = " and ".join(sorted({acks for one in broken for acks in one.acks}, reverse=True))
    if not any(one.records for one in broken):
        return "break their durability promise" if is_plural else "breaks its durability promise"
    what = f"acknowledged records with acks={acks}" if acks else "records against their promise"
    return f"{'lose' if is_plural else 'loses'} {what}"


def _unpredicted(ways: Collection[str], surprising: Collection[str]) -> str:
    """Return how many of some ways nobody predicted, if any."""
    if not surprising:
        return ""
    return ", not predicted" if len(surprising) == len(ways) else f", {len(surprising)} of them not predicted"


def kafka_words(lines: Sequence[str], *, is_subject: bool = False) -> str:
    """Return the releases that a sentence is about, each once, or how many; empty for none.

    Args:
        lines: in the order in which they are named.
        is_subject: whether a verb follows, which a line with a comma is set apart from.
    """
    named = tuple(dict.fromkeys(lines))
    if len(named) > _RELEASES_MAX:
        return f"{len(named)} release lines"
    words = " and ".join(part for part in (", ".join(named[:-1]), named[-1]) if part) if named else ""
    comma = "," if is_subject and named and "," in named[-1] else ""
    return f"Kafka {words}{comma}" if words else ""


def allowed_settings(runs: Sequence[RunView]) -> str:
    """Return the settings under which records were lost as these allow, in words; empty if no run names them."""
    minimums: dict[str, set[str]] = {}
    weaker: set[str] = set()
    for run in runs:
        lost = _acks_of(run, _losses(run, "allowed_by_settings"))
        weaker.update(f"acks={acks}" for acks in lost if acks != "all")
        if "all" in lost and (minimum := run.user_settings.get(MIN_ISR)):
            minimums.setdefault(unclean_word(run), set()).add(minimum)
    words = [_elections(minimums[unclean], unclean) for unclean in ("on", "off") if unclean in minimums]
    return "; ".join((*words, *sorted(weaker, reverse=True)))


def _elections(minimums: Collection[str], unclean: str) -> str:
    with_what = "unclean election" if unclean == "on" else "unclean election off"
    return f"{MIN_ISR} {' or '.join(sorted(minimums))} with {with_what}"


def unclean_word(run: RunView) -> str:
    """Return whether the run's settings allow unclean election, on or off."""
    return "on" if run.user_settings.get("unclean.leader.election.enable", "").lower() == "true" else "off"


def labels_words(labels: Sequence[str], total: int = 0) -> str:
    """Return the first labels, and how many more there are of ``total``."""
    more = max(len(labels), total) - _LABELS_MAX
    return ", ".join(labels[:_LABELS_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _cause(run: RunView) -> str:
    """Return what the judge gave as the reason; of a verdict of an older tester the first loss's, or the whole one."""
    if run.verdict.promise_reason:
        return run.verdict.promise_reason
    if (first := next((loss for loss in run.verdict.losses if loss.promise == "broken"), None)) is not None:
        return first.reason if first.reason.startswith(first.label) else f"{first.label} lost: {first.reason}"
    return run.verdict.reason
