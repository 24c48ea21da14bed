"""``predict``: what must happen on a release, and why? Needs no cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.commands.choosing import Choice, locate_error, rules_of, scenarios_of
from conformance.commands.story import story_lines
from oracle.explaining import explain
from oracle.predict import predict
from oracle.races import end_words
from oracle.schedule import ScheduleError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.console import Console
    from oracle.prediction import Alternative, Moment, Prediction


def predict_scenarios(console: Console, choice: Choice, *, with_story: bool = False) -> int:
    """Print the prediction of the chosen scenarios, and why it is so if asked for."""
    rules = rules_of(choice)
    predictions = []
    for scenario in scenarios_of(choice):
        try:
            predictions.append(predict(scenario.schedule, rules))
        except ScheduleError as error:
            raise locate_error(choice, scenario, error) from error
    if console.as_json:
        values = [_as_json(prediction, with_story=with_story) for prediction in predictions]
        console.answer_json(values[0] if len(values) == 1 else values)
        return 0
    for prediction in predictions:
        console.answer("\n".join(_lines(prediction)))
        if with_story:
            console.answer("\n".join(story_lines(explain(prediction))))
    return 0


def _as_json(prediction: Prediction, *, with_story: bool) -> dict[str, object]:
    value = prediction.as_json()
    return value | {"explanation": explain(prediction).as_json()} if with_story else value


def _lines(prediction: Prediction) -> Iterable[str]:
    yield f"{prediction.scenario} on Kafka {prediction.kafka} ({prediction.metadata})"
    yield f"rules: {', '.join(prediction.rules)}"
    for checkpoint in prediction.checkpoints:
        yield ""
        yield from _moment(checkpoint)
    yield ""
    yield f"{'record':8} {'outcome':14} {'fate':13} {'offset':>6}  why"
    for record in prediction.records:
        offset = "-" if record.offset is None else str(record.offset)
        outcome = record.outcome.value if record.error is None else f"{record.outcome.value} ({record.error})"
        yield f"{record.label:8} {outcome:14} {record.fate.value:13} {offset:>6}  {record.decided_by}"
        if record.promise.reason:
            yield f"{'':8} {record.promise.verdict.value}: {record.promise.reason}"
    yield ""
    for broker, entries in prediction.logs.items():
        yield f"log of broker {broker}: " + " ".join(f"{e.label}/{e.leadership}" for e in entries)
    for divergence in prediction.diverged:
        held = ", ".join(f"{label} on broker {broker}" for broker, label in divergence.labels.items())
        yield f"diverged at offset {divergence.offset}: {held}"
    yield from open_lines(prediction)
    yield ""


def open_lines(prediction: Prediction) -> Iterable[str]:
    """Yield what a prediction leaves open: each number with its values, then each outcome with its race."""
    for assumption in prediction.assumed:
        yield f"assumed: {assumption.text}"
    for race in prediction.races:
        yield f"race left open: {race}"
    for number, alternative in enumerate(prediction.alternatives, start=1):
        yield from _alternative(number, alternative)


def _alternative(number: int, alternative: Alternative) -> Iterable[str]:
    yield ""
    yield f"outcome {number}"
    for decision in alternative.race:
        yield f"  if {decision}"
    for checkpoint in alternative.prediction.checkpoints:
        numbers = ", ".join(
            f"{broker}: {replica.log_end_offset} {replica.high_watermark}"
            for broker, replica in checkpoint.replicas.items()
        )
        yield f"  {checkpoint.name}: leader {checkpoint.leader or 'none'}; broker: LEO HW {numbers}"
    for record in alternative.prediction.records:
        yield f"  {record.label:8} {end_words(record)}"


def _moment(moment: Moment) -> Iterable[str]:
    yield f"checkpoint: {moment.name}"
    leader = "none" if moment.leader is None else f"broker {moment.leader} (leadership {moment.leadership})"
    yield f"  leader {leader}, ISR {{{', '.join(map(str, moment.isr))}}}"
    for broker, numbers in moment.replicas.items():
        remote = moment.remote_log_end_offsets.get(broker)
        known = "" if remote is None else f", known to the leader as {remote}"
        down = "" if numbers.alive else " (down)"
        yield (
            f"  broker {broker}{down}: log end offset {numbers.log_end_offset}, "
            f"high watermark {numbers.high_watermark}{known}"
        )
