"""The catalogue as a whole: every entry is one of a kind, can be disputed, and is predicted or left out for a reason.

By default each entry is tried on the oldest and the newest line of the ladder and on one in between, which
differs from entry to entry. KAFKA_CONFORMANCE_LADDER=all tries every entry on every line, as a nightly job does.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from conformance import scenarios
from conformance.catalogue.examination import Examination
from conformance.catalogue.ladder import LADDER
from conformance.catalogue.requirements import REQUIREMENTS
from conformance.catalogue.scenario import REQUIREMENT_ID, Scenario
from conformance.catalogue.where import EVERYWHERE
from conformance.record.answers import PredictedAnswer
from conformance.registry import CATALOGUE, EXAMINATIONS, SCENARIOS, select
from conformance.stages.predicting import predict_entry
from oracle.rules.by_version import rules_for
from oracle.vocabulary import AREAS, MetadataMode

if TYPE_CHECKING:
    from conformance.catalogue.examination import Entry
    from conformance.line import Line

SOURCE = re.compile(rf"^(({'|'.join(AREAS)})-\d\d|00[0-4]|KIP-\d+|KAFKA-\d+)$")
ENTRY_LINES_MAX = 60
SENTENCE = re.compile(r"^[A-Za-z0-9].{18,258}\.$")
QUICK = (
    *("HW-03", "TR-01", "TR-02", "TR-03", "TR-05", "AC-04/safe", "AC-04/unsafe"),
    *("EL-01/safe", "EL-01/unsafe", "EL-02/safe", "EL-02/unsafe"),
)
ROWS = {requirement.id for requirement in REQUIREMENTS}
PARTS = ("Scenario", "Examination", "Schedule")

each_entry = pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)


def lines_for(entry: Entry) -> list[Line]:
    if os.environ.get("KAFKA_CONFORMANCE_LADDER") == "all":
        return list(LADDER)
    between = LADDER[1 + CATALOGUE.index(entry) % (len(LADDER) - 2)]
    return [LADDER[0], between, LADDER[-1]]


@each_entry
def test_it_is_predicted_or_left_out_for_a_reason(entry: Entry) -> None:
    for line in lines_for(entry):
        told = predict_entry(entry, rules_for(line.release.version, MetadataMode(line.metadata.value)))
        if told.not_run is not None:
            assert len(told.not_run) > 20, f"{line.text}: {told.not_run!r} is no reason"
            continue
        assert (told.prediction is None) is isinstance(entry, Examination)
        assert told.answers or isinstance(entry, Scenario), f"{line.text}: nothing is asked"
        whats = Counter(answer.what for answer in told.answers)
        assert [what for what, times in whats.items() if times > 1] == [], line.text
        for answer in told.answers:
            stored = msgspec.json.encode(answer.predicted)
            assert msgspec.json.decode(stored, type=PredictedAnswer).predicted == answer.value


@each_entry
def test_its_requirement_can_be_disputed_and_its_sources_can_be_found(entry: Entry) -> None:
    family = entry.name.split("/")[0]

    assert SENTENCE.match(entry.requirement), entry.requirement
    assert [source for source in entry.sources if not SOURCE.match(source)] == []
    assert [row for row in entry.requirements() if row not in ROWS] == []
    assert len(set(entry.sources)) == len(entry.sources)
    assert len(entry.explanation) > 40
    if REQUIREMENT_ID.match(family):
        assert entry.sources[0] == family
    else:
        assert family == "regressions"
        assert entry.name.split("/")[1] in entry.sources


@each_entry
def test_what_limits_its_releases_is_explained(entry: Entry) -> None:
    assert entry.where == EVERYWHERE or len(entry.where.why) > 10


@pytest.mark.parametrize("entry", EXAMINATIONS, ids=lambda entry: entry.name)
def test_an_examination_says_what_it_does(entry: Examination) -> None:
    assert entry.subject.steps()
    assert all(len(step) > 10 for step in entry.subject.steps())


def test_every_name_and_id_is_one_of_a_kind() -> None:
    for names in ([entry.name for entry in CATALOGUE], [entry.id for entry in CATALOGUE]):
        assert [name for name, times in Counter(names).items() if times > 1] == []


def test_nothing_in_the_folder_is_left_out_of_the_catalogue() -> None:
    found = {id(entry) for entry in CATALOGUE}
    modules = [path.stem for path in Path(inspect.getfile(scenarios)).parent.rglob("*.py")]

    assert len(found) == len(CATALOGUE) == len(SCENARIOS) + len(EXAMINATIONS)
    assert {"truncation", "fetchers"} <= {*modules, *(entry.id.split("/")[0] for entry in CATALOGUE)}


def test_the_order_is_that_of_the_areas_and_regressions_come_last() -> None:
    areas = list(dict.fromkeys(re.split("[-/]", entry.name)[0] for entry in CATALOGUE))

    assert areas == [area for area in (*AREAS, "regressions") if area in areas]


def test_the_quick_profile_is_the_one_that_is_documented() -> None:
    assert {entry.name for entry in select(profile="quick")} == set(QUICK)
    assert select(profile="full") == CATALOGUE


def parts_of(path: Path) -> list[tuple[str, int]]:
    """Return every entry and schedule of a module with its number of lines, those that a function makes with it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) in PARTS]
    makers = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _makes_an_entry(node)]
    return [
        (f"{path.name}:{node.lineno}", (node.end_lineno or node.lineno) - node.lineno + 1) for node in (*calls, *makers)
    ]


def _makes_an_entry(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Call) and _name(node.func) in PARTS for node in ast.walk(function))


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def test_no_entry_is_longer_than_a_page() -> None:
    parts = [part for path in Path(inspect.getfile(scenarios)).parent.rglob("*.py") for part in parts_of(path)]

    assert len(parts) > 50
    assert [(where, lines) for where, lines in parts if lines > ENTRY_LINES_MAX] == []


def test_a_longer_one_would_be_found(tmp_path: Path) -> None:
    module = tmp_path / "long.py"
    module.write_text("A = Scenario(\n" + "    1,\n" * 60 + ")\n")

    assert parts_of(module) == [("long.py:1", 62)]


WITHOUT_SESSIONS_MAX = 10


def test_brokers_keep_their_fetch_sessions_but_where_an_entry_says_why_not() -> None:
    switched_off = [
        entry
        for entry in CATALOGUE
        if not getattr(entry.schedule if isinstance(entry, Scenario) else entry.subject, "fetch_sessions", True)
    ]
    assert [entry.name for entry in switched_off] == ["FE-03"]
    assert len(switched_off) <= WITHOUT_SESSIONS_MAX
    assert all("fetch sessions are off" in entry.explanation.lower() for entry in switched_off)
