"""What came out of the check of the wire trace? Read from trace_check.json; an older run has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reports.run_files import BrokenRunDirectory
from reports.version_matrix import metadata_words
from reports.wire import Wire, WireFrame, WireInvariant, WireViolation

if TYPE_CHECKING:
    from collections.abc import Mapping


def load_wire(checked: Mapping[str, Any]) -> Wire | None:
    """Return what the check found; None for a run that was never checked.

    Raises:
        BrokenRunDirectory: the file does not have the parts that it must have.
    """
    if not checked:
        return None
    try:
        return _wire(checked)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BrokenRunDirectory(f"trace_check.json: {type(error).__name__}: {error}") from error


def _wire(checked: Mapping[str, Any]) -> Wire:
    violation = checked["violation"]
    return Wire(
        rules_of=_rules_of(str(checked["rules_of"])),
        frames=int(checked["frames"]),
        shown={str(api): int(count) for api, count in checked["checked"].items()},
        events=int(checked["events"]),
        invariants=tuple(
            WireInvariant(int(each["number"]), str(each["statement"]), int(each["held"]))
            for each in checked["invariants"]
        ),
        violation=_violation(violation) if violation is not None else None,
        why_not=str(checked["why_not"] or ""),
    )


def _rules_of(words: str) -> str:
    version, _, metadata = words.partition(" ")
    return f"{version} {metadata_words(metadata)}".strip()


def _violation(said: Mapping[str, Any]) -> WireViolation:
    frame = said["frame"]
    return WireViolation(
        where=f"At {float(said['at_s']):.3f} s" if frame is None else f"Frame {int(frame)}",
        observed=str(said["observed"]),
        allowed=str(said["allowed"]),
        invariant=f"{int(said['invariant'])}, {str(said['name']).replace('_', ' ')}",
        rule=str(said["rule"]),
        frames=tuple(
            WireFrame(int(each["seq"]), float(each["at_s"]), str(each["text"]), is_the_one=each["seq"] == frame)
            for each in said["frames"]
        ),
    )
