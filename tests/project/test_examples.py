"""Does every schedule that a learner is given decode, and predict on the oldest and the newest release?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from conformance.commands.choosing import Choice, rules_of
from conformance.registry import select
from conformance.schedules.schedule_file import read_schedule
from oracle.predict import predict
from oracle.schedule_format import decode
from oracle.vocabulary import Fate, Label
from tests.project.documents import EXAMPLES, README, ROOT, blocks

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.prediction import Prediction
    from oracle.schedule import Schedule

RELEASES = ("0.10.2.2", "4.3.1")
IN_README = tuple(decode(yaml.safe_load(text)) for text in blocks(README, "yaml"))


def predicted(path: Path, release: str) -> Prediction:
    """Predict an example."""
    return predict(read_schedule(path).schedule, rules_of(Choice(kafka=release)))


def test_there_are_examples_in_the_folder_and_in_the_readme() -> None:
    assert len(EXAMPLES) >= 2
    assert IN_README


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_predict_without_a_race(path: Path, release: str) -> None:
    prediction = predicted(path, release)
    assert prediction.checkpoints
    assert prediction.races == ()
    assert all(record.fate is not Fate.UNDETERMINED for record in prediction.records)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("schedule", IN_README, ids=lambda schedule: schedule.id)
def test_schedules_of_the_readme_predict(schedule: Schedule, release: str) -> None:
    assert predict(schedule, rules_of(Choice(kafka=release))).checkpoints


@pytest.mark.parametrize("schedule", IN_README, ids=lambda schedule: schedule.id)
def test_schedules_of_the_readme_are_those_of_the_folder(schedule: Schedule) -> None:
    assert schedule == read_schedule(ROOT / f"{schedule.id}.yaml").schedule


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_named_after_its_file(path: Path) -> None:
    assert read_schedule(path).schedule.id == f"examples/{path.stem}"


def test_the_restarted_follower_is_the_scenario_of_the_catalogue() -> None:
    ours = read_schedule(ROOT / "examples" / "restarted-follower.yaml").schedule
    (catalogued,) = select(["TR-01"])
    names = {step for step in ours.steps if type(step).__name__ == "Checkpoint"}
    same = [step for step in ours.steps if step not in names]
    assert same == [step for step in catalogued.schedule.steps if type(step).__name__ != "Checkpoint"]
    assert (ours.replicas, ours.settings) == (catalogued.schedule.replicas, catalogued.schedule.settings)


@pytest.mark.parametrize(("release", "fate"), [("0.10.2.2", Fate.LOST), ("4.3.1", Fate.PRESENT)])
def test_the_restarted_follower_loses_m1_on_the_old_release_only(release: str, fate: Fate) -> None:
    records = {record.label: record for record in predicted(EXAMPLES_BY_NAME["restarted-follower"], release).records}
    assert records[Label("m1")].fate is fate


@pytest.mark.parametrize("release", RELEASES)
def test_the_four_numbers_are_all_different(release: str) -> None:
    prediction = predicted(EXAMPLES_BY_NAME["high-watermark-by-hand"], release)
    (moment,) = [one for one in prediction.checkpoints if one.name == "four different numbers"]
    numbers = {broker: (one.log_end_offset, one.high_watermark) for broker, one in moment.replicas.items()}
    assert numbers == {1: (4, 2), 2: (3, 1)}


EXAMPLES_BY_NAME = {path.stem: path for path in EXAMPLES}
