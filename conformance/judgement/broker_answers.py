"""What did brokers answer to the steps that asked them, and what was predicted? One comparison a step.

The prediction names the answers of a schedule's steps; what was measured stands among the observations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.judgement.comparison import ComparedRow
from conformance.judgement.deviation_codes import QUESTION
from conformance.record.answers import ComparedAnswer
from conformance.record.observations import BrokerAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from conformance.record.answers import AnswerValue
    from conformance.record.observations import Observation
    from conformance.record.prediction import PredictedBrokerAnswer, PredictedNumbers

NEVER_ASKED = "the step was never taken"


def answer_rows(prediction: PredictedNumbers, observations: Iterable[Observation]) -> Iterator[ComparedRow]:
    """Yield every value of every answer that was measured beside the predicted one."""
    measured = _measured(observations)
    for predicted in prediction.answers:
        seen = measured.get(predicted.step)
        if seen is not None:
            what = _what(predicted)
            names = dict.fromkeys((*predicted.answer, *seen))
            for name in names:
                yield ComparedRow(f"{what}: {name}", predicted.answer.get(name), seen.get(name), QUESTION, QUESTION)


def compare_broker_answers(
    prediction: PredictedNumbers, observations: Iterable[Observation], *, is_complete: bool
) -> list[ComparedAnswer]:
    """Compare the answers of a run's steps; what an interrupted run never asked speaks against nobody."""
    measured = _measured(observations)
    return [
        _compared(predicted, measured.get(predicted.step))
        for predicted in prediction.answers
        if is_complete or predicted.step in measured
    ]


def _compared(predicted: PredictedBrokerAnswer, seen: Mapping[str, AnswerValue] | None) -> ComparedAnswer:
    expected = answer_words(predicted.answer)
    if seen is None:
        return ComparedAnswer(_what(predicted), expected, None, NEVER_ASKED, agrees=False)
    return ComparedAnswer(_what(predicted), expected, answer_words(seen), None, agrees=predicted.answer == seen)


def answer_words(answer: Mapping[str, AnswerValue]) -> str:
    """Return an answer in words: an error alone, or every value by its name."""
    if answer.get("error") is not None:
        return str(answer["error"])
    named = (f"{_NAMES.get(name, name)} {_word(value)}".strip() for name, value in answer.items() if name != "error")
    return ", ".join(named)


_NAMES = {"answer": "", "high_watermark": "high watermark", "end_offset": "end offset"}


def _word(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list():
            return " ".join(map(str, value)) or "none"
        case _:
            return str(value)


def _what(predicted: PredictedBrokerAnswer) -> str:
    return f"step {predicted.step + 1}: {predicted.asked}"


def _measured(observations: Iterable[Observation]) -> dict[int, Mapping[str, AnswerValue]]:
    return {seen.step: seen.answer for seen in observations if isinstance(seen, BrokerAnswer) and seen.step is not None}
