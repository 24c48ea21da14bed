"""What does a run's verdict.json say, and does what is found now say otherwise? A verdict that differs is kept.

The tester that judges a run again may be another than the one that ran it: its verdict takes the place of the stored
one, which goes to ``verdict.before.json`` (then ``verdict.before-2.json``, and so on). Nothing that was judged is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.judgement.deviation_codes import TRACE
from conformance.judgement.verdicts import WIRE_UNCHECKED, Conformance
from conformance.run_directory import RunDirectoryError

if TYPE_CHECKING:
    from conformance.observation.trace_result import TraceResult
    from conformance.run_directory import RunDirectory

VERDICT = "verdict.json"


def stored_verdict(run: RunDirectory) -> dict[str, Any] | None:
    """Return verdict.json; None if there is none that can be read."""
    try:
        stored: object = run.read_json(VERDICT)
    except RunDirectoryError:
        return None
    return stored if isinstance(stored, dict) else None


def in_words(stored: dict[str, Any]) -> str:
    """Return a stored verdict, such as ``CONFORMS + KEPT (35 numbers and 3 records as predicted, …)``."""
    promise = f" + {stored['promise']}" if stored.get("promise") else ""
    return f"{stored.get('conformance')}{promise} ({stored.get('reason')})"


def keep_before(run: RunDirectory, before: dict[str, Any] | None) -> str | None:
    """Write down the verdict that there was before a run was judged again, if anything of it is gone.

    Returns:
        The name of the file that it was written to; None if nothing of it is gone.
    """
    now = stored_verdict(run)
    if before is None or now is None or all(name in now and now[name] == told for name, told in before.items()):
        return None
    names = ("verdict.before.json", *(f"verdict.before-{number}.json" for number in range(2, 1000)))
    name = next(name for name in names if not (run.path / name).exists())
    run.write_json(name, before)
    return name


def ended_otherwise(run: RunDirectory, result: TraceResult) -> str | None:
    """Return the stored verdict in words if it says otherwise of the wire than a check by the run's own rules."""
    stored = stored_verdict(run)
    if stored is None:
        return None
    findings = stored.get("findings") or ()
    was_violated = any(finding.get("kind") == TRACE for finding in findings if isinstance(finding, dict))
    was_unchecked = WIRE_UNCHECKED in str(stored.get("reason"))
    conformed = stored.get("conformance") == Conformance.CONFORMS
    if result.why_not is not None:
        differs = conformed or was_violated
    else:
        differs = was_unchecked or was_violated is (result.violation is None)
    return in_words(stored) if differs else None
