"""Answers of audits, on a day of their own."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from conformance.audit.answer import AuditRequest, audit_answer
from conformance.audit.baseline import Baseline, BaselineEntry

if TYPE_CHECKING:
    from conformance.audit.audit import Audit
    from conformance.record.audit_answer import AuditAnswer

TODAY = date(2027, 3, 1)
SERVERS = "broker:9092"


def answered(found: Audit, *entries: BaselineEntry, is_whole: bool = True) -> AuditAnswer:
    """Return an answer by a baseline of these entries; without one if there is none."""
    baseline = Baseline("accepted.yaml", entries) if entries else None
    return audit_answer(found, AuditRequest(SERVERS, TODAY, "1.2.3", baseline, is_whole))


def entry(
    check: str, subject: str, until: date | None = None, issue: str | None = None, number: int = 1
) -> BaselineEntry:
    return BaselineEntry(number, check, subject, "It can be made again.", until, issue)
