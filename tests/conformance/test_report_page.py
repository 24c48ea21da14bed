"""What does a report say of settings, whatever happens to brokers? What the kept guarantee table has of them."""

from __future__ import annotations

import pytest

from conformance.commands.report_page import NO_SETTING, NOT_SEARCHED, NOTHING_PROMISED, what_the_table_has
from reports.operators import ChosenSettings

OLD = ChosenSettings("0.10.2.2", "zookeeper", "all", 2, 3, unclean=False, has_elr=False)
NEW = ChosenSettings("4.4.0", "kraft", "all", 2, 3, unclean=False, has_elr=True)


def test_an_old_release_loses_what_a_new_one_keeps() -> None:
    assert what_the_table_has(OLD).kills.startswith("can be lost: ")
    assert what_the_table_has(NEW).kills == "none found, RF 3 searched whole"


def test_a_power_failure_is_told_apart() -> None:
    found = what_the_table_has(NEW._replace(min_isr=1))
    assert found.power_failure.startswith("can be lost: a broker's machine loses power")


@pytest.mark.parametrize(
    "chosen",
    [
        NEW._replace(has_elr=False),
        NEW._replace(kafka="9.9.9"),
        NEW._replace(kafka="?", metadata="?"),
        NEW._replace(replicas=0),
        NEW._replace(replicas=99),
    ],
)
def test_what_was_not_searched_is_said_not_to_be(chosen: ChosenSettings) -> None:
    assert set(what_the_table_has(chosen)[1:]) == {NOT_SEARCHED}


def test_nothing_is_promised_without_an_acknowledgement() -> None:
    assert set(what_the_table_has(NEW._replace(acks="0"))[1:]) == {NOTHING_PROMISED}


@pytest.mark.parametrize("acks", ["7", "-2"])
def test_of_acks_that_no_producer_can_be_set_to_nothing_is_searched(acks: str) -> None:
    assert set(what_the_table_has(NEW._replace(acks=acks))[1:]) == {NO_SETTING}
