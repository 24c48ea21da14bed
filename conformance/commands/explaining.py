"""``explain``: what does an entry require and do, and what must a release answer?"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.catalogue.examination import BASIS_WORDS, Examination, basis_of
from conformance.catalogue.requirements import REQUIREMENTS
from conformance.catalogue.where import EVERYWHERE
from conformance.commands.choosing import Choice, entry_prediction, line_that_runs, release_options, rules_of
from conformance.commands.listing import count_words, entry_as_json
from conformance.commands.parser import add_json, refuse, table_lines
from conformance.commands.predicted_promise import promise_line, promise_words
from conformance.commands.prediction import answer_lines
from conformance.judgement.comparison import answer_words
from conformance.registry import family_of, file_of, name_alone, select
from conformance.schedules.topic_settings import topic_configs
from oracle.schedule_format import encode

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from conformance.catalogue.examination import Entry
    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.stages.predicting import EntryPrediction
    from oracle.prediction import Moment, Prediction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule


DESCRIPTION = """Says what an entry of the catalogue requires, why, what it does step by step, and what a release must
answer; of several, what they have in common, and a table. HW-14 are all of that requirement; HW-14/ is the one that is
just called so."""
EPILOG = """examples:
  kafka-conformance explain TR-01 --kafka 0.10.2.2        one, in prose, with what that release must show
  kafka-conformance explain EL-03 --kafka 4.4.0           several, as a table
  kafka-conformance explain TR-01 --page tr-01.html       one requirement as an HTML page, on every release line
  kafka-conformance explain TR-01 --page tr-01.html --runs runs    with how the newest runs on brokers have ended
"""


def add_explain(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("globs", nargs="+", metavar="ENTRY", help="name, such as TR-01, or EL-*")
    parser.add_argument("--full", action="store_true", help="of several: the whole text of each")
    parser.add_argument("--kafka", metavar="V", help="release that the numbers are predicted for (default: newest)")
    parser.add_argument(
        "--metadata", choices=("zookeeper", "kraft"), help="metadata mode (default: the release's newer)"
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="write one requirement, or entry, as an HTML page with figures"
    )
    parser.add_argument(
        "--runs",
        type=Path,
        nargs="+",
        default=[],
        metavar="RUNS-DIR",
        help="of --page: runs, or directories of runs, whose newest verdict of each entry and line is told",
    )
    add_json(parser)
    parser.set_defaults(command=_explain)


def _explain(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.page is not None:
        refuse(parsed, ["--full"], "is about the text: --page has the whole of each entry.")
        refuse(parsed, ["--kafka", "--metadata"], "is about the text: --page has every release line.")
        from conformance.commands.site.writing import write_alone  # noqa: PLC0415 - who asks for a page pays

        return write_alone(console, parsed.globs, parsed.page, tuple(parsed.runs))
    refuse(parsed, ["--runs"], "is about the page, which tells how runs have ended: give --page too.")
    if parsed.json:
        refuse(parsed, ["--full"], "is about the text: --json has the whole of each scenario.")
        refuse(parsed, ["--kafka", "--metadata"], "is about the predicted numbers, which --json does not have.")
    choice = Choice(tuple(parsed.globs), kafka=parsed.kafka or "newest", metadata=parsed.metadata)
    return explain(console, choice, in_full=parsed.full)


def explain(console: Console, choice: Choice, *, in_full: bool = False) -> int:
    """Print what an entry requires, under which settings, step by step, and what a release must answer.

    Of several what they have in common and a table, unless each is asked for in full.
    """
    rules = rules_of(choice)
    entries = select(choice.globs)
    told = [entry_prediction(entry, rules) for entry in entries]
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
        return {"explanation": entry.explanation, "file": file_of(entry), "steps": list(entry.subject.steps())}
    questions = [question.what for question in entry.questions]
    schedule = encode(entry.schedule)
    return {"explanation": entry.explanation, "file": file_of(entry), "schedule": schedule, "questions": questions}


def _explained(told: EntryPrediction) -> Iterable[str]:
    entry = told.entry
    yield f"{entry.name} — {entry.id}"
    yield ""
    yield f"Requirement: {entry.requirement}"
    yield f"Sources:     {', '.join(entry.sources)}"
    yield f"Declared in: {file_of(entry)}"
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
        yield f"Prediction:  kafka-conformance predict {name_alone(entry)} {release_options(rules)}"
        yield f"Run:         kafka-conformance run {name_alone(entry)} {release_options(rules)}"


def _texts(entry: Entry) -> Iterable[str]:
    return (
        entry.subject.steps() if isinstance(entry, Examination) else [step.sentence() for step in entry.schedule.steps]
    )


def _settings(schedule: Schedule) -> Iterable[str]:
    yield f"Replicas:    {', '.join(str(broker) for broker in schedule.replicas)} (the first one leads)"
    yield f"Settings:    {', '.join(f'{key}={value}' for key, value in topic_configs(schedule).items())}"


def _predicted(told: EntryPrediction) -> Iterable[str]:
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


# What do several entries have in common, and in what do they differ? Family by family, each with one table.


SENTENCES = {requirement.id: requirement.sentence for requirement in REQUIREMENTS}


def family_lines(told: Sequence[EntryPrediction]) -> Iterable[str]:
    """Yield every family: what its entries share once, then a table; last how to read a whole text."""
    for family, group in groupby(told, lambda one: family_of(one.entry)):
        yield from _family(family, list(group))
    one = next((each for each in told if each.not_run is None), told[0])
    command = f"kafka-conformance explain {name_alone(one.entry)} {release_options(one.rules)}"
    yield f"One of them, step by step: {command}; all of them: --full"


def _family(family: str, told: Sequence[EntryPrediction]) -> Iterable[str]:
    entries = [one.entry for one in told]
    sentence = f": {SENTENCES[family]}" if family in SENTENCES else ""
    yield f"{family}, {count_words(len(entries))}{sentence}"
    sources = [source for source in entries[0].sources if all(source in entry.sources for entry in entries)]
    if sources:
        yield f"Sources: {', '.join(sources)}"
    yield f"Declared in: {', '.join(dict.fromkeys(file_of(entry) for entry in entries))}"
    if len({entry.explanation for entry in entries}) == 1:
        yield entries[0].explanation
    yield ""
    rules = told[0].rules
    head = ("entry", ("steps", f"predicted for Kafka {rules.version} ({rules.metadata.value})"))
    rows = [(_variant(one.entry), (str(_steps(one.entry)), _variant_predicted(one))) for one in told]
    yield from (f"  {line}" for line in table_lines([head, *rows]))
    yield from _requirements(entries)
    yield from _not_run(told)
    yield ""


def _variant(entry: Entry) -> str:
    return entry.name.partition("/")[2] or entry.name


def _steps(entry: Entry) -> int:
    return len(entry.subject.steps() if isinstance(entry, Examination) else entry.schedule.steps)


def _variant_predicted(told: EntryPrediction) -> str:
    """Return what becomes of the promise of a schedule, how much is asked, or that it is not run."""
    if told.not_run is not None:
        return "not run"
    parts = [] if told.prediction is None else [promise_words(told.prediction)]
    asked = len(told.answers) + len(() if told.prediction is None else told.prediction.answers)
    if asked:
        parts.append("1 question" if asked == 1 else f"{asked} questions")
    return "; ".join(parts)


def _requirements(entries: Sequence[Entry]) -> Iterable[str]:
    """Yield each entry's own sentence, unless it says no more than its name."""
    if any(_variant(entry).replace(",", ", ") not in entry.requirement for entry in entries):
        yield ""
        yield from (f"  {line}" for line in table_lines([(_variant(one), (one.requirement,)) for one in entries]))


def _not_run(told: Sequence[EntryPrediction]) -> Iterable[str]:
    """Yield why some are not run, each reason once."""
    reasons = list(dict.fromkeys(one.not_run for one in told if one.not_run is not None))
    if reasons:
        yield ""
    for reason in reasons:
        names = ", ".join(_variant(one.entry) for one in told if one.not_run == reason)
        yield f"  Not run: {names}: {reason}"
