"""How is a cell, a count or a total said in a few words?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.record.verdict import Conformance
from reports.overview import duration_words
from reports.promises import broken_words
from reports.requirement_table.rows import missing_words
from reports.verdict_words import CONFORMANCE_LOOKS, CONFORMS_MEANS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.record.verdict import HeldInRun
    from reports.requirement_table.table import RequirementCell, RequirementTable, Total


NONE = "\N{EM DASH}"
"""What stands where no run is about a requirement, or where nothing can be said."""
NONE_MEANS = "no run is about this requirement: nothing of it was asked for, or it is still to be run"
"""What the dash of a cell means."""
MEANING = f"{CONFORMS_MEANS} The prediction of each run is in the report of its release."
"""What the table's verdicts say, and what they do not say."""


def counted(counts: Mapping[Conformance, int]) -> str:
    """Return how many runs have which verdict, as in ``conforms 3, deviates 1``."""
    return ", ".join(f"{CONFORMANCE_LOOKS[word].word.lower()} {counts[word]}" for word in Conformance if counts[word])


def cell_words(cell: RequirementCell) -> str:
    """Say a cell: how many runs, or what they are if they do not all conform."""
    if not cell.runs:
        return NONE
    words = counted(cell.counts)
    if set(cell.counts) <= {Conformance.CONFORMS}:
        words = str(len(cell.runs))
    return f"{words}; promise broken in {cell.broken_promises}" if cell.broken_promises else words


def share_words(cell: RequirementCell) -> str:
    """Return how many runs have the worst verdict, and of how many that were taken if not all have it: 4, or 1/9."""
    worst = 0 if cell.word is None else cell.counts[cell.word]
    taken = len(cell.runs) - cell.counts[Conformance.NOT_RUN]
    return str(worst) if worst >= taken else f"{worst}/{taken}"


def time_words(total: Total) -> str:
    """Return how long one column's runs took, and each round if there are several."""
    words = duration_words(total.seconds)
    if total.rounds < 2:
        return words
    return f"{words} ({' + '.join(map(duration_words, total.seconds_of_rounds))})"


def flake_words(total: Total) -> str:
    """Return how many entries had another verdict in another round; one round cannot tell."""
    return str(total.flakes) if total.rounds > 1 else NONE


def held_words(held: HeldInRun) -> str:
    """Say for how many observations a requirement held, and for how many it did not."""
    if held.broken:
        return f"broken {len(held.broken)} times, held {held.observations:,} times"
    return f"{held.observations:,}"


def headline(table: RequirementTable) -> str:
    """Say the whole table in one line: what behaved, which promises were broken, which lines should be there."""
    broken = broken_words([run.broken for run in table.runs if run.broken is not None])
    return "; ".join(words for words in (_behaved(table), broken, missing_words(table.problems)) if words)


def _behaved(table: RequirementTable) -> str:
    releases = len(table.columns)
    runs = [run for run in table.runs if run.conformance is not Conformance.NOT_RUN]
    good = sum(run.conformance is Conformance.CONFORMS for run in runs)
    noun = "release line" if releases == 1 else "release lines"
    if len(runs) == good == 1:
        return f"The run behaves as modelled on {releases} {noun}"
    share = f"All {good}" if runs and good == len(runs) else f"{good} of {len(runs)}"
    return f"{share} runs behave as modelled on {releases} {noun}"


def unlike_the_releases(table: RequirementTable) -> dict[str, str]:
    """Return what brokers had that their release has not, each once, with the releases in their order."""
    releases: dict[str, dict[str, None]] = {}
    for total in table.totals:
        for quirk in (quirk for run in total.runs for quirk in run.quirks):
            releases.setdefault(quirk, {})[total.column.kafka] = None
    return {quirk: ", ".join(named) for quirk, named in releases.items()}


def total_words(total: Total) -> str:
    """Return what one column's runs came to."""
    runs = "1 run" if len(total.runs) == 1 else f"{len(total.runs)} runs"
    parts = [runs, counted(total.counts), duration_words(total.seconds)]
    if total.rounds > 1:
        parts.append(f"{total.rounds} rounds, {total.flakes} flakes")
    if total.again:
        parts.append(f"{total.again} run again")
    return "; ".join(part for part in parts if part)
