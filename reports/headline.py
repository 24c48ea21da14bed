"""What does a page answer to who runs Kafka? Which releases lose records with which settings, in one line.

A promise that was broken comes first, then what deviates or gave no answer; only where there is neither, that promises
were kept, and by which settings records were lost all the same.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from conformance.record.verdict import Conformance, PromiseKept
from reports.promises import BROKEN, allowed_settings, broken_promise, broken_words, kafka_words
from reports.version_matrix import age, line_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reports.model import RunView
    from reports.promises import BrokenPromise

_COUNTED: dict[Conformance | PromiseKept, tuple[str, str]] = {
    Conformance.DEVIATES: ("deviates", "deviate"),
    Conformance.HARNESS_ERROR: ("ended in a harness error", "ended in harness errors"),
    Conformance.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
    Conformance.NOT_RUN: ("does not apply and was not run", "do not apply and were not run"),
}
_PROMISES: dict[Conformance | PromiseKept, tuple[str, str]] = {
    PromiseKept.ALLOWED_BY_SETTINGS: (
        "run lost records as its settings allow",
        "runs lost records as their settings allow",
    ),
    PromiseKept.NO_PROMISE: ("run promised nothing", "runs promised nothing"),
}
_MODELLED = ("{} run behaves as modelled", "{} runs behave as modelled")
_UNANSWERED = (Conformance.HARNESS_ERROR, Conformance.INCONCLUSIVE)
_PROMISED = (PromiseKept.KEPT, PromiseKept.ALLOWED_BY_SETTINGS)


def headline(runs: Sequence[RunView]) -> str:
    """Return which releases break which promise; if none does, what deviates, what was kept and what was lost."""
    taken = _taken(runs)
    if not taken:
        return "Nothing was run" if runs else "No runs"
    if broken := broken_promises(taken):
        return broken_words(broken)
    lines = [line_words(run) for run in sorted(taken, key=age) if run.kafka != "?"]
    kafka = kafka_words(lines)
    said = "; ".join((*_against(taken), *_promises(taken)))
    return f"{kafka}: {said}" if kafka else f"{said[0].upper()}{said[1:]}"


def headline_tone(runs: Sequence[RunView]) -> str:
    """Return the tone of the headline: bad, caution, or none if every run conforms and no promise was broken."""
    words = {run.verdict.conformance for run in runs}
    if Conformance.DEVIATES in words or broken_promises(runs):
        return "bad"
    return "caution" if words.intersection(_UNANSWERED) else ""


def as_predicted(runs: Sequence[RunView]) -> str:
    """Return, of runs none of which deviates, by whose rules they went as predicted."""
    by = {run.rules for run in _taken(runs)}
    others = sorted(by - {""})
    if not others:
        return "Nothing deviates: what was run went as the model of its release predicts."
    own = "of its release, or " if "" in by else ""
    return f"Nothing deviates: what was run went as the model predicts by the rules {own}of {' and '.join(others)}."


def broken_promises(runs: Sequence[RunView]) -> list[BrokenPromise]:
    """Return the promises that were broken, those that nobody predicted first."""
    found = [broken for run in runs if (broken := broken_promise(run)) is not None]
    return sorted(found, key=lambda broken: BROKEN.index(broken.promise))


def _taken(runs: Sequence[RunView]) -> list[RunView]:
    return [run for run in runs if run.verdict.conformance is not Conformance.NOT_RUN]


def _against(runs: Sequence[RunView]) -> Iterator[str]:
    """Yield how many runs deviate, and how many gave no answer."""
    conformance = Counter(run.verdict.conformance for run in runs)
    deviating = conformance[Conformance.DEVIATES]
    unanswered = sum(conformance[word] for word in _UNANSWERED)
    of_all = f" of {len(runs)} runs" if len(runs) > 1 else " run"
    if deviating:
        yield f"{deviating}{of_all} {_number(deviating, _COUNTED[Conformance.DEVIATES])} from the model"
    if unanswered:
        yield f"no answer from {unanswered}{of_all}"


def _promises(runs: Sequence[RunView]) -> Iterator[str]:
    """Yield in how many runs no promise was broken, and by which settings records were lost; of those that answered."""
    answered = [run for run in runs if run.verdict.conformance not in _UNANSWERED]
    promised = sum(run.verdict.promise in _PROMISED for run in answered)
    if promised:
        yield f"no promise broken in {promised} run{'' if promised == 1 else 's'}"
    elif not any(_against(runs)):
        yield f"{_number(len(runs), _MODELLED).format(len(runs))}, and promised nothing"
    if any(run.verdict.promise is PromiseKept.ALLOWED_BY_SETTINGS for run in answered):
        settings = allowed_settings(answered)
        yield f"records lost only as settings allow{': ' if settings else ''}{settings}"


def subtitle(runs: Sequence[RunView]) -> str:
    """Return how many runs conform, and what else the counts say."""
    taken = _taken(runs)
    said = (*((_conform_words(taken),) if taken else ()), *(_counted(runs) if len(runs) > 1 else ()))
    return "; ".join(said) + "." if said else ""


def _counted(runs: Sequence[RunView]) -> Iterator[str]:
    """Yield how many runs do not conform, in which way; and how many lost records as allowed, or promised nothing."""
    verdicts: Counter[Conformance | PromiseKept | None] = Counter(run.verdict.conformance for run in runs)
    verdicts.update(run.verdict.promise for run in runs)
    for word, words in (_COUNTED | _PROMISES).items():
        if verdicts[word]:
            yield f"{verdicts[word]} {_number(verdicts[word], words)}"


def _conform_words(taken: Sequence[RunView]) -> str:
    if len(taken) == 1:
        return _of_one(taken[0])
    conforming = sum(run.verdict.conformance is Conformance.CONFORMS for run in taken)
    return f"{'All' if conforming == len(taken) else f'{conforming} of'} {len(taken)} runs conform"


def _of_one(run: RunView) -> str:
    word, rules = run.verdict.conformance, run.rules
    if word is Conformance.CONFORMS:
        return f"The run conforms to the rules of {rules}" if rules else "The run conforms"
    by = f" from the rules of {rules}" if rules and word is Conformance.DEVIATES else ""
    return f"The run {_COUNTED[word][0]}{by}"


def _number(count: int, words: tuple[str, str]) -> str:
    return words[0] if count == 1 else words[1]
