"""Which durability promises were broken, by which release, and why? What the judge wrote, as a headline says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.verdict import Conformance, PromiseKept
from reports.version_matrix import age, line_words

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


# What does this mean for who runs Kafka? Which settings lost which records, on which release.
#
# Rows group runs by the settings an operator chooses; harness errors and runs that never happened say
# nothing and are left out.


_WORST_FIRST = (
    PromiseKept.BROKEN,
    PromiseKept.BROKEN_AS_PREDICTED,
    PromiseKept.ALLOWED_BY_SETTINGS,
    PromiseKept.NO_PROMISE,
    PromiseKept.KEPT,
    None,
)

_ADVICE = {
    PromiseKept.BROKEN: "What these settings promise did not hold, and the model rules that out.",
    PromiseKept.BROKEN_AS_PREDICTED: (
        "What these settings promise does not hold on this release; the scenario says why."
    ),
    PromiseKept.ALLOWED_BY_SETTINGS: (
        "These settings trade acknowledged records for availability; the loss is their price."
    ),
    PromiseKept.NO_PROMISE: "Nothing was promised, so nothing can be relied on.",
    PromiseKept.KEPT: "Every acknowledged record survived these faults.",
    None: "The promise was not judged.",
}


_Key = tuple[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class LostInRun:
    """Labels of the records that one run lost."""

    words: str
    run: RunView


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One choice of settings on one release.

    Attributes:
        settings: the deciding settings, each in words.
        kafka: release and metadata mode.
        lost: records that were committed and are gone, run by run.
        refused: how many writes were refused rather than put at risk.
        worst: the worst promise verdict among the runs with these settings.
        advice: what it means, in one sentence.
        shown_by: the runs that show it.
    """

    settings: tuple[str, ...]
    kafka: str
    lost: tuple[LostInRun, ...]
    refused: int
    worst: PromiseKept | None
    advice: str
    shown_by: tuple[RunView, ...]


def operator_rows(runs: Sequence[RunView]) -> tuple[OperatorRow, ...]:
    """Return one row a choice of settings and release, equal settings together, oldest release first."""
    groups: dict[_Key, list[RunView]] = {}
    for run in runs:
        spoken = run.verdict.conformance in {Conformance.CONFORMS, Conformance.DEVIATES}
        if spoken and MIN_ISR in run.user_settings:
            groups.setdefault((settings_words(run), line_words(run)), []).append(run)
    settings = list(dict.fromkeys(key[0] for key in groups))
    ordered = sorted(groups.items(), key=lambda item: (settings.index(item[0][0]), age(item[1][0])))
    return tuple(_row(key, members) for key, members in ordered)


def settings_words(run: RunView) -> tuple[str, ...]:
    """Return what decides: acks of the records, min.insync.replicas and unclean election, with the replica count."""
    settings = run.user_settings
    replicas = settings.get("replication.factor") or len(run.story.replicas) or "?"
    minimum = f"{MIN_ISR} {settings[MIN_ISR]}"
    acks = (f"acks={' and '.join(run.records.acks)}",) if run.records.acks else ()
    return *acks, minimum, f"unclean election {unclean_word(run)}", f"{replicas} replicas"


def _row(key: _Key, runs: Sequence[RunView]) -> OperatorRow:
    settings, kafka = key
    worst = min((run.verdict.promise for run in runs), key=_WORST_FIRST.index)
    lost = tuple(LostInRun(words, run) for run in runs if (words := _lost_words(run)))
    refused = sum(_refused(run) for run in runs)
    return OperatorRow(settings, kafka, lost, refused, worst, *_meaning(worst, runs))


def _meaning(worst: PromiseKept | None, runs: Sequence[RunView]) -> tuple[str, tuple[RunView, ...]]:
    """Return what the worst verdict means, and the runs that show just that."""
    shown_by = tuple(run for run in runs if run.verdict.promise is worst)
    advice = _ADVICE[worst]
    if worst is PromiseKept.ALLOWED_BY_SETTINGS and not any(_lost_with_all(run) for run in runs):
        advice = _lost_without_all(runs) or advice
    if worst is PromiseKept.KEPT and (refusing := tuple(run for run in shown_by if _refused(run))):
        return "Writes were refused rather than put at risk; every acknowledged record survived these faults.", refusing
    return advice, shown_by


def _lost_words(run: RunView) -> str:
    """Return the first lost labels and how many more there are; empty if nothing was lost."""
    acks = {row.label: row.acks for row in run.records.rows}
    labels = [
        label if acks.get(label, "all") == "all" else f"{label} (acks={acks[label]})" for label in lost_records(run)
    ]
    return labels_words(labels, sum(count.measured for count in run.records.classes if count.name == "lost"))


def _refused(run: RunView) -> int:
    """Return how many writes of a run were refused."""
    if "refused" in run.records.totals:
        return run.records.totals["refused"]
    return sum(row.measured_outcome.startswith("refused") for row in run.records.rows)


def _lost_with_all(run: RunView) -> bool:
    """Tell whether a record that was sent with acks=all is gone; of a record that is not shown nobody knows better."""
    acks = {row.label: row.acks for row in run.records.rows}
    return any(acks.get(label, "all") == "all" for label in lost_records(run))


def _lost_without_all(runs: Sequence[RunView]) -> str:
    """Return what was lost where no record of acks=all was, and that those were kept if there were any."""
    sent = {row.acks for run in runs for row in run.records.rows if row.label in lost_records(run)}
    if not sent:
        return ""
    kept = "; acks=all kept its own" if any("all" in run.records.acks for run in runs) else ""
    acks = " and ".join(sorted(sent, reverse=True))
    return f"Only records sent with acks={acks} were lost, which survive no longer than their leader{kept}."
