"""One vocabulary: points, steps and scenario names mean the same to the oracle, the gate and the catalogue."""

from __future__ import annotations

import ast
import dataclasses
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.scenario import REQUIREMENT_ID
from conformance.registry import CATALOGUE
from conformance.schedules.schedule_file import read_schedule
from fault_injection.wire.points import POINTS
from oracle.gate import POINTS as PREDICTABLE
from oracle.steps.step import STEP_CLASSES, Step
from oracle.vocabulary import PointName
from tests.architecture.sources import PACKAGES, ROOT, files, python_files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.catalogue.examination import Entry

SAID_TWICE = {
    "HighWatermarkCheckpoint": "a setting of the cluster; fault injection does not know the oracle",
    "MetadataMode": "a property of the cluster; fault injection does not know the oracle",
    "Timing": "a setting of the cluster; fault injection does not know the oracle",
}
"""Class names that stand once on each side of a border, with one meaning."""
UNEXPECTED = {
    "beside", "chronicle", "deaf", "deafness", "foretelling", "foretold", "laboratory", "office", "own_ends", "places",
    "puppet_stage", "room", "showing", "speech", "stand", "taking", "telling", "turns",
}  # fmt: skip
"""Words that nobody looks for who knows Kafka."""
EXAMPLES = [path for path in files() if path.parts[0] == "examples" and path.suffix == ".yaml"]


def test_the_oracle_and_the_gate_name_the_same_points() -> None:
    assert {point.value for point in PointName} == set(POINTS)


def test_what_the_oracle_predicts_are_points_of_the_vocabulary() -> None:
    assert set(PREDICTABLE) <= set(PointName)


@pytest.mark.parametrize("step", STEP_CLASSES.values(), ids=list(STEP_CLASSES))
def test_every_step_and_every_field_is_documented(step: type[Step]) -> None:
    assert step.__doc__
    assert all(field.metadata.get("help") for field in dataclasses.fields(step))


def test_every_step_has_one_word() -> None:
    assert len(set(STEP_CLASSES.values())) == len(STEP_CLASSES)


def test_scenario_names_and_ids_are_unique() -> None:
    for names in ([s.name for s in CATALOGUE], [s.id for s in CATALOGUE]):
        assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize("scenario", CATALOGUE, ids=lambda scenario: scenario.name)
def test_every_scenario_cites_what_it_proves(scenario: Entry) -> None:
    family = scenario.name.split("/")[0]

    assert scenario.requirements()
    assert scenario.sources[0] == family or not REQUIREMENT_ID.match(family)
    assert scenario.requirement.endswith(".")
    assert scenario.explanation
    assert scenario.profiles


@pytest.mark.parametrize("scenario", [s for s in CATALOGUE if s.variant], ids=lambda scenario: scenario.name)
def test_a_variant_has_a_sibling_of_the_same_requirement(scenario: Entry) -> None:
    family, variant = scenario.name.split("/")
    siblings = [s for s in CATALOGUE if s.name.split("/")[0] == family]

    assert scenario.variant == variant
    assert len(siblings) > 1
    assert all(family in s.requirements() for s in siblings)


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_every_example_is_a_schedule(path: Path) -> None:
    assert read_schedule(ROOT / path).schedule.steps


def repeated(sources: Iterable[str]) -> set[str]:
    """Return the names of classes that stand in more than one of some sources, or twice in one."""
    nodes = (node for source in sources for node in ast.parse(source).body)
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    return {name for name, count in names.items() if count > 1}


def test_a_class_name_has_one_meaning() -> None:
    ours = [path for path in python_files() if path.parts[0] in PACKAGES]

    assert repeated((ROOT / path).read_text(encoding="utf-8") for path in ours) == set(SAID_TWICE)


def test_a_repeated_class_name_is_found() -> None:
    assert repeated(["class Cell: ...", "class Row: ...\nclass Cell: ...", "class Table: ..."]) == {"Cell"}


def unexpected(path: Path) -> set[str]:
    """Return the words of a module's name, and of its packages', that a Kafka engineer does not expect."""
    parts = path.with_suffix("").parts
    return {
        word
        for part in parts
        for word in UNEXPECTED
        if part == word or part.startswith(f"{word}_") or part.endswith(f"_{word}")
    }


def test_modules_are_named_as_kafka_engineers_look_for_them() -> None:
    assert [path.as_posix() for path in python_files() if unexpected(path)] == []


def test_an_unexpected_word_is_found_in_a_module_name() -> None:
    assert unexpected(Path("conformance/puppet_stage/stage.py")) == {"puppet_stage"}
    assert unexpected(Path("tests/wire/test_turns.py")) == {"turns"}
    assert unexpected(Path("oracle/returns.py")) == set()
