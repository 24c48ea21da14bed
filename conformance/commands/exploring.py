"""``explore``: does an invariant hold in every state a model can reach, and if not, what is the shortest way there?"""

from __future__ import annotations

import gc
import resource
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.judgement.verdicts import EXIT_CODES
from conformance.record.verdict import Conformance
from fault_injection.releases import UsageError
from oracle.explorer.model import Always, Exploration, SearchProgress, SearchVerdict
from oracle.explorer.search import Limits, explore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.console import Console
    from oracle.explorer.model import SearchSubject

INTERRUPTED = 130
NOTHING_YET = SearchProgress(0, 0, 0, 0)
BY_HAND = "interrupted"
"""What stopped a search that was interrupted."""

PROGRESS_EVERY_S = 5.0
STATES_TO_MEASURE_MEMORY = 50_000  # below, what the interpreter itself takes hides what a state takes
EXITS = {
    SearchVerdict.HOLDS: EXIT_CODES[Conformance.CONFORMS],
    SearchVerdict.VIOLATED: EXIT_CODES[Conformance.DEVIATES],
    SearchVerdict.UNFINISHED: EXIT_CODES[Conformance.INCONCLUSIVE],
}


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """How to search.

    Attributes:
        invariants: names of those to check; empty means the model's usual ones.
        max_states: distinct states after which the search gives up.
    """

    invariants: tuple[str, ...]
    max_states: int


def peak_memory_bytes() -> int:
    """Return the most memory that the process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@dataclass(slots=True)
class Meter:
    """What a search costs: seconds, and bytes of memory that the process has grown by."""

    console: Console
    started_s: float = field(default_factory=time.monotonic)
    memory_before: int = field(default_factory=peak_memory_bytes)
    told_s: float = field(default_factory=time.monotonic)
    latest: SearchProgress = NOTHING_YET

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started_s

    def tell(self, progress: SearchProgress) -> None:
        """Keep how far the search is, and say it every few seconds."""
        self.latest = progress
        if time.monotonic() - self.told_s >= PROGRESS_EVERY_S:
            self.told_s = time.monotonic()
            speed = progress.distinct / self.seconds
            self.console.progress(
                f"{progress.distinct} distinct states of {progress.generated}, depth {progress.depth}, "
                f"{progress.queued} to expand, {speed:.0f} distinct/s"
            )

    def figures(self, found: Exploration[Any]) -> dict[str, float | None]:
        """Return seconds, speeds and memory of a search that has ended."""
        seconds = self.seconds
        grown = peak_memory_bytes() - self.memory_before
        is_measured = found.distinct >= STATES_TO_MEASURE_MEMORY
        return {
            "seconds": round(seconds, 3),
            "distinct_per_s": round(found.distinct / seconds),
            "generated_per_s": round(found.generated / seconds),
            "bytes_per_state": round(grown / found.distinct) if is_measured else None,
        }


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Keep Python from looking for cycles in the visited set again and again: a search makes none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def explore_model(console: Console, subject: SearchSubject[Any], options: ExploreOptions) -> int:
    """Search, print what was found, and return the exit code."""
    invariants = chosen_invariants(subject, options.invariants)
    meter = Meter(console)
    found = _found(subject, invariants, options, meter)
    figures = meter.figures(found)
    named = found.property_name or ", ".join(one.name for one in invariants)
    try:
        if console.as_json:
            console.answer_json(_value(subject, named, found, figures))
        else:
            console.answer("\n".join(_lines(subject, named, found, figures)))
        if found.stopped_by == BY_HAND:
            return INTERRUPTED
        for line in subject.conclude(found):
            console.progress(line)
    except KeyboardInterrupt:
        console.complain("interrupted: nothing is made of what was found")
        return INTERRUPTED
    return EXITS[found.verdict]


def _found(
    subject: SearchSubject[Any], invariants: tuple[Always[Any], ...], options: ExploreOptions, meter: Meter
) -> Exploration[Any]:
    """Search; an interrupt leaves the figures so far, even while the way to what broke is still being rebuilt."""
    broken: list[str] = []
    noting = [_noting(one, broken) for one in invariants]
    limits = Limits(max_states=options.max_states, on_progress=meter.tell)
    with no_garbage_collection():
        try:
            return explore(subject.model, noting, subject.sometimes, limits=limits)
        except KeyboardInterrupt:
            return _without_path(subject, broken, meter.latest)


def _noting(one: Always[Any], broken: list[str]) -> Always[Any]:
    def holds(state: object) -> bool:
        if one.holds(state):
            return True
        broken.append(one.name)
        return False

    return Always(one.name, holds)


def _without_path(subject: SearchSubject[Any], broken: list[str], latest: SearchProgress) -> Exploration[Any]:
    return Exploration(
        model=subject.model.name,
        verdict=SearchVerdict.VIOLATED if broken else SearchVerdict.UNFINISHED,
        property_name=broken[0] if broken else None,
        generated=latest.generated,
        distinct=latest.distinct,
        depth=latest.depth,
        sometimes=subject.model.occurrences(),
        stopped_by=BY_HAND,
    )


def chosen_invariants(subject: SearchSubject[Any], names: tuple[str, ...]) -> tuple[Always[Any], ...]:
    """Return the invariants of these names, or the model's usual ones.

    Raises:
        UsageError: the model has no such invariant; lists those it has.
    """
    offered = {one.name: one for one in (*subject.invariants, *subject.further)}
    for name in names:
        if name not in offered:
            raise UsageError(f"{subject.model.name} has no invariant {name!r}; it has: {', '.join(offered)}")
    return tuple(offered[name] for name in dict.fromkeys(names)) or subject.invariants


def _value(subject: SearchSubject[Any], named: str, found: Exploration[Any], figures: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": found.model,
        "constants": dict(subject.constants),
        "invariant": named,
        "verdict": found.verdict.value,
        "generated": found.generated,
        "distinct": found.distinct,
        "depth": found.depth,
        "trace_length": found.trace_length,
        "trace": [
            {"action": None if step.label is None else str(step.label), "state": subject.value(step.state)}
            for step in found.path
        ],
        **figures,
        "sometimes": dict(found.sometimes),
        "stopped_by": found.stopped_by,
    }


def _lines(subject: SearchSubject[Any], named: str, found: Exploration[Any], figures: dict[str, Any]) -> Iterator[str]:
    constants = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in subject.constants.items())
    yield f"{found.model}: {constants}"
    yield f"{named} {_sentence(found, are_several=', ' in named)}"
    yield ""
    if found.path:
        yield from _told(subject, found)
    yield f"{found.generated} states generated, {found.distinct} distinct, depth {found.depth}"
    memory = figures["bytes_per_state"]
    yield (
        f"{figures['seconds']:.2f} s: {figures['distinct_per_s']} distinct/s, {figures['generated_per_s']} generated/s"
        + (f", {memory} bytes a state" if memory else "")
    )
    yield "seen: " + ", ".join(f"{name} {times}" for name, times in found.sometimes.items())
    if found.never_seen and found.verdict is not SearchVerdict.VIOLATED:
        yield f"NEVER SEEN, so nothing is proved about it: {', '.join(found.never_seen)}"


def _told(subject: SearchSubject[Any], found: Exploration[Any]) -> Iterator[str]:
    before: tuple[str, ...] = ()
    for number, step in enumerate(found.path, start=1):
        yield f"{number:3}  {step.label or 'the start'}"
        lines = tuple(subject.lines(step.state))
        yield from (f"     {' ' if not before or line in before else '*'} {line}" for line in lines)
        before = lines
    yield ""


def _sentence(found: Exploration[Any], *, are_several: bool) -> str:
    if found.verdict is SearchVerdict.VIOLATED and not found.path:
        return f"is VIOLATED; {found.stopped_by} before the shortest way there was rebuilt"
    if found.verdict is SearchVerdict.VIOLATED:
        return f"is VIOLATED; the shortest way there has {found.trace_length} states"
    if found.verdict is SearchVerdict.HOLDS:
        return f"{'hold' if are_several else 'holds'} in every reachable state"
    return f"{'are' if are_several else 'is'} unfinished: {found.stopped_by}; nothing broke until then"
