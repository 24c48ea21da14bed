"""How does an audit's answer look in a terminal? The worst first, what is alike in one row, and what is not health."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.record.audit_answer import AcceptedTold, AuditAnswer, BaselineTold, FindingTold

SHOWN_SUBJECTS = 4
LONGEST_COMMAND = 600
"""So many characters of a command are shown: one that moves many partitions is longer."""


def audit_lines(answer: AuditAnswer, width: int) -> Iterator[str]:
    """Yield an answer's lines; only commands are longer than ``width``."""
    about = (
        f"cluster {answer.cluster}: {len(answer.brokers)} brokers, {answer.topics} topics, "
        f"{answer.partitions:,} partitions; {answer.release.words}"
    )
    yield from _wrapped(about, width, "")
    yield ""
    for finding in answer.findings:
        yield from _finding(finding, width)
    if not answer.topics:
        yield "no topic is visible to this user"
    if not answer.findings:
        besides = " but what is accepted" if answer.accepted else ""
        seen = " in what can be seen" if answer.unseen else ""
        yield f"{len(answer.checks)} checks, nothing found{besides}{seen}"
    if answer.baseline is not None:
        yield from _baseline(answer.baseline, answer.accepted, width)
    yield from _besides(answer, width)


def _besides(answer: AuditAnswer, width: int) -> Iterator[str]:
    """Yield what is no finding: what cannot be seen, and what only another release mends."""
    if answer.unseen:
        yield "cannot be seen here:"
        alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for one in answer.unseen:
            alike.setdefault((one.why, one.subjects), []).append(one.check)
        for (why, subjects), checks in alike.items():
            yield from _wrapped(f"{', '.join(checks)}: {subjects_words(subjects)}: {why}", width, "  ")
        yield ""
    if answer.defects:
        yield "known defects of this release that no setting avoids (track-record has them):"
        for defect in answer.defects:
            yield from _wrapped(defect.words, width, "  ")


def _finding(one: FindingTold, width: int) -> Iterator[str]:
    yield f"{one.severity.upper()}  {one.check}  {subjects_words(one.subjects)}"
    yield from _wrapped("; ".join(f"{it.what} {it.value} ({it.source})" for it in one.evidence), width, "  ")
    yield from _wrapped(one.harm, width, "  ")
    yield from _wrapped(f"mend: {one.mend}", width, "  ")
    if one.command is not None:
        likewise = f"   (likewise for {len(one.subjects) - 1} more)" if len(one.subjects) > 1 else ""
        command = one.command
        if len(command) > LONGEST_COMMAND:
            command = f"{command[:LONGEST_COMMAND]}…   (whole with --json or --html)"
        yield f"    {command}{likewise}"
    yield ""


def _baseline(baseline: BaselineTold, accepted: Sequence[AcceptedTold], width: int) -> Iterator[str]:
    yield f"accepted: {baseline.accepted} findings, by {baseline.file}"
    for one in accepted:
        until = "" if one.until is None else f" (until {one.until})"
        about = f"{one.finding.severity}  {one.finding.check}  {subjects_words(one.finding.subjects)}"
        yield from _wrapped(f"{about}: {one.reason}{until}", width, "  ")
    for note in baseline.notes:
        yield from _wrapped(f"{baseline.file}: {note}", width, "  ")
    yield ""


def subjects_words(subjects: Sequence[str]) -> str:
    """Return the first subjects, and how many more there are."""
    more = len(subjects) - SHOWN_SUBJECTS
    return ", ".join(subjects[:SHOWN_SUBJECTS]) + (f" and {more} more" if more > 0 else "")


def _wrapped(text: str, width: int, indent: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )
