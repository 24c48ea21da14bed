"""Is each scenario of the catalogue a file that somebody can start from?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.examination import Examination
from conformance.cli import main
from conformance.commands.schedule_help import example
from conformance.registry import CATALOGUE, name_alone
from conformance.schedules.schedule_file import read_schedule
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.scenario import Scenario

SCENARIOS = [entry for entry in CATALOGUE if not isinstance(entry, Examination)]


@pytest.mark.parametrize("entry", SCENARIOS[::7], ids=lambda entry: str(entry.name))
def test_a_scenario_is_read_back_as_it_is(entry: Scenario, tmp_path: Path) -> None:
    (path := tmp_path / "mine.yaml").write_text(example(name_alone(entry)))
    own = read_schedule(path)
    assert own.schedule == replace(entry.schedule, id=own.schedule.id)
    assert own.schedule.id.startswith("my/")


def test_the_command_prints_a_file_that_is_predicted_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedule-help", "--example", "TR-01"]) == 0
    (path := tmp_path / "mine.yaml").write_text(text := capsys.readouterr().out)
    rules = rules_for("0.10.2.2", MetadataMode.ZOOKEEPER)
    told = predict(read_schedule(path).schedule, rules)
    (entry,) = (one for one in SCENARIOS if one.name == "TR-01")
    assert told.records == predict(entry.schedule, rules).records
    assert "kafka-conformance predict --schedule FILE --kafka " in text


def test_what_a_file_does_not_have_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    asking = next(one for one in SCENARIOS if one.questions)
    assert "asks brokers besides is no part of a file" in example(name_alone(asking))
    assert "asks brokers besides" not in example("TR-01")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--example", "TR"], "that is several: TR-01, TR-02, TR-03 and others; name one"),
        (["--example", "no-such"], "no-such"),
        (["--example", "TR-01", "--json"], "explain ENTRY --json has its schedule"),
        (["--example", name_alone(next(one for one in CATALOGUE if isinstance(one, Examination)))], "an examination"),
    ],
)
def test_what_is_no_example_is_refused(given: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedule-help", *given]) == 2
    assert says in capsys.readouterr().err
