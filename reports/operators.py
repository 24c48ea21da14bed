"""What does this mean for who runs Kafka? Which settings lost which records, on which release.

Rows group runs by the settings an operator chooses; harness errors and runs that never happened say
nothing and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.verdict import Conformance, PromiseKept
from reports.promises import labels_words, lost_records
from reports.version_matrix import age, line_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.model import RunView

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
        if spoken and "min.insync.replicas" in run.user_settings:
            groups.setdefault((settings_words(run), line_words(run)), []).append(run)
    settings = list(dict.fromkeys(key[0] for key in groups))
    ordered = sorted(groups.items(), key=lambda item: (settings.index(item[0][0]), age(item[1][0])))
    return tuple(_row(key, members) for key, members in ordered)


def settings_words(run: RunView) -> tuple[str, ...]:
    """Return what decides: acks of the records, min.insync.replicas and unclean election, with the replica count."""
    settings = run.user_settings
    unclean = "on" if settings.get("unclean.leader.election.enable", "").lower() == "true" else "off"
    replicas = settings.get("replication.factor") or len(run.story.replicas) or "?"
    minimum = f"min.insync.replicas {settings['min.insync.replicas']}"
    acks = (f"acks={' and '.join(run.records.acks)}",) if run.records.acks else ()
    return *acks, minimum, f"unclean election {unclean}", f"{replicas} replicas"


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
