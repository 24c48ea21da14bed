"""Which durability promises were broken, by which release, and why? What the judge wrote, as a headline says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.verdict import PromiseKept
from reports.version_matrix import line_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.model import RunView

BROKEN = (PromiseKept.BROKEN, PromiseKept.BROKEN_AS_PREDICTED)
"""The verdicts of a promise that did not hold, the gravest first."""
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
        cause: by what it was broken.
    """

    scenario: str
    anchor: str
    line: str
    promise: PromiseKept
    records: tuple[str, ...]
    cause: str


def broken_promise(run: RunView) -> BrokenPromise | None:
    """Return how a run broke its promise; None if it did not."""
    if run.verdict.promise not in BROKEN:
        return None
    records = tuple(loss.label for loss in run.verdict.losses if loss.promise == "broken")
    return BrokenPromise(run.name, run.anchor, line_words(run), run.verdict.promise, records, _cause(run))


def lost_records(run: RunView) -> tuple[str, ...]:
    """Return the labels of the records that were measured as lost; beyond the records shown, those the judge named."""
    lost = [row.label for row in run.records.rows if row.measured_fate == "lost"]
    return tuple(dict.fromkeys([*lost, *(loss.label for loss in run.verdict.losses)]))


def broken_words(broken: Sequence[BrokenPromise]) -> str:
    """Return how many promises were broken and by which releases; of one also which records it cost; empty for none."""
    if not broken:
        return ""
    lines = list(dict.fromkeys(one.line for one in broken))
    if len(broken) == 1:
        what = (
            f"lost {labels_words(broken[0].records)} against its promise" if broken[0].records else "broke its promise"
        )
        return f"Kafka {lines[0]} {what}{', as predicted' if broken[0].promise is not PromiseKept.BROKEN else ''}"
    predicted = ", all as predicted," if all(one.promise is not PromiseKept.BROKEN for one in broken) else ""
    return f"{len(broken)} durability promises were broken{predicted or ','} on {_lines_words(lines)}"


def labels_words(labels: Sequence[str], total: int = 0) -> str:
    """Return the first labels, and how many more there are of ``total``."""
    more = max(len(labels), total) - _LABELS_MAX
    return ", ".join(labels[:_LABELS_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _lines_words(lines: Sequence[str]) -> str:
    if len(lines) > _RELEASES_MAX:
        return f"{len(lines)} release lines"
    return " and ".join(part for part in (", ".join(lines[:-1]), lines[-1]) if part)


def _cause(run: RunView) -> str:
    """Return what the judge gave as the reason; of a verdict of an older tester the first loss's, or the whole one."""
    if run.verdict.promise_reason:
        return run.verdict.promise_reason
    if (first := next((loss for loss in run.verdict.losses if loss.promise == "broken"), None)) is not None:
        return first.reason if first.reason.startswith(first.label) else f"{first.label} lost: {first.reason}"
    return run.verdict.reason
