"""What does this mean for who runs Kafka? Which settings lost which records, on which release.

Rows group runs by the settings an operator chooses; harness errors and runs that never happened say
nothing and are left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.verdict import Conformance, PromiseKept
from reports.version_matrix import age, metadata_words

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
    PromiseKept.BROKEN: "What these settings promise did not hold, against the model of this release.",
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


_LABELS_MAX = 4
_Key = tuple[tuple[str, ...], str, str]


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One choice of settings on one release.

    Attributes:
        settings: the deciding settings, each in words.
        variant: safe, unsafe, or empty.
        kafka: release and metadata mode.
        lost: records that were committed and are gone, each with its scenario.
        refused: how many writes were refused rather than put at risk.
        runs: the runs this row speaks of.
        worst: the worst promise verdict among them.
        advice: what it means, in one sentence.
    """

    settings: tuple[str, ...]
    variant: str
    kafka: str
    lost: tuple[str, ...]
    refused: int
    runs: tuple[RunView, ...]
    worst: PromiseKept | None
    advice: str


def operator_rows(runs: Sequence[RunView]) -> tuple[OperatorRow, ...]:
    """Return one row a choice of settings and release, equal settings together, oldest release first."""
    groups: dict[_Key, list[RunView]] = {}
    for run in runs:
        spoken = run.verdict.conformance in {Conformance.CONFORMS, Conformance.DEVIATES}
        if spoken and "min.insync.replicas" in run.user_settings:
            key = (settings_words(run), run.variant, f"{run.kafka} {metadata_words(run.metadata)}")
            groups.setdefault(key, []).append(run)
    settings = list(dict.fromkeys(key[:2] for key in groups))
    ordered = sorted(groups.items(), key=lambda item: (settings.index(item[0][:2]), age(item[1][0])))
    return tuple(_row(key, members) for key, members in ordered)


def settings_words(run: RunView) -> tuple[str, ...]:
    """Return what decides: acks of the records, min.insync.replicas and unclean election, with the replica count."""
    settings = run.user_settings
    unclean = "on" if settings.get("unclean.leader.election.enable", "").lower() == "true" else "off"
    replicas = settings.get("replication.factor") or len(run.story.replicas) or "?"
    minimum = f"min.insync.replicas {settings['min.insync.replicas']}"
    acks = (f"acks={' and '.join(run.records.acks)}",) if run.records.acks else ()
    return *acks, minimum, f"unclean election {unclean}", f"{replicas} replicas"


def lost_records(run: RunView) -> tuple[str, ...]:
    """Return the labels of acknowledged or committed records that are gone."""
    lost = [row.label for row in run.records.rows if (row.measured_fate or row.predicted_fate) == "lost"]
    return tuple(lost or (loss.label for loss in run.verdict.losses))


def _lost_words(run: RunView) -> str:
    """Return the first lost labels and how many more there are; empty if nothing was lost."""
    acks = {row.label: row.acks for row in run.records.rows}
    labels = [
        label if acks.get(label, "all") == "all" else f"{label} (acks={acks[label]})" for label in lost_records(run)
    ]
    counted = sum(count.measured for count in run.records.classes if count.name == "lost")
    more = max(len(labels), counted) - _LABELS_MAX
    return ", ".join(labels[:_LABELS_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _row(key: _Key, runs: Sequence[RunView]) -> OperatorRow:
    settings, variant, kafka = key
    worst = min((run.verdict.promise for run in runs), key=_WORST_FIRST.index)
    lost = tuple(f"{words} in {run.scenario}" for run in runs if (words := _lost_words(run)))
    refused = sum(_outcomes(run)["refused"] for run in runs)
    advice = _ADVICE[worst]
    if worst is PromiseKept.ALLOWED_BY_SETTINGS and not any(_lost_with_all(run) for run in runs):
        advice = _lost_without_all(runs) or advice
    if worst is PromiseKept.KEPT and refused:
        advice = "Writes were refused rather than put at risk; every acknowledged record survived."
    return OperatorRow(settings, variant, kafka, lost, refused, tuple(runs), worst, advice)


def _lost_with_all(run: RunView) -> bool:
    """Tell whether a record that was sent with acks=all is gone; of a record that is not shown nobody knows better."""
    acks = {row.label: row.acks for row in run.records.rows}
    return any(acks.get(label, "all") == "all" for label in lost_records(run))


def _lost_without_all(runs: Sequence[RunView]) -> str:
    """Say what was lost where no record of acks=all was, and that those were kept if there were any."""
    sent = {row.acks for run in runs for row in run.records.rows if row.label in lost_records(run)}
    if not sent:
        return ""
    kept = "; acks=all kept its own" if any("all" in run.records.acks for run in runs) else ""
    acks = " and ".join(sorted(sent, reverse=True))
    return f"Only records sent with acks={acks} were lost, which survive no longer than their leader{kept}."


def _outcomes(run: RunView) -> Counter[str]:
    counted = Counter(row.measured_outcome.split(":")[0] for row in run.records.rows)
    if "refused" in run.records.totals:
        counted["refused"] = run.records.totals["refused"]
    return counted
