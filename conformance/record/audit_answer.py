"""What an audit answers: the form of its JSON, from which its page, SARIF and JUnit files are written, too.

The only interface between an audit and its reports. It has what a finding rests on and nothing else of the cluster: no
other setting, and nothing of how a client gets in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SEVERITIES = ("critical", "high", "medium", "low")
"""The worst first."""


@dataclass(frozen=True, slots=True)
class ReleaseTold:
    """What is known of a cluster's release.

    Attributes:
        like: the line that it is taken for, such as ``3.9.2/kraft``; None if it is not known.
        alike: the lines that speak the same.
        is_named: the user named it.
        words: it, with how sure it is.
    """

    like: str | None
    alike: tuple[str, ...]
    is_named: bool
    words: str


@dataclass(frozen=True, slots=True)
class EvidenceTold:
    """A value that a finding rests on, and where it comes from."""

    what: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class FindingTold:
    """Findings that differ in nothing but whom they are about.

    Attributes:
        severity: one of ``SEVERITIES``.
        issue: of a known defect, or of what a late request does; None of other findings.
        command: that mends the first subject, with the brokers that were asked; None if no command does.
        commands: for each of the subjects.
    """

    check: str
    severity: str
    subjects: tuple[str, ...]
    evidence: tuple[EvidenceTold, ...]
    harm: str
    mend: str
    issue: str | None
    command: str | None
    commands: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class AcceptedTold:
    """What an entry of a baseline accepts.

    Attributes:
        entry: its place in the file, from 1.
        subject: its glob.
        issue: of the only known defect, or late request, that it accepts.
        until: the last day on which it accepts; None without an end.
    """

    entry: int
    subject: str
    issue: str | None
    reason: str
    until: str | None
    finding: FindingTold


@dataclass(frozen=True, slots=True)
class BaselineTold:
    """A file of accepted findings.

    Attributes:
        accepted: how many findings it accepts.
        notes: what is to be said of entries that accept nothing, a sentence each.
    """

    file: str
    accepted: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnseenTold:
    """What a check could not look at, for one reason."""

    check: str
    subjects: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class DefectTold:
    """A known defect of the release that no setting avoids.

    Attributes:
        is_sure: every patch of the release line has it.
        words: it, with how sure it is, and what repaired it.
    """

    issue: str
    is_sure: bool
    symptom: str
    words: str


@dataclass(frozen=True, slots=True)
class CheckTold:
    """A check that was asked.

    Attributes:
        found: of how many subjects it found something that counts.
        accepted: of how many that is accepted.
        unseen: how many it could not look at.
    """

    id: str
    asks: str
    source: str
    found: int
    accepted: int
    unseen: int

    @property
    def result(self) -> str:
        """Return it in words."""
        told = {"found": self.found, "accepted": self.accepted, "not seen": self.unseen}
        return ", ".join(f"{word} {count}" for word, count in told.items() if count) or "nothing"

    @property
    def is_unseen(self) -> bool:
        """Return whether it found nothing, and could not look at everything."""
        return self.unseen > 0 and not self.found and not self.accepted


@dataclass(frozen=True, slots=True)
class AuditAnswer:
    """What was found.

    Attributes:
        servers: that were asked.
        day: of the audit, in UTC.
        tester: its version.
        cluster: its id; None if brokers do not tell it.
        brokers: their ids.
        topics: how many the user may see.
        producers: the acks that they are said to have.
        findings: that count, the worst first.
        accepted: that do not count.
        unseen: what could not be looked at.
        defects: of the release, that no setting avoids.
        checks: every one that was asked.
        baseline: None without one.
    """

    servers: str
    day: str
    tester: str
    cluster: str | None
    brokers: tuple[int, ...]
    topics: int
    partitions: int
    release: ReleaseTold
    producers: tuple[str, ...]
    findings: tuple[FindingTold, ...]
    accepted: tuple[AcceptedTold, ...]
    unseen: tuple[UnseenTold, ...]
    defects: tuple[DefectTold, ...]
    checks: tuple[CheckTold, ...]
    baseline: BaselineTold | None

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many findings count, by severity; zeros are present."""
        counted = Counter(dict.fromkeys(SEVERITIES, 0))
        for finding in self.findings:
            counted[finding.severity] += len(finding.subjects)
        return counted

    def failing(self, severity: str | None) -> tuple[FindingTold, ...]:
        """Return the findings that are at least so bad; all without a severity."""
        bad = SEVERITIES[: SEVERITIES.index(severity) + 1] if severity else SEVERITIES
        return tuple(one for one in self.findings if one.severity in bad)
