"""Which release lines should be in the table and are not? Told in one line, and in the heading."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOT_THERE = " is not there: it has no run"
_MISSING = re.compile(rf"(?P<line>.+){_NOT_THERE}")


def missing_line(line: str) -> str:
    """Return the problem that a line is not there, by which it is known for one."""
    return f"{line}{_NOT_THERE}"


def missing_lines(problems: Sequence[str]) -> tuple[str, ...]:
    """Return the lines that a problem says are not there, in their order."""
    return tuple(found["line"] for found in map(_MISSING.fullmatch, problems) if found)


def told_problems(problems: Sequence[str]) -> tuple[str, ...]:
    """Return the problems for a reader: all lines that are not there in one sentence, which comes first."""
    lines = missing_lines(problems)
    others = tuple(problem for problem in problems if not _MISSING.fullmatch(problem))
    if not lines:
        return others
    return (f"{', '.join(lines)} {'is' if len(lines) == 1 else 'are'} not there: no run", *others)


def missing_words(problems: Sequence[str]) -> str:
    """Say how many lines that were expected are missing; empty if none is."""
    count = len(missing_lines(problems))
    if not count:
        return ""
    return "1 expected line is missing" if count == 1 else f"{count} expected lines are missing"
