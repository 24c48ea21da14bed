"""Does the page about audits name every check and every severity as the code has them?"""

from __future__ import annotations

import re

from conformance.audit.audit import CHECKS
from reports.audit_page import MEANINGS
from tests.project.documents import ROOT, page

AUDIT = page("audit").read_text(encoding="utf-8")


def rows(header: str) -> dict[str, tuple[str, ...]]:
    """Return the rows of the table with this header, by their first cell."""
    table = AUDIT.split(header, 1)[1].split("\n\n", 1)[0]
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {first: tuple(others) for first, *others in cells}


def test_every_check_is_named_with_what_it_asks_in_one_table() -> None:
    told = rows("| Check | Asks | Rests on |")
    assert {check: asks for check, (asks, _) in told.items()} == {one.id: one.asks for one in CHECKS}


def test_every_severity_is_told_with_what_it_means() -> None:
    told = {severity: meaning for severity, (meaning,) in rows("| Severity | Means |").items()}
    assert told == {
        one: re.sub(r"^\w", lambda first: first[0].lower(), text.rstrip(".")) for one, text in MEANINGS.items()
    }


def test_the_changelog_counts_the_checks() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"{len(CHECKS)} checks with evidence" in changelog
