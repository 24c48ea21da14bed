"""How does an audit's answer look to a CI server? JUnit XML, a test case a check.

A check fails if it found something that is bad enough. One that found nothing, and could not look at everything, is
skipped: what cannot be seen is never taken for fine. What is accepted, or less bad, is in a case's output.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reports.junit import JunitCase, JunitSuite, junit_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.record.audit_answer import AuditAnswer, CheckTold, FindingTold


def render_audit_junit(answer: AuditAnswer, fail_on: str | None) -> str:
    """Return an answer as the text of a JUnit file.

    Args:
        answer: of the audit.
        fail_on: from which severity on a finding fails its check; None for every one.
    """
    cases = [_case(answer, one, fail_on) for one in answer.checks]
    return junit_text([JunitSuite(f"audit.{answer.cluster}", cases)])


def _case(answer: AuditAnswer, check: CheckTold, fail_on: str | None) -> JunitCase:
    failing = [one for one in answer.failing(fail_on) if one.check == check.id]
    case = JunitCase(
        classname="audit",
        name=check.id,
        output="\n".join(_output(answer, check)),
        properties={"asks": check.asks, "rests on": check.source, "result": check.result},
    )
    if failing:
        details = "\n\n".join("\n".join(_lines(one)) for one in failing)
        return replace(case, result="failure", message=_message(failing), kind=failing[0].severity, details=details)
    if check.is_unseen:
        whys = [f"{', '.join(one.subjects)}: {one.why}" for one in answer.unseen if one.check == check.id]
        return replace(case, result="skipped", message=f"cannot be seen: {'; '.join(whys)}")
    return case


def _message(failing: Sequence[FindingTold]) -> str:
    worst, subjects = failing[0], sum(len(one.subjects) for one in failing)
    more = f" and {subjects - 1} more" if subjects > 1 else ""
    return f"{worst.severity}: {worst.subjects[0]}{more}: {worst.harm}"


def _lines(one: FindingTold) -> Iterator[str]:
    yield f"{one.severity}: {', '.join(one.subjects)}"
    yield from (f"{it.what} {it.value} ({it.source})" for it in one.evidence)
    yield one.harm
    yield f"mend: {one.mend}"
    yield from filter(None, one.commands)


def _output(answer: AuditAnswer, check: CheckTold) -> Iterator[str]:
    yield f"{check.asks} {check.result}"
    for finding in answer.findings:
        if finding.check == check.id:
            yield f"{finding.severity}: {', '.join(finding.subjects)}"
    for one in answer.accepted:
        if one.finding.check == check.id:
            until = "" if one.until is None else f" until {one.until}"
            by = "" if answer.baseline is None else f", by {answer.baseline.file}"
            yield f"accepted{until}{by}: {', '.join(one.finding.subjects)}: {one.reason}"
    for unseen in answer.unseen:
        if unseen.check == check.id:
            yield f"cannot be seen: {', '.join(unseen.subjects)}: {unseen.why}"
