"""What does this mean for who runs Kafka? Which settings lost which records, on which release, and which they can lose.

Rows group runs by the settings an operator chooses; harness errors and runs that never happened say nothing and are
left out. What was shown stands beside what the model finds of the same settings, whatever happens to brokers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from conformance.record.verdict import Conformance, PromiseKept
from reports.promises import MIN_ISR, labels_words, lost_records, unclean_word
from reports.version_matrix import age, line_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reports.model import RunView


class ChosenSettings(NamedTuple):
    """What an operator chooses, on a release; whether the cluster has eligible leader replicas (KIP-966)."""

    kafka: str
    metadata: str
    acks: str
    min_isr: int
    replicas: int
    unclean: bool
    has_elr: bool


class FoundLosses(NamedTuple):
    """What the model finds of some settings, with an acks, as sentences."""

    acks: str
    kills: str
    power_failure: str


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


if TYPE_CHECKING:
    WhatIsLost = Callable[[ChosenSettings], FoundLosses]
    """Tells what the model finds of some settings."""

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
        can_lose: what the model finds of them, for each acks; none if nobody was asked.
        lost: records that were committed and are gone, run by run.
        refused: how many writes were refused rather than put at risk.
        worst: the worst promise verdict among the runs with these settings.
        advice: what it means, in one sentence.
        shown_by: the runs that show it.
    """

    settings: tuple[str, ...]
    kafka: str
    can_lose: tuple[FoundLosses, ...]
    lost: tuple[LostInRun, ...]
    refused: int
    worst: PromiseKept | None
    advice: str
    shown_by: tuple[RunView, ...]


def operator_rows(runs: Sequence[RunView], what_is_lost: WhatIsLost | None = None) -> tuple[OperatorRow, ...]:
    """Return one row a choice of settings and release: those that came to the worst first, equal settings together.

    Args:
        runs: what was shown.
        what_is_lost: tells what the model finds of settings, whatever happens to brokers.
    """
    groups: dict[_Key, list[RunView]] = {}
    for run in runs:
        spoken = run.verdict.conformance in {Conformance.CONFORMS, Conformance.DEVIATES}
        if spoken and MIN_ISR in run.user_settings:
            groups.setdefault((settings_words(run), line_words(run)), []).append(run)
    oldest_first = sorted(groups.items(), key=lambda item: age(item[1][0]))
    rows = [_row(key, members, what_is_lost) for key, members in oldest_first]
    worst: dict[tuple[str, ...], int] = {}
    for row in rows:
        worst[row.settings] = min(worst.get(row.settings, len(_WORST_FIRST)), _WORST_FIRST.index(row.worst))
    return tuple(sorted(rows, key=lambda row: (worst[row.settings], row.settings)))


def settings_words(run: RunView) -> tuple[str, ...]:
    """Return what decides: acks of the records, min.insync.replicas and unclean election, with the replica count."""
    settings = run.user_settings
    replicas = replicas_of(run) or "?"
    minimum = f"{MIN_ISR} {settings[MIN_ISR]}"
    acks = (f"acks={' and '.join(run.records.acks)}",) if run.records.acks else ()
    return *acks, minimum, f"unclean election {unclean_word(run)}", f"{replicas} replicas"


def replicas_of(run: RunView) -> int:
    """Return how many replicas the run's partition had; 0 if it does not say."""
    told = run.user_settings.get("replication.factor", "")
    return int(told) if told.isdecimal() else len(run.story.replicas)


def _row(key: _Key, runs: Sequence[RunView], what_is_lost: WhatIsLost | None) -> OperatorRow:
    settings, kafka = key
    worst = min((run.verdict.promise for run in runs), key=_WORST_FIRST.index)
    lost = tuple(LostInRun(words, run) for run in runs if (words := _lost_words(run)))
    refused = sum(_refused(run) for run in runs)
    can_lose = () if what_is_lost is None else tuple(_asked(runs[0], what_is_lost))
    return OperatorRow(settings, kafka, can_lose, lost, refused, worst, *_meaning(worst, runs))


def _asked(run: RunView, what_is_lost: WhatIsLost) -> Iterator[FoundLosses]:
    """Yield what the model finds of a run's settings, for each acks that its records were sent with."""
    minimum, unclean = run.user_settings[MIN_ISR], unclean_word(run) == "on"
    for acks in run.records.acks if minimum.isdecimal() else ():
        yield what_is_lost(
            ChosenSettings(run.kafka, run.metadata, acks, int(minimum), replicas_of(run), unclean, run.has_elr)
        )


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
