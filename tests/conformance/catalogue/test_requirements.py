"""Is every documented behaviour a requirement, and does each have a scenario?"""

from __future__ import annotations

import re
from collections import Counter

import pytest

from conformance.catalogue.requirements import CHECKED_IN_EVERY_RUN, REQUIREMENTS
from conformance.catalogue.scenario import REQUIREMENT_ID
from conformance.registry import CATALOGUE
from oracle.vocabulary import AREAS

ROWS = {"HW": 14, "TR": 9, "LE": 8, "IS": 8, "AC": 7, "EL": 6, "RM": 6, "FE": 5, "RC": 3, "TX": 12}
IDS = tuple(requirement.id for requirement in REQUIREMENTS)


def test_the_table_has_every_row_once_and_in_order() -> None:
    assert [f"{area}-{number:02}" for area, count in ROWS.items() for number in range(1, count + 1)] == list(IDS)
    assert list(AREAS) == list(ROWS)


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=IDS)
def test_a_requirement_is_one_sentence_of_an_area(requirement: object) -> None:
    (found,) = [one for one in REQUIREMENTS if one is requirement]
    assert REQUIREMENT_ID.match(found.id)
    assert re.fullmatch(r"[A-Za-z0-9].{20,110}\.", found.sentence)
    assert ". " not in found.sentence
    assert found.area in AREAS.values()


def test_no_two_requirements_say_the_same() -> None:
    assert max(Counter(one.sentence for one in REQUIREMENTS).values()) == 1


def test_what_is_checked_in_every_run_is_in_the_table() -> None:
    assert set(CHECKED_IN_EVERY_RUN) <= set(IDS)


def test_what_scenarios_cite_is_in_the_table() -> None:
    assert {source for entry in CATALOGUE for source in entry.requirements()} <= set(IDS)


def test_every_requirement_has_an_entry_that_proves_it_or_is_checked_in_every_run() -> None:
    cited = {source for entry in CATALOGUE for source in entry.requirements()}
    assert [one for one in IDS if one not in cited and one not in CHECKED_IN_EVERY_RUN] == []


def test_a_sentence_that_depends_on_leader_epochs_says_since_when() -> None:
    """A tick on any release must hold the sentence as it stands, so what only some releases do names them."""
    conditional = re.compile(
        r"\b[Ww]ith(out)? leader epochs|releases that|\b[Cc]ut lies|\bepochs cut|log without epochs"
    )
    depends = [one for one in REQUIREMENTS if conditional.search(one.sentence)]
    assert {"TR-06", "TR-07", "TR-08"} <= {one.id for one in depends}
    assert [one.id for one in depends if not re.search(r"\b(from|up to) 0\.1\d", one.sentence, re.IGNORECASE)] == []
    assert re.search(
        r"^Up to 0\.10\.2 .*from 0\.11 on", next(one for one in REQUIREMENTS if one.id == "TR-04").sentence
    )
