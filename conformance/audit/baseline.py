"""Which findings of an audit are accepted, why, and until when? A file in YAML, or in JSON, which is YAML, too.

    accepted:
      - check: min-isr-1
        subject: topic scratch-*  # a glob
        reason: What they hold can be made again.
        until: 2027-06-30         # optional: the last day, in UTC, on which it is accepted
        issue: KAFKA-15221        # optional, of known-defect and transaction-version: this one alone

The first entry that is about a finding accepts it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import yaml

from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from conformance.audit.finding import AuditFinding
    from conformance.record.audit_answer import AuditAnswer

NEEDED = ("check", "subject", "reason")
OPTIONAL = ("until", "issue")
FORM = "a list `accepted`, each entry with check, subject (a glob), reason and, if it ends, until: YYYY-MM-DD"
TO_BE_JUDGED = "to be judged: why can this be borne?"
"""The reason that a written baseline gives, until somebody writes another one."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """One accepted finding, or several alike.

    Attributes:
        number: its place in the file, from 1.
        subject: a glob.
        until: the last day on which it accepts.
        issue: of the only known defect, or late request, that it accepts.
    """

    number: int
    check: str
    subject: str
    reason: str
    until: date | None = None
    issue: str | None = None

    @property
    def words(self) -> str:
        """Return what it is about."""
        return f"entry {self.number} ({' '.join(filter(None, (self.check, self.issue)))}, {self.subject})"

    def concerns(self, finding: AuditFinding) -> bool:
        """Return whether it is about a finding."""
        is_same = finding.check == self.check and self.issue in (None, finding.issue)
        return is_same and fnmatchcase(finding.subject, self.subject)

    def is_over(self, today: date) -> bool:
        """Return whether it accepts nothing any more, as its last day has passed."""
        return self.until is not None and today > self.until


@dataclass(frozen=True, slots=True)
class Baseline:
    """A file of accepted findings."""

    file: str
    entries: tuple[BaselineEntry, ...] = ()

    def accepting(self, finding: AuditFinding, today: date) -> BaselineEntry | None:
        """Return the entry that accepts a finding on a day, None if none does."""
        return next((one for one in self.entries if not one.is_over(today) and one.concerns(finding)), None)


def read_baseline(path: Path, checks: Collection[str]) -> Baseline:
    """Read a file of accepted findings.

    Args:
        path: the file.
        checks: the ids of the checks that there are.

    Raises:
        UsageError: it cannot be read, or an entry is wrong; names file, line and entry.
    """
    root = _root(path)
    if not isinstance(root, yaml.MappingNode) or [name.value for name, _ in root.value] != ["accepted"]:
        raise UsageError(f"{path}: a baseline is {FORM}.")
    (_, listed) = root.value[0]
    if not isinstance(listed, yaml.SequenceNode):
        raise UsageError(f"{path}:{listed.start_mark.line + 1}: a baseline is {FORM}.")
    entries = tuple(_entry(path, number, node, checks) for number, node in enumerate(listed.value, start=1))
    _require_one_each(path, entries)
    return Baseline(str(path), entries)


def _root(path: Path) -> yaml.Node | None:
    try:
        return yaml.compose(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--baseline {path} cannot be read: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error


def _entry(path: Path, number: int, node: yaml.Node, checks: Collection[str]) -> BaselineEntry:
    where = f"{path}:{node.start_mark.line + 1}: entry {number}"
    given = _texts(node, where)
    wrong = sorted((given.keys() - {*NEEDED, *OPTIONAL}) | (set(NEEDED) - given.keys()))
    if wrong:
        raise UsageError(f"{where}: missing or unknown: {', '.join(wrong)}; a baseline is {FORM}.")
    if given["check"] not in checks:
        raise UsageError(f"{where}: there is no check {given['check']!r}; audit --list-checks names them.")
    until = _day(given["until"], where) if "until" in given else None
    return BaselineEntry(number, given["check"], given["subject"], given["reason"], until, given.get("issue"))


def _texts(node: yaml.Node, where: str) -> Mapping[str, str]:
    """Return the texts of a mapping; none of them may be empty, or stand twice, as YAML would take the last one."""
    if not isinstance(node, yaml.MappingNode):
        raise UsageError(f"{where} is no entry; a baseline is {FORM}.")
    found: dict[str, str] = {}
    for key, value in node.value:
        if str(key.value) in found:
            raise UsageError(f"{where}: {key.value} stands twice.")
        if not isinstance(value, yaml.ScalarNode) or value.tag.endswith(":null") or not value.value.strip():
            raise UsageError(f"{where}: {key.value} is no text.")
        found[str(key.value)] = value.value.strip()
    return found


def _day(text: str, where: str) -> date:
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise UsageError(f"{where}: until: {text} is no day, such as 2027-06-30.")


def _require_one_each(path: Path, entries: tuple[BaselineEntry, ...]) -> None:
    """Refuse two entries about the same: which of their reasons holds would be a guess."""
    first: dict[tuple[str, str, str | None], int] = {}
    for one in entries:
        before = first.setdefault((one.check, one.subject, one.issue), one.number)
        if before != one.number:
            raise UsageError(f"{path}: entries {before} and {one.number} are both about {one.check}, {one.subject}.")


def baseline_text(answer: AuditAnswer) -> str:
    """Return a baseline that accepts what was found; entries that accept something stay as they are."""
    kept = {one.entry: (one.finding.check, one.subject, one.issue, one.reason, one.until) for one in answer.accepted}
    new = {(one.check, subject, one.issue): None for one in answer.findings for subject in one.subjects}
    entries = [*kept.values(), *((*about, TO_BE_JUDGED, None) for about in new)]
    lines = [line for entry in entries for line in _entry_lines(*entry)]
    above = f"# Findings of {answer.servers} on {answer.day}, for `audit --baseline`: each is accepted for its reason."
    return "\n".join([above, "accepted:" if lines else "accepted: []", *lines, ""])


def _entry_lines(check: str, subject: str, issue: str | None, reason: str, until: str | None) -> Iterator[str]:
    yield f"  - check: {check}"
    yield f"    subject: {json.dumps(subject)}"
    if issue is not None:
        yield f"    issue: {issue}"
    yield f"    reason: {json.dumps(reason)}"
    if until is not None:
        yield f"    until: {until}"
