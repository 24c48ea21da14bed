"""Which deviations are accepted? One TOML file per release, empty until a deviation is understood.

An entry names a scenario, the reason and the issue; it accepts DEVIATES only, and of that what its codes name,
or everything if it has none. An unpredicted loss is never accepted. A listed scenario that conforms fails, so
that entries do not outlive their issue. What the model predicts needs no entry.

    [[deviates]]
    scenario = "TR-01"
    metadata = "kraft"        # optional: any mode
    codes = ["high_watermark"] # optional: all that may deviate; "codes" in verdict.json says what does
    reason = "One sentence."
    issue = "KAFKA-12345"
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from conformance.judgement.deviation_codes import CODES

OPTIONAL = {"metadata", "codes"}
FIELDS = {"scenario", "reason", "issue"} | OPTIONAL
DIRECTORY = Path(__file__).parent


class ExpectationError(Exception):
    """An expectations file that cannot be understood."""


@dataclass(frozen=True, slots=True)
class AcceptedDeviation:
    """One accepted deviation.

    Attributes:
        metadata: the metadata mode that it concerns; None for any.
        codes: what may deviate, in the words of ``deviation_codes``; empty for anything.
    """

    scenario: str
    reason: str
    issue: str
    metadata: str | None = None
    codes: tuple[str, ...] = ()


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
        missing = FIELDS - OPTIONAL - set(entry)
        if unknown or missing:
            wrong = ", ".join(sorted(unknown | missing))
            raise ExpectationError(f"{path.name}: entry {number}: missing or unknown: {wrong}")
        entry["codes"] = _codes(entry.get("codes", []), f"{path.name}: entry {number}")
    return tuple(AcceptedDeviation(**entry) for entry in entries)


def _codes(codes: object, where: str) -> tuple[str, ...]:
    known = ", ".join(sorted(CODES))
    if not isinstance(codes, list):
        raise ExpectationError(f"{where}: codes is no list; known codes are {known}")
    foreign = [str(code) for code in codes if str(code) not in CODES]
    if foreign:
        raise ExpectationError(f"{where}: unknown codes {', '.join(foreign)}; known are {known}")
    return tuple(codes)
