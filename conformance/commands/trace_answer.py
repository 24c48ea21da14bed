"""What came of a trace's check? For a person, and as an exit code.

A check stops at the first event that no rule allows. Of an invariant that it had not looked at until then nothing is
known: it is not told as one that the run never exercised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.judgement.verdicts import EXIT_CODES
from conformance.record.verdict import Conformance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.trace_check import InvariantCount, TraceResult, TraceViolation


def verdict_lines(result: TraceResult) -> Iterator[str]:
    """Return what came out, line by line."""
    checked = ", ".join(f"{count} {api}" for api, count in result.checked.items())
    yield f"\n{result.frames} frames, of which the model was shown {checked or 'none'}; {result.events} events"
    yield f"by the rules of {result.rules_of}{_how_far(result)}:"
    for invariant in result.invariants:
        yield f"  {invariant.number} {_held(invariant, result):>18}  {invariant.statement}"
    if result.violation is not None:
        yield from _violation_lines(result.violation)
    if result.why_not is not None:
        yield f"\nnot checked: {result.why_not}"
    elif result.violation is None:
        yield "\nevery event is one that the rules allow"


def _how_far(result: TraceResult) -> str:
    if result.violation is not None:
        return f", until the check stopped {_at(result.violation)}"
    return "" if result.why_not is None else ", as far as the trace could be checked"


def _held(invariant: InvariantCount, result: TraceResult) -> str:
    """Return how often it held; of a check that stopped early none is said to have had no occasion."""
    if invariant.held:
        return f"held {invariant.held} {'time' if invariant.held == 1 else 'times'}"
    if result.violation is not None and result.violation.invariant == invariant.number:
        return "broken"
    return "never exercised" if result.is_whole else "not looked at"


def _violation_lines(violation: TraceViolation) -> Iterator[str]:
    yield f"\nnot allowed: {violation.text}"
    for frame in violation.frames:
        mark = ">" if frame.seq == violation.frame else " "
        yield f"{mark} {frame.at_s:9.3f} #{frame.seq:<5} {frame.text}"
    expected = f"where these rules expect {violation.allowed}"
    yield f"\nthe check stopped {_at(violation)}, {expected}; nothing after it was looked at"


def _at(violation: TraceViolation) -> str:
    return violation.where if violation.frame is None else f"at {violation.where}"


def exit_code_of(result: TraceResult) -> int:
    """Return 0 if all is allowed, 1 if something is not, 4 if not all was checked."""
    if result.violation is not None:
        return EXIT_CODES[Conformance.DEVIATES]
    return EXIT_CODES[Conformance.HARNESS_ERROR if result.why_not is not None else Conformance.CONFORMS]
