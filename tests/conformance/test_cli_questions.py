"""``explain`` and ``predict`` say what is asked, what must be answered, and why an entry is not run on a release."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli import main
from conformance.commands.choosing import line_that_runs
from conformance.judgement.comparison import answer_words
from conformance.registry import CATALOGUE, EXAMINATIONS, SCENARIOS
from conformance.stages.predicting import predict_entry

if TYPE_CHECKING:
    from conformance.catalogue.examination import Examination

ASKING = next(scenario for scenario in SCENARIOS if scenario.questions and not scenario.where.limits)
EXAMINED = next(examination for examination in EXAMINATIONS if not examination.where.limits)
LIMITED = next(examination for examination in EXAMINATIONS if examination.where.limits == ("zookeeper metadata",))


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:  # noqa: ANN401
    return json.loads(said(capsys, *arguments, "--json"))


@pytest.mark.parametrize("kafka", ["0.10.2.2", "4.3.1"])
def test_an_explanation_says_what_is_asked_and_what_the_release_must_answer(
    capsys: pytest.CaptureFixture[str], kafka: str
) -> None:
    text = said(capsys, "explain", ASKING.name, "--kafka", kafka)

    assert f"\nPredicted for Kafka {kafka} (" in text
    assert "\n  checkpoint " in text
    assert "\n  asked " in text
    assert all(f"\n  {question.what}  " in text for question in ASKING.questions)


@pytest.mark.parametrize("name", ["HW-02/leader", "LE-03/asked", "RM-06/listed"])
def test_an_explanation_says_what_brokers_must_answer_to_steps_that_ask(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    text = said(capsys, "explain", name, "--kafka", "0.11.0.3")
    answers = told(capsys, "predict", name, "--kafka", "0.11.0.3")["answers"]

    table = text.partition("\n  answers of brokers ")[2].partition("\n\n")[0].splitlines()[1:]
    assert [line.split(maxsplit=1)[0] for line in table] == [f"{one['step'] + 1}." for one in answers]
    for line, one in zip(table, answers, strict=True):
        assert one["asked"] in line
        assert line.endswith(answer_words(one["answer"]))


def test_an_explanation_says_what_is_lost_on_the_release(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "explain", "TR-01", "--kafka", "0.10.2.2")

    assert "\n  promise: BROKEN_AS_PREDICTED; m1 lost: broker 2 had appended the record, cut it" in text
    assert "\n  promise: KEPT; no committed record is lost\n" in said(capsys, "explain", "TR-01", "--kafka", "4.3.1")
    assert "answers of brokers" not in text


def test_a_prediction_has_the_questions_beside_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    (value,) = [told(capsys, "predict", ASKING.name, "--kafka", "4.3.1")]

    assert [one["what"] for one in value["questions"]] == [question.what for question in ASKING.questions]
    assert value["checkpoints"]
    assert "\nasked " in said(capsys, "predict", ASKING.name, "--kafka", "4.3.1")


def test_an_examination_is_explained_by_its_steps(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "explain", EXAMINED.name, "--kafka", "4.3.1")
    (value,) = told(capsys, "explain", EXAMINED.name)

    assert all(f". {step}\n" in text for step in EXAMINED.subject.steps())
    assert "Settings:" not in text
    assert value["kind"] == "examination"
    assert value["steps"] == list(EXAMINED.subject.steps())


def test_an_examination_is_predicted_without_checkpoints(capsys: pytest.CaptureFixture[str]) -> None:
    value = told(capsys, "predict", EXAMINED.name, "--kafka", "4.3.1")

    assert set(value) == {"scenario", "kafka", "metadata", "questions"}
    assert len(value["questions"]) > 1


@pytest.mark.parametrize("entry", [LIMITED], ids=lambda entry: entry.name)
def test_what_a_release_cannot_have_is_said_and_no_error(
    capsys: pytest.CaptureFixture[str], entry: Examination
) -> None:
    value = told(capsys, "predict", entry.name, "--kafka", "4.3.1")

    assert "questions" not in value
    assert value["not_run"].endswith(entry.where.why)
    assert f"not run: {value['not_run']}\n" in said(capsys, "predict", entry.name, "--kafka", "4.3.1")
    assert f"Not run on Kafka 4.3.1 (kraft): {value['not_run']}\n" in said(
        capsys, "explain", entry.name, "--kafka", "4.3.1"
    )


@pytest.mark.parametrize("name", ["TR-07", LIMITED.name, "FE-01"])
def test_what_is_not_run_there_is_explained_with_commands_that_work_elsewhere(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    text = said(capsys, "explain", name, "--kafka", "4.3.1")
    predict, run = (line.partition("kafka-conformance ")[2].split() for line in text.splitlines()[-3:-1])
    prediction = told(capsys, *predict)

    assert (predict[0], run[0], run[1:]) == ("predict", "run", predict[1:])
    assert "not_run" not in prediction
    assert ("\nNot run on Kafka 4.3.1 (kraft): " in text) is (prediction["kafka"] != "4.3.1")
    assert (name == "FE-01") is (prediction["kafka"] == "4.3.1")


def test_the_ladder_runs_every_entry_somewhere() -> None:
    limited = [entry for entry in CATALOGUE if entry.where.limits]
    found = [(entry, line_that_runs(entry)) for entry in limited]

    assert len(limited) > 40
    assert [
        entry.name for entry, rules in found if rules is None or predict_entry(entry, rules).not_run is not None
    ] == []


def test_what_no_release_runs_has_no_commands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.commands.choosing.LADDER", ())
    text = said(capsys, "explain", LIMITED.name, "--kafka", "4.3.1")

    assert "\nNot run on Kafka 4.3.1 (kraft): " in text
    assert "kafka-conformance" not in text


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--kafka", "3.9.2", "--metadata", "zookeeper"), "run TR-01 --kafka 3.9.2 --metadata zookeeper\n"),
        (("--kafka", "3.9.2"), "run TR-01 --kafka 3.9.2\n"),
    ],
)
def test_the_commands_of_an_explanation_run_what_was_explained(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], expected: str
) -> None:
    assert f"kafka-conformance {expected}" in said(capsys, "explain", "TR-01", *options)


def test_a_prediction_by_other_rules_shows_what_a_rule_changes(capsys: pytest.CaptureFixture[str]) -> None:
    """`hunt` explains a find by such a rule."""
    asked = ("predict", "--schedule", "docs/findings/removed-eligible-leader.yaml", "--kafka", "4.4.0")
    assert "  leader broker 1 (leadership 0), ISR {1}, eligible {2}\n" in said(capsys, *asked)
    swapped = said(capsys, *asked, "--rules-of", "4.4.0~removed-replica-stays-eligible")
    assert "  leader broker 1 (leadership 0), ISR {1}\n" in swapped
    assert main([*asked, "--rules-of", "4.4.0~no-such-rule"]) == 2
    assert "no-such-rule" in capsys.readouterr().err
