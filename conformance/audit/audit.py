"""What does an audit say? Every check of a cluster that was read, what is alike together, the worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.audit import (
    checks_of_clusters,
    checks_of_elections,
    checks_of_now,
    checks_of_topics,
    checks_of_transactions,
    defects,
)
from conformance.audit.finding import AuditFinding, Unseen

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from conformance.audit.audited import Audited
    from conformance.audit.finding import AuditCheck

CHECKS: tuple[AuditCheck, ...] = (
    *checks_of_topics.CHECKS,
    *checks_of_elections.CHECKS,
    *checks_of_transactions.CHECKS,
    *checks_of_now.CHECKS,
    *checks_of_clusters.CHECKS,
    *defects.CHECKS,
)
"""In the order in which ``--list-checks`` has them."""


@dataclass(frozen=True, slots=True)
class Row:
    """Findings that differ in nothing but whom they are about.

    Attributes:
        findings: at least one.
    """

    findings: tuple[AuditFinding, ...]

    @property
    def finding(self) -> AuditFinding:
        """Return the first of them."""
        return self.findings[0]

    @property
    def subjects(self) -> tuple[str, ...]:
        """Return whom they are about."""
        return tuple(one.subject for one in self.findings)


@dataclass(frozen=True, slots=True)
class UnseenRow:
    """What a check could not look at, for one reason."""

    check: str
    why: str
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found.

    Attributes:
        rows: the worst first.
        unseen: what could not be looked at.
        defects: of the release, that no setting avoids.
    """

    audited: Audited
    rows: tuple[Row, ...]
    unseen: tuple[UnseenRow, ...]
    defects: tuple[defects.DefectSeen, ...]


def audit(audited: Audited) -> Audit:
    """Ask every check."""
    told = [one for check in CHECKS for one in _looked(check, audited)]
    rows = alike(one for one in told if isinstance(one, AuditFinding))
    unseen = _unseen(one for one in told if isinstance(one, Unseen))
    return Audit(audited, rows, unseen, defects.unavoidable(audited))


def _looked(check: AuditCheck, audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield what a check finds; of topics nothing is concluded where none is seen."""
    yield from check.look(audited)
    if check.is_of_topics and not audited.cluster.topics:
        yield Unseen(check.id, "cluster", "no topic is seen: there is none, or this user may not see one")


def alike(findings: Iterable[AuditFinding]) -> tuple[Row, ...]:
    """Return findings with those together that differ in nothing but whom they are about, the worst first."""
    groups: dict[Hashable, list[AuditFinding]] = {}
    for one in findings:
        groups.setdefault((one.check, one.severity, one.evidence, one.harm, one.mend), []).append(one)
    rows = [Row(tuple(group)) for group in groups.values()]
    return tuple(sorted(rows, key=lambda row: (-row.finding.severity, -len(row.subjects))))


def _unseen(unseen: Iterable[Unseen]) -> tuple[UnseenRow, ...]:
    groups: dict[tuple[str, str], list[str]] = {}
    for one in unseen:
        groups.setdefault((one.check, one.why), []).append(one.subject)
    return tuple(UnseenRow(check, why, tuple(subjects)) for (check, why), subjects in groups.items())
