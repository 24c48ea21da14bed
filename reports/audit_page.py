"""How does the page of an audit come about? An answer goes in, one file without script comes out, to be forwarded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.record.audit_answer import SEVERITIES
from reports.html import breakable, style_sheet, template_environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.record.audit_answer import AuditAnswer, UnseenTold

SHOWN_SUBJECTS = 6
"""So many subjects of a row stand open; the others are folded."""
MEANINGS = {
    "critical": "One broker's end loses acknowledged records, or they cannot be read or written now.",
    "high": "One failure more than the settings allow for, or a power failure, loses acknowledged records.",
    "medium": "One failure stops writes, or hides the next one.",
    "low": "Nothing is lost or stops by it alone.",
}
"""What each severity means, the worst first."""


def render_audit_page(answer: AuditAnswer) -> str:
    """Return an answer as a page of its own: no other file, no script, every text of the cluster escaped."""
    environment = template_environment()
    environment.filters |= {"breakable": breakable, "counted": counted}
    environment.globals |= {"shown": SHOWN_SUBJECTS, "severities": SEVERITIES, "meanings": MEANINGS}
    first: dict[str, int] = {}
    for number, finding in enumerate(answer.findings, start=1):
        first.setdefault(finding.check, number)
    return environment.get_template("audit.html.j2").render(
        answer=answer,
        headline=headline(answer),
        unseen=_by_reason(answer.unseen),
        checks={one.id: one for one in answer.checks},
        first=first,
        css=style_sheet("report.css", "audit.css"),
    )


def _by_reason(unseen: Sequence[UnseenTold]) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Return the checks that could not look at the same subjects for the same reason."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for one in unseen:
        found.setdefault((one.why, one.subjects), []).append(one.check)
    return found


def headline(answer: AuditAnswer) -> str:
    """Return what the page says first: how much was found, the worst first; never more than was seen."""
    told = [f"{count} {severity}" for severity, count in answer.counts.items() if count]
    if told:
        *before, last = told
        findings = "finding" if sum(answer.counts.values()) == 1 else "findings"
        return f"{', '.join(before)}{' and ' if before else ''}{last} {findings}"
    besides = " but what is accepted" if answer.accepted else ""
    return f"Nothing found{besides}{' in what can be seen' if answer.unseen else ''}"


def counted(things: Sequence[object] | int, word: str) -> str:
    """Return a number of things in words: ``1 broker``, ``3 brokers``, ``1,000 topics``."""
    number = things if isinstance(things, int) else len(things)
    return f"{number:,} {word}{'' if number == 1 else 's'}"
