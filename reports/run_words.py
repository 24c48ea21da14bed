"""How is a run told from the others of its page, and how are many of them counted in a line?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.chapters import round_of
from reports.overview import duration_words
from reports.verdict_words import CONFORMANCE_LOOKS, PROMISE_LOOKS, Conformance, Promise
from reports.version_matrix import metadata_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.chapters import Tally
    from reports.model import RunView

_BROKEN = (Promise.BROKEN, Promise.BROKEN_AS_PREDICTED)


def place_words(run: RunView, runs: Sequence[RunView]) -> str:
    """Return release, backend and round of a run, each only if the page has more than one."""
    parts = []
    if len({(one.kafka, one.metadata) for one in runs}) > 1:
        parts.append(f"{run.kafka} {metadata_words(run.metadata)}".strip())
    if len({one.backend for one in runs if one.backend}) > 1:
        parts.append(run.backend)
    number = round_of(run)
    if number is not None and len({round_of(one) for one in runs}) > 1:
        parts.append(f"round {number}")
    return ", ".join(part for part in parts if part)


def tally_words(tally: Tally) -> str:
    """Return how many runs had which verdict, what broke, and the time, in one line."""
    count = len(tally.runs)
    said = [
        f"{CONFORMANCE_LOOKS[word].word.lower()} {tally.conformance[word]}"
        for word in Conformance
        if tally.conformance[word]
    ]
    said += [
        f"promise {PROMISE_LOOKS[word].word.lower()}: {tally.promise[word]}" for word in _BROKEN if tally.promise[word]
    ]
    return f"{count} run{'' if count == 1 else 's'}: {', '.join(said)}; {duration_words(tally.seconds)}"
