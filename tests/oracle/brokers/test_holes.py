"""Does the explorer find the known holes, and are the schedules that it makes of them those of the examples?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.schedules.schedule_file import read_schedule
from oracle.brokers.answers import DEFECT_OF, schedule_of
from oracle.brokers.shrinking import defects, is_determined
from oracle.explorer.model import SearchVerdict
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from tests.oracle.brokers.holes import HOLES, Hole, searched
from tests.project.documents import ROOT

if TYPE_CHECKING:
    from oracle.schedule import Schedule

pytestmark = pytest.mark.no_cover  # a search reaches much by chance; each branch has a test that names what it does

each_hole = pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.name)


def example(hole: Hole) -> Schedule:
    """Return the schedule of a hole that the project keeps."""
    return read_schedule(ROOT / "examples" / "counterexamples" / f"{hole.name}.yaml").schedule


@each_hole
def test_the_broken_release_breaks_the_property(hole: Hole) -> None:
    _, found = searched(hole, hole.broken)
    assert found.verdict is SearchVerdict.VIOLATED
    assert found.property_name == hole.property_name


@each_hole
def test_the_fixed_release_keeps_it_in_every_state_within_the_bounds(hole: Hole) -> None:
    _, found = searched(hole, hole.fixed)
    assert found.verdict is SearchVerdict.HOLDS
    seen = {name for name, times in found.sometimes.items() if times}
    assert {"clean election", "truncation", "ISR shrunk", "ISR grown again", "record acknowledged"} <= seen


@each_hole
def test_the_schedule_it_makes_is_as_short_as_the_example(hole: Hole) -> None:
    brokers, found = searched(hole, hole.broken)
    schedule = schedule_of(brokers, found)
    assert schedule is not None
    assert DEFECT_OF[hole.property_name] in defects(predict(schedule, brokers.rules))
    kept = example(hole)
    assert len(schedule.steps) == len(kept.steps)
    assert (schedule.replicas, schedule.settings) == (kept.replicas, kept.settings)


@each_hole
def test_the_example_shows_the_defect_on_the_broken_release_only(hole: Hole) -> None:
    for version in (hole.broken, hole.fixed):
        prediction = predict(example(hole), rules_for(version, hole.metadata))
        assert is_determined(prediction)
        assert (DEFECT_OF[hole.property_name] in defects(prediction)) is (version == hole.broken)
