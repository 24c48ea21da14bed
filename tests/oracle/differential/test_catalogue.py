"""Which entries of the catalogue do both interpreters tell alike, step by step, as they are written?

Those that they do not are named with the reason, and so are those whose questions to brokers have one reading only.
"""

from __future__ import annotations

import pytest

from conformance.line import line_named
from oracle.rules.by_version import rules_for
from oracle.steps.questions import Ask
from oracle.steps.step import ScheduleError
from oracle.vocabulary import MetadataMode
from tests.conformance.selected import select_scenarios
from tests.oracle.differential.comparison import first_difference, outcomes_said_by_oracle, said_by_interpreter
from tests.oracle.differential.releases import facts_of

# A search reaches much by chance; each branch has a test that names what it does
pytestmark = [pytest.mark.no_cover, pytest.mark.slow]

LINES = (
    "0.10.2.2",
    "0.11.0.3",
    "1.1.0",
    "2.0.1",
    "2.4.1",
    "2.8.2",
    "3.2.3",
    "3.4.1",
    "3.9.2/zookeeper",
    "3.9.2",
    "4.4.0",
)
CATALOGUE = {scenario.name: scenario for scenario in select_scenarios(profile="full")}
MOVES = "which replicas a partition has is fixed in it"
SETTINGS = "the settings of a topic are fixed in it"
BEGINS = "its logs begin at 0"
LINKS = "its brokers end and start, and no more befalls them"
UNTOLD = {
    "FE-04/epoch": MOVES,
    "RM-06/deleted": BEGINS,
    "RM-06/deleted-before-a-kill": BEGINS,
    "EL-04/moved": MOVES,
    "EL-01/allowed-later": SETTINGS,
    "AC-04/new-minimum": SETTINGS,
    "AC-03/isolated-leader": LINKS,
    "LE-05/paused": LINKS,
    "IS-02/answered": "it has no channels between brokers and the controller",
    "regressions/KAFKA-18991": MOVES,
}
"""What the second interpreter cannot tell, and why."""
UNANSWERED = {
    "HW-02/follower",
    "HW-02/leader",
    "HW-14",
    "LE-03/asked",
    "LE-03/claimed",
    "LE-05/leader-kraft",
    "LE-05/leader-zookeeper",
    "AC-01",
    "AC-02",
    "AC-06",
    "AC-07",
    "RM-05/out-of-range",
    "RM-06/listed",
}
"""What it tells but for what brokers answer: of each of these the numbers of every step are compared, no more."""


def differences(name: str) -> dict[str, str | None]:
    """Return for every line that an entry can run on what the two say differently; None if nothing."""
    scenario, found = CATALOGUE[name], dict[str, str | None]()
    for text in LINES:
        version, mode = line_named(text).release.version, MetadataMode(line_named(text).metadata.value)
        if scenario.where.reason_not_to_run(version, mode) is not None:
            continue
        try:
            said = outcomes_said_by_oracle(scenario.schedule, rules_for(version, mode))
        except ScheduleError:
            continue
        interpreted = said_by_interpreter(scenario.schedule, facts_of(version, mode.value))
        differing = [first_difference(one, interpreted) for one in said]
        found[text] = None if None in differing else differing[0]
    return found


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name not in UNTOLD])
def test_both_tell_an_entry_alike(name: str) -> None:
    found = differences(name)
    assert found, "no line runs it"
    assert set(found.values()) == {None}, found


@pytest.mark.parametrize("name", UNTOLD)
def test_what_is_told_is_not_among_the_untold(name: str) -> None:
    assert any(differences(name).values())


def test_questions_to_brokers_that_have_one_reading_are_named() -> None:
    asking = {name for name, of in CATALOGUE.items() if any(isinstance(step, Ask) for step in of.schedule.steps)}
    assert asking - set(UNTOLD) == UNANSWERED
