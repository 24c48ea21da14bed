"""``predict``: what must happen on a release, and why? Needs no cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.catalogue.questions import in_words
from conformance.commands.choosing import Choice, add_choice, choice_given, line_of, locate_error, scenarios_of
from conformance.commands.parser import add_json, table_lines
from conformance.commands.predicted_promise import predicted_promise, promise_line, story_lines
from conformance.judgement.comparison import answer_words
from conformance.run_options import RunOptions
from conformance.stages.predicting import EntryPrediction, predict_entry
from oracle.predicting.explaining import explain
from oracle.predicting.races import open_values
from oracle.steps.step import ScheduleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.catalogue.questions import QuestionAnswer
    from conformance.commands.parser import Parser
    from conformance.console import Console
    from oracle.prediction import Moment, Prediction
    from oracle.rules.rule_set import RuleSet


DESCRIPTION = """Says what must happen on a release, by the model alone: the numbers of each replica at every
checkpoint, what becomes of every record, and each log as label/leadership. Leaderships are counted
from 0, one for each leader change; Kafka's leader epoch may be higher, as some releases raise it
without one. A record that was committed and is gone is lost, one that never was is absent. Refuses a
schedule that the release cannot follow, with file, line and step."""
EPILOG = """examples:
  kafka-conformance predict TR-01 --kafka 0.10.2.2             numbers, fates, and what becomes of the promise
  kafka-conformance predict TR-01 --kafka 0.10.2.2 --explain   which step and which rule decided each
  kafka-conformance predict --schedule my.yaml --kafka 3.9     your own schedule (see schedule-help)
  kafka-conformance predict TR-01 --rules-of '4.4.0~truncate-on-fetch'      what if a release lacked a rule?
"""


def add_predict(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    add_choice(parser)
    parser.add_argument("--rules-of", metavar="V", help="by other rules, as run takes them: 4.4.0~RULE lacks a rule")
    parser.add_argument("--explain", action="store_true", help="say of every record and number which step and rule")
    add_json(parser)
    parser.set_defaults(
        command=lambda console, a: predict_scenarios(console, choice_given(a), a.rules_of, with_story=a.explain)
    )


def predict_scenarios(
    console: Console, choice: Choice, rules_of: str | None = None, *, with_story: bool = False
) -> int:
    """Print the prediction of the chosen scenarios and examinations, and why it is so if asked for."""
    told = list(_predictions(choice, line_of(choice, RunOptions(rules_of=rules_of)).rules))
    if console.as_json:
        values = [_as_json(one, with_story=with_story) for one in told]
        console.answer_json(values[0] if len(values) == 1 else values)
        return 0
    for one in told:
        console.answer("\n".join(prediction_lines(one)))
        if with_story and one.prediction is not None:
            console.answer("\n".join(_stories(one.prediction)))
    return 0


def _predictions(choice: Choice, rules: RuleSet) -> Iterable[EntryPrediction]:
    for entry in scenarios_of(choice):
        try:
            yield predict_entry(entry, rules)
        except ScheduleError as error:
            raise locate_error(choice, entry, error) from error


def prediction_lines(predicted: EntryPrediction) -> Iterable[str]:
    """Yield what is predicted of an entry, or why it is not run."""
    if predicted.prediction is not None:
        yield from _lines(predicted.prediction)
    else:
        yield f"{predicted.entry.id} on Kafka {predicted.rules.version} ({predicted.rules.metadata.value})"
        yield "" if predicted.not_run is None else f"not run: {predicted.not_run}"
    yield from answer_lines(predicted.answers)
    if predicted.answers:
        yield ""


def answer_lines(answers: Sequence[QuestionAnswer], steps: Sequence[str] = ()) -> Iterable[str]:
    """Yield a table of what is asked and what is predicted; nothing if nothing is asked.

    Args:
        answers: the predicted answers.
        steps: the prose of steps that the reader has before him: a question about one names its number only.
    """
    if answers:
        rows = [(_without_step(answer.what, steps), (in_words(answer.value),)) for answer in answers]
        yield from table_lines([("asked", ("predicted",)), *rows])


def _without_step(what: str, steps: Sequence[str]) -> str:
    for number, step in enumerate(steps, start=1):
        if what.startswith(f"{number}. {step}: "):
            return f"{number}. {what.removeprefix(f'{number}. {step}: ')}"
    return what


def _as_json(predicted: EntryPrediction, *, with_story: bool) -> dict[str, Any]:
    """Return the machine format; promise and explanation stand beside the numbers that they are about."""
    value, prediction = predicted.as_json(), predicted.prediction
    if prediction is None:
        return value
    if not prediction.alternatives:
        return value | _about_numbers(prediction, with_story=with_story)
    told = zip(value["alternatives"], prediction.alternatives, strict=True)
    return value | {"alternatives": [v | _about_numbers(a.prediction, with_story=with_story) for v, a in told]}


def _about_numbers(prediction: Prediction, *, with_story: bool) -> dict[str, Any]:
    promise, reason = predicted_promise(prediction)
    about = {"promise": promise.value, "promise_reason": reason}
    return about | ({"explanation": explain(prediction).as_json()} if with_story else {})


def _stories(prediction: Prediction) -> Iterable[str]:
    if not prediction.alternatives:
        yield from story_lines(explain(prediction))
    for number, alternative in enumerate(prediction.alternatives, start=1):
        yield f"outcome {number}: {'; '.join(decision.text for decision in alternative.race)}"
        yield ""
        yield from story_lines(explain(alternative.prediction))


def _lines(prediction: Prediction) -> Iterable[str]:
    yield f"{prediction.scenario} on Kafka {prediction.kafka} ({prediction.metadata})"
    yield f"rules: {', '.join(prediction.rules)}"
    for checkpoint in prediction.checkpoints:
        yield ""
        yield from _moment(checkpoint)
    yield from _answers(prediction)
    yield ""
    yield f"{'record':8} {'outcome':14} {'fate':13} {'offset':>6}  why"
    for record in prediction.records:
        offset = "-" if record.offset is None else str(record.offset)
        outcome = record.outcome.value if record.error is None else f"{record.outcome.value} ({record.error})"
        yield f"{record.label:8} {outcome:14} {record.fate.value:13} {offset:>6}  {record.decided_by}"
        if record.promise.reason:
            yield f"{'':8} {record.promise.verdict.value}: {record.promise.reason}"
    yield from _promises(prediction)
    yield ""
    for broker, entries in prediction.logs.items():
        log = " ".join(f"{entry.label}/{entry.leadership}" for entry in entries)
        yield f"log of broker {broker}: {log or 'empty'}"
    for divergence in prediction.diverged:
        held = ", ".join(f"{label} on broker {broker}" for broker, label in divergence.labels.items())
        yield f"diverged at offset {divergence.offset}: {held}"
    yield from open_lines(prediction)
    yield ""


def _promises(prediction: Prediction) -> Iterable[str]:
    """Yield what becomes of the promise, by outcome where a race is open."""
    if not prediction.alternatives:
        yield promise_line(prediction)
    for number, alternative in enumerate(prediction.alternatives, start=1):
        yield f"outcome {number}: {promise_line(alternative.prediction)}"


def _answers(prediction: Prediction) -> Iterable[str]:
    """Yield what brokers answer to the steps that ask them."""
    if prediction.answers:
        yield ""
        yield "answers of brokers"
    for answer in prediction.answers:
        told = answer.as_json()
        yield f"  step {answer.step + 1}: {answer.asked}: {answer_words(told['answer'])}"


def open_lines(prediction: Prediction) -> Iterable[str]:
    """Yield what a prediction leaves open: a table of numbers by outcome, then the race that leads to each."""
    for assumption in prediction.assumed:
        yield f"assumed: {assumption.text}"
    if not prediction.alternatives:
        return
    outcomes = [f"outcome {number}" for number, _ in enumerate(prediction.alternatives, start=1)]
    rows = list(open_values([alternative.prediction for alternative in prediction.alternatives]))
    yield ""
    yield from table_lines([("a race is open; above: outcome 1", tuple(outcomes)), *rows])
    yield ""
    for outcome, alternative in zip(outcomes, prediction.alternatives, strict=True):
        for decision in alternative.race:
            yield f"{outcome} if {decision.text}"


def _moment(moment: Moment) -> Iterable[str]:
    yield f"checkpoint: {moment.name}"
    leader = "none" if moment.leader is None else f"broker {moment.leader} (leadership {moment.leadership})"
    eligible = f", eligible {{{', '.join(map(str, moment.elr))}}}" if moment.elr else ""
    yield f"  leader {leader}, ISR {{{', '.join(map(str, moment.isr))}}}{eligible}"
    for broker, numbers in moment.replicas.items():
        remote = moment.remote_log_end_offsets.get(broker)
        known = "" if remote is None else f", known to the leader as {remote}"
        down = "" if numbers.alive else " (down)"
        yield (
            f"  broker {broker}{down}: log end offset {numbers.log_end_offset}, "
            f"high watermark {numbers.high_watermark}{known}"
        )
