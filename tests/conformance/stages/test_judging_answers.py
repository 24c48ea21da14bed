"""``judge`` over runs that were asked something: measured again from the files, or held against other rules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalogue.questions import QuestionAnswer, measure
from conformance.commands import judgement
from conformance.commands.judgement import JudgeOptions, judge_again, measure_again, questions_of
from conformance.console import Console
from conformance.record.digests import write_digests
from conformance.record.directory import RunDirectoryError
from tests.conformance.brokerless import brokerless_pipeline
from tests.conformance.catalogue.test_answers import ASKING
from tests.conformance.examinations import MEASURED, Table, examination
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import read_json, read_lines

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from oracle.rules.rule_set import RuleSet


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    catalogue(monkeypatch, ASKING)
    run = write_ideal_run(tmp_path, scenario=ASKING)
    measure(run, ASKING.questions)
    (run.path / "wire.ndjson").touch()
    write_digests(run)
    return run


def catalogue(monkeypatch: pytest.MonkeyPatch, *entries: Entry) -> None:
    monkeypatch.setattr(judgement, "CATALOGUE", entries)


def test_answers_are_measured_again_from_the_files(run: RunDirectory) -> None:
    (run.path / "answers.ndjson").write_text('{"what": "leader epoch at the end", "value": 99}\n')
    measure_again(run)

    assert [line["value"] for line in read_lines(run, "answers.ndjson")][1:] == [6]


def test_what_the_catalogue_asks_no_more_stays_as_it_was_measured(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (run.path / "answers.ndjson").read_text()
    catalogue(monkeypatch)
    measure_again(run)

    assert (run.path / "answers.ndjson").read_text() == before
    with pytest.raises(RunDirectoryError, match="does not ask any more"):
        questions_of(run)


@pytest.mark.parametrize("name", ["answers.ndjson", "wire.ndjson"])
def test_evidence_that_was_removed_is_held_against_nobody(
    run: RunDirectory, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (run.path / name).unlink()

    assert judge_again(Console(), JudgeOptions(run.path)) == 4
    assert f"{name} is missing" in capsys.readouterr().out


def _from_the_wire(run: RunDirectory) -> Value:
    leader_epoch: Value = read_lines(run, "wire.ndjson")[-1]["leader_epoch"]
    return leader_epoch


@pytest.mark.parametrize("content", ['{"leader_ep', '{"api": "Fetch"}', ""])
def test_evidence_that_is_damaged_is_held_against_nobody_and_the_answers_stay(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    names, epoch = ASKING.questions
    catalogue(monkeypatch, replace(ASKING, questions=(names, replace(epoch, measure=_from_the_wire))))
    before = (run.path / "answers.ndjson").read_bytes()
    (run.path / "wire.ndjson").write_text(content)
    write_digests(run)

    assert judge_again(Console(), JudgeOptions(run.path)) == 4
    assert "cannot be read" in capsys.readouterr().out
    assert (run.path / "answers.ndjson").read_bytes() == before


class _ByRelease(Table):
    """A subject whose first answer differs from 2.0 on."""

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        connections = 3 if rules.version == "0.10.2.2" else 4
        return (QuestionAnswer("connections of broker 2", connections), *super().predict(rules)[1:])


@pytest.mark.parametrize(("rules_of", "code"), [(None, 0), ("0.10.2.2", 0), ("2.8.2", 1)])
def test_an_examination_is_held_against_the_rules_of_another_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules_of: str | None, code: int
) -> None:
    entry = examination(_ByRelease(MEASURED))
    run = brokerless_pipeline(tmp_path).run(entry).run
    catalogue(monkeypatch, entry)

    assert judge_again(Console(), JudgeOptions(run.path, repredict=True, rules_of=rules_of)) == code
    (beside,) = run.path.glob("verdict-repredicted-*.json")
    told: dict[str, Any] = read_json(run, beside.name)
    assert told["conformance"] == ("CONFORMS" if code == 0 else "DEVIATES")
    assert told["rules_of"] == (rules_of or "0.10.2.2")
    assert read_json(run, "verdict.json")["conformance"] == "CONFORMS"
