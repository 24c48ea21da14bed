"""Is every cell of the documented guarantee table what the kept table has, for every release of its row?"""

from __future__ import annotations

import re

import pytest

from conformance.kept_guarantees import kept_table
from oracle.brokers.questions import Faults, GuaranteeCell
from oracle.vocabulary import Acks
from tests.project.documents import page

SECTION = (
    page("guarantees")
    .read_text(encoding="utf-8")
    .partition("| releases | min.insync.replicas=1")[2]
    .partition("\n\n")[0]
)
ROWS = tuple(tuple(cell.strip() for cell in line.strip("|").split("|")) for line in SECTION.splitlines()[2:])
COLUMNS = (
    GuaranteeCell(Acks.ALL, 1, unclean=False, replicas=2, faults=Faults.KILLS),
    GuaranteeCell(Acks.ALL, 1, unclean=True, replicas=2, faults=Faults.KILLS),
    GuaranteeCell(Acks.ALL, 2, unclean=False, replicas=2, faults=Faults.POWER_FAILURE),
)
TABLE = kept_table()
RELEASES = tuple(release for row in TABLE.rows for release in row.releases)
MODES = {"zookeeper": "ZooKeeper", "kraft": "KRaft"}
RANGE = re.compile(r"(?P<first>[\d.]+)(?: to (?P<last>[\d.]+))?(?: with (?P<mode>ZooKeeper|KRaft))?")


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def is_in(release: str, row: str) -> bool:
    """Return whether a release such as ``3.9.2 kraft`` is one of a row such as ``2.8.1 to 3.9 with ZooKeeper, 4.0``."""
    version, mode = release.split()
    for part in row.split(", "):
        found = RANGE.fullmatch(part)
        assert found is not None, f"no range of releases: {part}"
        last = numbers(found["last"] or found["first"])
        is_between = numbers(version) >= numbers(found["first"]) and numbers(version)[: len(last)] <= last
        if is_between and found["mode"] in (None, MODES[mode]):
            return True
    return False


def words_of(release: str, cell: GuaranteeCell) -> str:
    """Return an answer as the page words it."""
    row = TABLE.row_of(release)
    found = row.answers[cell] if row is not None else None
    assert found is not None
    assert found.lost is not None
    if found.lost.actions is None:
        return found.lost.none_found(cell.replicas)
    if found.broken is not None and found.broken.actions is not None:
        return f"promise broken, {found.broken.steps}"
    assert found.broken is not None
    assert found.broken.is_complete
    return f"lost as allowed, {found.lost.steps}; promise not broken in any state"


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_is_in_one_row_that_says_what_the_table_says(release: str) -> None:
    (row,) = (row for row in ROWS if is_in(release, row[0]))
    assert [said.partition(": ")[0] for said in row[1:]] == [words_of(release, cell) for cell in COLUMNS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_is_about_a_release(row: tuple[str, ...]) -> None:
    assert any(is_in(release, row[0]) for release in RELEASES)
    assert ("KAFKA-12670" in row[2]) is (row[0] == "3.3 to 3.8 with KRaft")
