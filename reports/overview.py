"""What does the top of the page say? One headline, the facts of the run, and the counts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reports.verdict_words import Conformance, Promise
from reports.version_matrix import age, metadata_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reports.model import RunView

FEW = 4
"""So many different seeds are listed, more are counted."""
NOT_AS_RELEASED = "Not as released"
"""What brokers had that their release has not, such as a jar of another one."""
_COUNTED = {
    Conformance.DEVIATES: ("deviates", "deviate"),
    Conformance.HARNESS_ERROR: ("ended in a harness error", "ended in harness errors"),
    Conformance.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    Conformance.NOT_RUN: ("does not apply and was not run", "do not apply and were not run"),
}
_PROMISES = {
    Promise.BROKEN: ("promise was broken unexpectedly", "promises were broken unexpectedly"),
    Promise.BROKEN_AS_PREDICTED: (
        "durability promise was broken, as predicted",
        "durability promises were broken, as predicted",
    ),
    Promise.ALLOWED_BY_SETTINGS: (
        "run lost records as its settings allow",
        "runs lost records as their settings allow",
    ),
}


def headline(runs: Sequence[RunView]) -> str:
    """Return how many runs conform, as a sentence."""
    conforming = sum(run.verdict.conformance is Conformance.CONFORMS for run in runs)
    taken = sum(run.verdict.conformance is not Conformance.NOT_RUN for run in runs)
    if not runs:
        return "No runs"
    if len(runs) == 1:
        return "The run conforms" if conforming else f"The run {_COUNTED[runs[0].verdict.conformance][0]}"
    if not taken:
        return "Nothing was run"
    if conforming == taken:
        return f"All {taken} runs conform" if taken > 1 else "The one run conforms"
    return f"{conforming} of {taken} runs conform"


def subtitle(runs: Sequence[RunView]) -> str:
    """Return what else the counts say: deviations first, then broken promises."""
    conformance = Counter(run.verdict.conformance for run in runs)
    promise = Counter(run.verdict.promise for run in runs)
    alone = len(runs) == 1
    parts = (
        []
        if alone
        else [
            f"{conformance[word]} {_number(conformance[word], words)}"
            for word, words in _COUNTED.items()
            if conformance[word]
        ]
    )
    parts += [f"{promise[word]} {_number(promise[word], words)}" for word, words in _PROMISES.items() if promise[word]]
    return "; ".join(parts) + "." if parts else ""


def facts(runs: Sequence[RunView]) -> dict[str, str]:
    """Return versions, what is not theirs, backend, seed, date, duration and environment, each value once."""
    known = [run for run in runs if run.kafka != "?"]
    started = sorted(run.started for run in known if run.started)
    seconds = sum(run.seconds or 0 for run in runs)
    found = {
        "Kafka": _joined(f"{run.kafka} ({metadata_words(run.metadata)})" for run in sorted(known, key=age)),
        NOT_AS_RELEASED: "; ".join(_unlike_the_release(known)),
        "Backend": _joined(run.backend for run in known),
        "Seed": _few(run.seed for run in known),
        "Started": started[0].strftime("%-d %B %Y, %H:%M %Z").strip() if started else "",
        "Duration": duration_words(seconds) if seconds else "",
        "Environment": _environment(known),
    }
    return {name: value for name, value in found.items() if value}


def duration_words(seconds: float | None) -> str:
    """Return seconds as people say them: 14.2 s, 3 min 5 s, or 2 h 5 min."""
    if seconds is None:
        return ""
    if seconds < 100:
        return f"{seconds:.1f} s"
    if seconds < 6000:
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60} min"


def _number(count: int, words: tuple[str, str]) -> str:
    return words[0] if count == 1 else words[1]


def _joined(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(value for value in values if value))


def _few(values: Iterable[str]) -> str:
    different = list(dict.fromkeys(value for value in values if value))
    return ", ".join(different) if len(different) <= FEW else f"{len(different)} different ones"


def _unlike_the_release(runs: Sequence[RunView]) -> list[str]:
    """Return what the brokers had that their release has not; with its releases where the page has several."""
    ordered = sorted(runs, key=age)
    several = len({run.kafka for run in runs}) > 1
    quirks = dict.fromkeys(quirk for run in ordered for quirk in run.quirks)
    releases = {quirk: _joined(run.kafka for run in ordered if quirk in run.quirks) for quirk in quirks}
    return [f"{releases[quirk]}: {quirk}" if several else quirk for quirk in quirks]


def _environment(runs: Sequence[RunView]) -> str:
    """Return what the runs were made on, each name once with all its values."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, value in run.environment.items():
            found.setdefault(name, {})[value] = None
    return ", ".join(f"{name} {' or '.join(values)}" for name, values in found.items())
