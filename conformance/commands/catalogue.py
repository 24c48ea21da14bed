"""``explain``: what does a scenario require and do, and what must a release answer?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.catalogue.examination import BASIS_WORDS, Examination, basis_of
from conformance.catalogue.where import EVERYWHERE
from conformance.commands.choosing import foretold, rules_of
from conformance.commands.family_table import family_lines
from conformance.commands.foretold_promise import promise_line
from conformance.commands.line_that_runs import line_that_runs
from conformance.commands.listing import entry_as_json
from conformance.commands.plain_table import table_lines
from conformance.commands.prediction import answer_lines
from conformance.commands.release_form import release_options
from conformance.judgement.broker_answers import answer_words
from conformance.registry import select
from conformance.schedules.schedule_format import encode
from conformance.schedules.step_text import describe
from conformance.schedules.topic_settings import topic_configs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.catalogue.examination import Entry
    from conformance.commands.choosing import Choice
    from conformance.console import Console
    from conformance.stages.foretelling import Foretold
    from oracle.prediction import Moment, Prediction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule


def explain(console: Console, choice: Choice, *, in_full: bool = False) -> int:
    """Print what a scenario requires, under which settings, step by step, and what a release must answer.

    Of several what they have in common and a table, unless each is asked for in full.
    """
    rules = rules_of(choice)
    entries = select(choice.globs)
    told = [foretold(entry, rules) for entry in entries]
    if console.as_json:
        console.answer_json([entry_as_json(entry) | _steps_as_json(entry) for entry in entries])
    elif len(told) == 1 or in_full:
        for one in told:
            console.answer("\n".join(_explained(one)))
    else:
        console.answer("\n".join(family_lines(told)))
    return 0


def _steps_as_json(entry: Entry) -> dict[str, Any]:
    if isinstance(entry, Examination):
        return {"explanation": entry.explanation, "steps": list(entry.subject.steps())}
    questions = [question.what for question in entry.questions]
    return {"explanation": entry.explanation, "schedule": encode(entry.schedule), "questions": questions}


def _explained(told: Foretold) -> Iterable[str]:
    entry = told.entry
    yield f"{entry.name} — {entry.id}"
    yield ""
    yield f"Requirement: {entry.requirement}"
    yield f"Sources:     {', '.join(entry.sources)}"
    yield f"Answers:     {BASIS_WORDS[basis_of(entry)]}"
    if not isinstance(entry, Examination):
        yield from _settings(entry.schedule)
    if entry.where != EVERYWHERE:
        yield f"Runs on:     {entry.where.text}"
    yield from ("", entry.explanation, "", "Steps:")
    yield from (f"  {number:2}. {text}" for number, text in enumerate(_texts(entry), start=1))
    yield ""
    yield from _predicted(told)
    yield from _commands(entry, told.rules if told.not_run is None else line_that_runs(entry))
    yield ""


def _commands(entry: Entry, rules: RuleSet | None) -> Iterable[str]:
    """Yield how to have it predicted and run, on a release that it is run on."""
    if rules is not None:
        yield f"Prediction:  kafka-conformance predict {entry.name} {release_options(rules)}"
        yield f"Run:         kafka-conformance run {entry.name} {release_options(rules)}"


def _texts(entry: Entry) -> Iterable[str]:
    return entry.subject.steps() if isinstance(entry, Examination) else map(describe, entry.schedule.steps)


def _settings(schedule: Schedule) -> Iterable[str]:
    yield f"Replicas:    {', '.join(str(broker) for broker in schedule.replicas)} (the first one leads)"
    yield f"Settings:    {', '.join(f'{key}={value}' for key, value in topic_configs(schedule).items())}"


def _predicted(told: Foretold) -> Iterable[str]:
    """Yield small tables: numbers and answers of a scenario's steps, and what is asked besides."""
    on = f"Kafka {told.rules.version} ({told.rules.metadata.value})"
    if told.not_run is not None:
        yield f"Not run on {on}: {told.not_run}"
        yield ""
        return
    yield f"Predicted for {on}:"
    if told.prediction is not None:
        yield from _of_scenario(told.prediction)
    if told.answers:
        yield from (f"  {line}" for line in answer_lines(told.answers, tuple(_texts(told.entry))))
        yield ""


def _of_scenario(prediction: Prediction) -> Iterable[str]:
    """Yield the numbers at every checkpoint, what brokers answer to steps that ask them, and what is lost."""
    answers = [(f"{one.step + 1}. {one.asked}", (answer_words(one.as_json()["answer"]),)) for one in prediction.answers]
    for table in (_numbers(prediction), [("answers of brokers", ("predicted",)), *answers]):
        if len(table) > 1:
            yield from (f"  {line}" for line in table_lines(table))
            yield ""
    yield f"  {promise_line(prediction)}"
    yield ""


def _numbers(prediction: Prediction) -> list[tuple[str, tuple[str, ...]]]:
    """Return the table of checkpoints: leader, ISR, every replica's log end offset and high watermark."""
    brokers = tuple(prediction.checkpoints[0].replicas) if prediction.checkpoints else ()
    head = ("checkpoint", ("leader", "ISR", *(f"broker {broker}: end, HW" for broker in brokers)))
    return [head, *((str(moment.name), _cells(moment)) for moment in prediction.checkpoints)]


def _cells(moment: Moment) -> tuple[str, ...]:
    leader = "none" if moment.leader is None else str(moment.leader)
    numbers = (
        f"{one.log_end_offset}, {one.high_watermark}" if one.alive else "down" for one in moment.replicas.values()
    )
    return (leader, ", ".join(str(broker) for broker in moment.isr), *numbers)
