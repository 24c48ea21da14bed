"""Which findings are accepted, on which release, why and until when? One format and one reader, whatever finds them.

``accepted.toml`` has the tester's own; users have files of theirs (``--accept FILE``). An entry accepts one finding:

    [[accepted]]
    finding = "TR-01"           # who found it: an entry of the catalogue, or the id of a schedule
    codes = ["high_watermark"]  # optional: all that may be found; "codes" in verdict.json has the words
    release = "4.3.1/kraft"     # or 4.3.1 for either metadata mode
    label = "fork"              # only for a Kafka of one's own that runs with this --label
    reason = "One sentence."
    issue = "KAFKA-12345"
    expires = 2027-06-30        # the last day, in UTC, on which a run may have it

An unpredicted loss is never accepted. A finding that does not happen any more fails, so that entries do not outlive
their issue; one that has expired is told, and accepts nothing. What the model predicts needs no entry.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.record.verdict import CODES
from fault_injection.releases import UsageError
from fault_injection.releases.table import release_of_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

OURS = Path(__file__).with_name("accepted.toml")
TEXTS = ("finding", "release", "reason", "issue")
OPTIONAL = frozenset(("codes", "label"))
FIELDS = frozenset((*TEXTS, *OPTIONAL, "expires"))
EXAMPLE = """[[accepted]] with finding = "TR-01", release = "4.3.1/kraft", reason, issue, expires = 2027-06-30"""
FORMER = f"""[[deviates]] is the former format: write {EXAMPLE}. \
The finding was called scenario, the release was the file's name, its mode metadata"""


class ExpectationError(Exception):
    """A file of accepted findings that cannot be understood."""


@dataclass(frozen=True, slots=True)
class AcceptedFinding:
    """One accepted finding.

    Attributes:
        finding: who found it, such as the name of a catalogue entry.
        release: the version on which it is accepted.
        metadata: the metadata mode that it concerns; None for either.
        expires: the last day on which it is accepted.
        codes: what may be found, in the finder's words; empty for anything.
        label: of the user's own Kafka that it concerns; None for one without a label.
    """

    finding: str
    release: str
    metadata: str | None
    reason: str
    issue: str
    expires: date
    codes: tuple[str, ...] = ()
    label: str | None = None

    @property
    def text(self) -> str:
        """Issue and reason, as verdicts cite them."""
        return f"{self.issue}: {self.reason}"

    def concerns(self, finding: str, release: str, metadata: str, label: str | None = None) -> bool:
        """Return whether it is about a finding on a release, or on the user's own Kafka of that label."""
        same = (self.finding, self.release, self.label) == (finding, release, label)
        return same and self.metadata in (None, metadata)


def accepted_for(
    entries: Iterable[AcceptedFinding], finding: str, release: str, metadata: str, label: str | None = None
) -> AcceptedFinding | None:
    """Return the first entry that is about a finding on a release, or a Kafka of that label, if there is one."""
    return next((entry for entry in entries if entry.concerns(finding, release, metadata, label)), None)


@cache
def our_findings() -> tuple[AcceptedFinding, ...]:
    """Return the tester's own accepted findings."""
    return read_accepted(OURS)


def read_accepted(path: Path, codes: Collection[str] = CODES) -> tuple[AcceptedFinding, ...]:
    """Read a file of accepted findings.

    Args:
        path: the file.
        codes: the words by which the finder names what it finds.

    Raises:
        ExpectationError: it cannot be read, is of the former format, or an entry is wrong; names file and entry.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ExpectationError(f"{path}: {error}") from error
    if "deviates" in content:
        raise ExpectationError(f"{path}: {FORMER}")
    tables = content.get("accepted", [])
    if set(content) - {"accepted"} or not isinstance(tables, list):
        raise ExpectationError(f"{path}: an accepted finding is {EXAMPLE}")
    entries = tuple(_entry(table, codes, f"{path}: entry {number}") for number, table in enumerate(tables, start=1))
    _require_one_each(entries, path)
    return entries


def _entry(table: object, codes: Collection[str], where: str) -> AcceptedFinding:
    if not isinstance(table, dict):
        raise ExpectationError(f"{where}: an accepted finding is {EXAMPLE}")
    wrong = (set(table) - FIELDS) | (FIELDS - OPTIONAL - set(table))
    if wrong:
        raise ExpectationError(f"{where}: missing or unknown: {', '.join(sorted(wrong))}")
    for name in (*TEXTS, *({"label"} & set(table))):
        if not isinstance(table[name], str) or not table[name].strip():
            raise ExpectationError(f"{where}: {name} is no text")
    release, metadata = _release(table["release"], where)
    named = _codes(table.get("codes", []), codes, where)
    return AcceptedFinding(
        finding=table["finding"],
        release=release,
        metadata=metadata,
        reason=table["reason"],
        issue=table["issue"],
        expires=_expiry(table, where),
        codes=named,
        label=table.get("label"),
    )


def _release(text: str, where: str) -> tuple[str, str | None]:
    """Return the release and the metadata mode of ``4.3.1/kraft``; without a mode, None."""
    version, _, mode = text.partition("/")
    try:
        release = release_of_line(version)
    except UsageError as error:
        raise ExpectationError(f"{where}: {error}") from error
    if release.version != version:
        raise ExpectationError(f"{where}: release {version} names no patch: write {release.version}")
    modes = [each.value for each in release.metadata_modes]
    if "/" in text and mode not in modes:
        raise ExpectationError(f"{where}: {version} has no metadata mode {mode!r}, but {' and '.join(modes)}")
    return version, mode or None


def _expiry(table: Mapping[str, object], where: str) -> date:
    expires = table["expires"]
    if not isinstance(expires, date) or isinstance(expires, datetime):
        raise ExpectationError(f"{where}: expires is no day, such as 2027-06-30 without quotes")
    return expires


def _codes(named: object, known: Collection[str], where: str) -> tuple[str, ...]:
    words = ", ".join(sorted(known))
    if not isinstance(named, list):
        raise ExpectationError(f"{where}: codes is no list; known codes are {words}")
    foreign = [str(code) for code in named if str(code) not in known]
    if foreign:
        raise ExpectationError(f"{where}: unknown codes {', '.join(foreign)}; known are {words}")
    return tuple(named)


def _require_one_each(entries: tuple[AcceptedFinding, ...], path: Path) -> None:
    """Refuse two entries about one finding on one release: which of them accepts it would be a guess."""
    for number, entry in enumerate(entries, start=1):
        for before, other in enumerate(entries[: number - 1], start=1):
            overlap = entry.metadata is None or other.metadata in (None, entry.metadata)
            if overlap and (entry.finding, entry.release, entry.label) == (other.finding, other.release, other.label):
                raise ExpectationError(f"{path}: entries {before} and {number} are both about {entry.finding}")


def accepted_in(file: Path | None) -> tuple[AcceptedFinding, ...]:
    """Return the findings that a file accepts; none without a file.

    Raises:
        ExpectationError: the file cannot be understood.
    """
    return () if file is None else read_accepted(file)
