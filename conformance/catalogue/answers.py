"""What was asked of a run, what was predicted, and what was measured? The files of both, and their comparison.

``prediction/questions.json`` is frozen with the prediction; ``answers.ndjson`` gets every answer as it is
measured. A question that was predicted must be answered once, and nothing else may be answered.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.catalogue.questions import (
    STALL_ALLOWANCE_MS,
    Answer,
    Between,
    NotSeenError,
    Took,
    agrees,
    as_json,
    from_json,
    in_words,
)
from conformance.stalls import stalls_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.catalogue.questions import Expected, Question, Value
    from conformance.run_directory import RunDirectory
    from conformance.stalls import Stall
    from oracle.rules.rule_set import RuleSet

QUESTIONS = "prediction/questions.json"
ANSWERS = "answers.ndjson"
COMPARED = "reconciliation/questions.json"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with both answers, as a verdict and a report need them.

    Attributes:
        predicted: the predicted answer in words; None if it was not predicted that this is answered.
        measured: the measured answer in words; None if there is none.
        why_not: what was looked for in vain, if the measure said so.
        agrees: whether the measured answer is the predicted one.
        stall_ms: set for a time outside its range that stalls of the machine, measured meanwhile, may explain: how
            long the longest was.
    """

    what: str
    predicted: str | None
    measured: str | None
    why_not: str | None
    agrees: bool
    stall_ms: int | None = None

    @property
    def text(self) -> str:
        """The comparison in one sentence."""
        if self.why_not is not None:
            return f"{self.what}: predicted {self.predicted}, {self.why_not}"
        if self.predicted is None:
            return f"{self.what}: measured {self.measured}, which nobody predicted"
        stall = f"; the machine stood still for {self.stall_ms} ms meanwhile" if self.stall_ms is not None else ""
        return f"{self.what}: predicted {self.predicted}, measured {self.measured or 'nothing'}{stall}"

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as reconciliation/questions.json has it."""
        return {
            "what": self.what,
            "predicted": self.predicted,
            "measured": self.measured,
            "why_not": self.why_not,
            "agrees": self.agrees,
            **({"stall_ms": self.stall_ms} if self.stall_ms is not None else {}),
        }


def predicted_answers(
    questions: Iterable[Question], rules: RuleSet, prediction: Mapping[str, Any]
) -> tuple[Answer, ...]:
    """Predict the answer to every question of a scenario, given the content of prediction.json."""
    return tuple(Answer(question.what, question.predict(rules, prediction)) for question in questions)


def write_questions(run: RunDirectory, answers: Iterable[Answer]) -> None:
    """Write the predicted answers; to be called before the prediction is frozen."""
    questions = [
        {"what": answer.what, "predicted": as_json(answer.value), "in_words": in_words(answer.value)}
        for answer in answers
    ]
    run.write_json(QUESTIONS, {"questions": questions})


def note_answer(run: RunDirectory, what: str, value: Expected | Took) -> None:
    """Add a measured answer."""
    with (run.path / ANSWERS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(_line(what, value)) + "\n")


def _line(what: str, value: Expected | Took) -> dict[str, object]:
    interval = {"from_ns": value.from_ns, "to_ns": value.to_ns} if isinstance(value, Took) else {}
    return {"what": what, "value": as_json(value), **interval}


def measure(run: RunDirectory, questions: Iterable[Question]) -> None:
    """Answer every question of a scenario from its run's files; what was answered before stays until all are.

    Raises:
        RunDirectoryError: a file that a question is answered from cannot be read.
    """
    lines = [json.dumps(_measured(run, question)) + "\n" for question in questions]
    anew = run.path / f"{ANSWERS}.new"
    anew.write_text("".join(lines), encoding="utf-8")
    anew.replace(run.path / ANSWERS)


def _measured(run: RunDirectory, question: Question) -> dict[str, object]:
    try:
        return _line(question.what, question.measure(run))
    except NotSeenError as unseen:
        return {"what": question.what, "why_not": str(unseen)}


def compare_answers(run: RunDirectory, *, is_complete: bool, told: Sequence[Asked] = ()) -> list[Asked]:
    """Compare every predicted answer with the measured one and write reconciliation/questions.json.

    Args:
        run: a run; one that asked nothing has no such file and nothing to compare.
        is_complete: whether the run took its course; what an interrupted one did not answer speaks against nobody.
        told: what brokers answered to steps of the schedule, compared already.

    Raises:
        RunDirectoryError: a file cannot be read.
    """
    asked = [*told, *_questions(run, is_complete=is_complete)]
    if asked or (run.path / QUESTIONS).exists():
        run.write_json(COMPARED, {"questions": [one.as_json() for one in asked]})
    return asked


def _questions(run: RunDirectory, *, is_complete: bool) -> list[Asked]:
    if not (run.path / QUESTIONS).exists():
        return []
    predicted = {one["what"]: from_json(one["predicted"]) for one in run.read_json(QUESTIONS)["questions"]}
    lines = run.lines(ANSWERS)
    times = Counter(line["what"] for line in lines)
    stalls = stalls_of(run)
    asked = [_compared(line, predicted, times[line["what"]], stalls) for line in lines]
    if is_complete:
        missing = ((what, value) for what, value in predicted.items() if what not in times)
        asked += [Asked(what, in_words(value), None, None, agrees=False) for what, value in missing]
    return asked


def _compared(line: Mapping[str, Any], predicted: Mapping[str, Expected], times: int, stalls: Sequence[Stall]) -> Asked:
    what = line["what"]
    expected = in_words(predicted[what]) if what in predicted else None
    if times > 1:
        return Asked(what, expected, None, f"answered {times} times", agrees=False)
    if "why_not" in line:
        return Asked(what, expected, None, line["why_not"], agrees=False)
    value: Value = line["value"]
    expectation = predicted.get(what)
    unit = f" {expectation.unit}" if isinstance(expectation, Between) else ""
    is_right = what in predicted and agrees(predicted[what], value)
    excuse = None if is_right else _stall_behind(expectation, line, stalls)
    return Asked(what, expected, in_words(value) + unit, None, agrees=is_right, stall_ms=excuse)


def _stall_behind(expected: Expected, line: Mapping[str, Any], stalls: Sequence[Stall]) -> int | None:
    """Return the longest stall in ms if the stalls meanwhile are long enough to explain a time outside its range."""
    distance = expected.distance(line["value"]) if isinstance(expected, Between) else None
    if distance is None or "from_ns" not in line:
        return None
    meanwhile = [stall.for_ms for stall in stalls if stall.touches(line["from_ns"], line["to_ns"])]
    if max(meanwhile, default=0) <= STALL_ALLOWANCE_MS or distance > sum(meanwhile):
        return None
    return max(meanwhile)
