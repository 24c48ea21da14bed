"""Which deviations are accepted? One TOML file per release, empty until a deviation is understood.

An entry names a scenario, the reason and the issue; it accepts DEVIATES only. A listed scenario that
conforms fails, so that entries do not outlive their issue. What the model predicts needs no entry.

    [[deviates]]
    scenario = "TR-01"
    metadata = "kraft"        # optional: any mode
    reason = "One sentence."
    issue = "KAFKA-12345"
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FIELDS = {"scenario", "reason", "issue", "metadata"}
DIRECTORY = Path(__file__).parent


class ExpectationError(Exception):
    """An expectations file that cannot be understood."""


@dataclass(frozen=True, slots=True)
class AcceptedDeviation:
    """One accepted deviation."""

    scenario: str
    reason: str
    issue: str
    metadata: str | None = None


def accepted_deviation(
    kafka: str, metadata: str, scenario: str, directory: Path = DIRECTORY
) -> AcceptedDeviation | None:
    """Return the accepted deviation of a scenario on a release, if there is one.

    Raises:
        ExpectationError: the release's file cannot be understood.
    """
    for entry in load_expectations(directory / f"{kafka}.toml"):
        if entry.scenario == scenario and entry.metadata in (None, metadata):
            return entry
    return None


def load_expectations(path: Path) -> tuple[AcceptedDeviation, ...]:
    """Read an expectations file; a missing one accepts nothing.

    Raises:
        ExpectationError: it is no TOML, or an entry lacks a field or has an unknown one.
    """
    if not path.exists():
        return ()
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("deviates", [])
    except tomllib.TOMLDecodeError as error:
        raise ExpectationError(f"{path.name}: {error}") from error
    for number, entry in enumerate(entries, start=1):
        unknown = set(entry) - FIELDS
        missing = FIELDS - {"metadata"} - set(entry)
        if unknown or missing:
            wrong = ", ".join(sorted(unknown | missing))
            raise ExpectationError(f"{path.name}: entry {number}: missing or unknown: {wrong}")
    return tuple(AcceptedDeviation(**entry) for entry in entries)
