"""What does an audit answer? What was found as plain values, with what a baseline accepts told apart.

Which day it is comes in: an entry of a baseline may have an end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from conformance.audit.audit import CHECKS, alike
from conformance.audit.mends import PLACE
from conformance.record.audit_answer import (
    AcceptedTold,
    AuditAnswer,
    BaselineTold,
    CheckTold,
    DefectTold,
    EvidenceTold,
    FindingTold,
    ReleaseTold,
    UnseenTold,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date
    from pathlib import Path

    from conformance.audit.audit import Audit, Row
    from conformance.audit.baseline import Baseline, BaselineEntry
    from conformance.audit.defects import DefectSeen
    from conformance.audit.finding import AuditFinding
    from conformance.audit.release_seen import ReleaseSeen

ACKS_WORDS = {-1: "all", 0: "0", 1: "1"}


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """Who was asked, when, and what is accepted.

    Attributes:
        servers: as the user names them.
        today: in UTC.
        tester: its version.
        baseline: None without one.
        is_whole: every topic was asked for.
        command_config: the file by which a client gets in; None without one.
    """

    servers: str
    today: date
    tester: str
    baseline: Baseline | None = None
    is_whole: bool = True
    command_config: Path | None = None

    @property
    def reached(self) -> str:
        """Return how Kafka's own commands reach the cluster: what ``mends.PLACE`` stands for."""
        more = "" if self.command_config is None else f" --command-config {quote(str(self.command_config))}"
        return f"{self.servers}{more}"


def audit_answer(found: Audit, request: AuditRequest) -> AuditAnswer:
    """Return what was found as plain values."""
    counting, accepted = _apart([one for row in found.rows for one in row.findings], request)
    cluster, producers = found.audited.cluster, found.audited.producers
    findings = tuple(_finding(row, request.reached) for row in alike(counting))
    borne = tuple(_accepted(entry, row, request.reached) for entry, some in accepted.items() for row in alike(some))
    return AuditAnswer(
        servers=request.servers,
        day=request.today.isoformat(),
        tester=request.tester,
        cluster=cluster.id,
        brokers=tuple(one.id for one in cluster.brokers),
        topics=len(cluster.topics),
        partitions=cluster.partitions,
        release=_release(found.audited.release),
        producers=tuple(ACKS_WORDS[acks] for acks in sorted(producers.acks)),
        findings=findings,
        accepted=borne,
        unseen=tuple(UnseenTold(one.check, one.subjects, one.why) for one in found.unseen),
        defects=tuple(_defect(one) for one in found.defects),
        checks=_checks(found, findings, borne),
        baseline=_baseline(found, request, sum(map(len, accepted.values()))),
    )


def _apart(
    findings: Iterable[AuditFinding], request: AuditRequest
) -> tuple[list[AuditFinding], dict[BaselineEntry, list[AuditFinding]]]:
    """Return the findings that count, and those that each entry of the baseline accepts."""
    counting: list[AuditFinding] = []
    accepted: defaultdict[BaselineEntry, list[AuditFinding]] = defaultdict(list)
    for one in findings:
        entry = None if request.baseline is None else request.baseline.accepting(one, request.today)
        (counting if entry is None else accepted[entry]).append(one)
    return counting, accepted


def _finding(row: Row, reached: str) -> FindingTold:
    one = row.finding
    commands = tuple(None if each.command is None else each.command.replace(PLACE, reached) for each in row.findings)
    return FindingTold(
        check=one.check,
        severity=one.severity.word,
        subjects=row.subjects,
        evidence=tuple(EvidenceTold(it.what, it.value, it.source) for it in one.evidence),
        harm=one.harm,
        mend=one.mend,
        issue=one.issue,
        command=commands[0],
        commands=commands,
    )


def _accepted(entry: BaselineEntry, row: Row, reached: str) -> AcceptedTold:
    until = None if entry.until is None else entry.until.isoformat()
    return AcceptedTold(entry.number, entry.subject, entry.issue, entry.reason, until, _finding(row, reached))


def _release(release: ReleaseSeen) -> ReleaseTold:
    like = None if release.line is None else release.line.text
    return ReleaseTold(like, release.alike, release.is_named, release.words)


def _defect(one: DefectSeen) -> DefectTold:
    words = f"{one.words}; repaired in {one.defect.fixed}"
    return DefectTold(one.defect.issue, one.is_sure, one.defect.symptom, words)


def _checks(found: Audit, findings: Iterable[FindingTold], accepted: Iterable[AcceptedTold]) -> tuple[CheckTold, ...]:
    counting = _subjects_by_check((one.check, one.subjects) for one in findings)
    borne = _subjects_by_check((one.finding.check, one.finding.subjects) for one in accepted)
    unseen = _subjects_by_check((one.check, one.subjects) for one in found.unseen)
    return tuple(
        CheckTold(one.id, one.asks, one.source, counting[one.id], borne[one.id], unseen[one.id]) for one in CHECKS
    )


def _subjects_by_check(rows: Iterable[tuple[str, tuple[str, ...]]]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for check, subjects in rows:
        counted[check] += len(subjects)
    return counted


def _baseline(found: Audit, request: AuditRequest, accepted: int) -> BaselineTold | None:
    if request.baseline is None:
        return None
    return BaselineTold(request.baseline.file, accepted, tuple(_notes(found, request.baseline, request)))


def _notes(found: Audit, baseline: Baseline, request: AuditRequest) -> Iterator[str]:
    """Yield what is to be said of entries that accept nothing; what was not looked at may still be there."""
    findings = [one for row in found.rows for one in row.findings]
    unseen = {one.check for one in found.unseen}
    for entry in baseline.entries:
        if entry.is_over(request.today):
            yield f"{entry.words} ended after {entry.until}, and accepts nothing since"
        elif not any(entry.concerns(one) for one in findings):
            is_seen = request.is_whole and entry.check not in unseen
            yield f"{entry.words} accepts nothing {'any more' if is_seen else 'in what was seen'}"
