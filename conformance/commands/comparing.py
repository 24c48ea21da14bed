"""``compare``: in what do two runs differ, and where do their wires part?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.parser import add_json
from conformance.commands.tracing import events_of_run, require_schedule
from conformance.judgement.verdicts import EXIT_CODES
from conformance.observation.errors import TraceUnreadableError
from conformance.observation.parting import partings
from conformance.record.directory import RunDirectoryError, as_plain
from conformance.record.run import open_run, read_run
from conformance.record.timeline import Event, read_timeline
from conformance.record.verdict import Conformance
from conformance.spark_extra import require_spark
from reports.load import load_run
from reports.version_matrix import line_words

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.observation.parting import Parting, Remark
    from conformance.record.directory import RunDirectory
    from reports.model import RecordView, RunView

NOTHING = "nothing"
SAME, DIFFERENT = 0, 1

DESCRIPTION = """Tells in what two finished runs differ: their settings, their verdicts, what became of each record,
what was measured at each checkpoint, and where their wires part. Each conversation of two brokers is compared from its
first word on: who fetches from which offset, what the leader gives, where logs diverge, who is told who leads, what
producers are told. Epochs of requests, versions and times are not compared, so runs of two releases can be."""
EPILOG = """how to read it:
  A and B stand for the first and the second run. The first parting is the earliest in A; what comes after it mostly
  follows from it. Two runs of one scenario on one release may part where the scenario leaves brokers a choice.

examples:
  kafka-conformance compare runs/OLD runs/NEW            why does the new release end otherwise?
  kafka-conformance compare passed failed                what was different this time?

exit codes: 0 the same, 1 different, 2 usage, 4 a wire that cannot be read
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that two runs have, do or say differently."""

    what: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class PartingInWords:
    """Where a conversation parts: what each run says next, and in which step."""

    conversation: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class RunsCompared:
    """Two runs beside each other, in words."""

    a: str
    b: str
    differences: tuple[Difference, ...]
    partings: tuple[PartingInWords, ...]


def add_compare(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("a", type=Path, metavar="A", help="a run directory")
    parser.add_argument("b", type=Path, metavar="B", help="the run directory to hold beside it")
    add_json(parser)
    parser.set_defaults(command=_compare)


def _compare(console: Console, parsed: argparse.Namespace) -> int:
    require_spark()
    first, second = open_run(parsed.a), open_run(parsed.b)
    for run in (first, second):
        _require_wire(run)
    try:
        compared = compare(first, second)
    except TraceUnreadableError as error:
        console.complain(f"a wire trace cannot be read: {error}")
        return EXIT_CODES[Conformance.HARNESS_ERROR]
    if console.as_json:
        console.answer_json(as_plain(compared))
    else:
        for line in lines(compared):
            console.answer(line)
    return DIFFERENT if compared.differences or compared.partings else SAME


def _require_wire(run: RunDirectory) -> None:
    """Refuse what has no steps and no brokers to compare.

    Raises:
        RunDirectoryError: it was not run, or has no schedule, as of an examination.
    """
    reason = read_run(run).not_run
    if reason:
        raise RunDirectoryError(f"{run.path} was not run: {reason}")
    require_schedule(run)


def compare(first: RunDirectory, second: RunDirectory) -> RunsCompared:
    """Return in what two runs differ.

    Raises:
        RunDirectoryError: a file of theirs is none that the tester writes.
        TraceUnreadableError: a wire trace is missing, cut short or cannot be read.
    """
    a, b = load_run(first.path), load_run(second.path)
    places = _Places(first), _Places(second)
    found = partings(events_of_run(first), events_of_run(second))
    return RunsCompared(
        _run_words(a), _run_words(b), tuple(_differences(a, b)), tuple(_in_words(one, *places) for one in found)
    )


def _run_words(run: RunView) -> str:
    return f"{run.name} on {line_words(run)}, {run.run}"


def _differences(a: RunView, b: RunView) -> Iterator[Difference]:
    """Yield what differs apart from the wire: settings, steps, verdicts, records, checkpoints."""
    yield from _apart("setting", a.user_settings, b.user_settings)
    yield from _apart("step", _numbered(a.told_steps), _numbered(b.told_steps))
    yield from _apart("", _verdict(a), _verdict(b))
    yield from _apart("record", _records(a), _records(b))
    yield from _apart("checkpoint", _measured(a), _measured(b))


def _apart(kind: str, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Difference]:
    for name in dict.fromkeys((*a, *b)):
        if a.get(name) != b.get(name):
            yield Difference(f"{kind} {name}".strip(), a.get(name, NOTHING), b.get(name, NOTHING))


def _numbered(steps: tuple[str, ...]) -> dict[str, str]:
    return {str(number): text for number, text in enumerate(steps, 1)}


def _verdict(run: RunView) -> dict[str, str]:
    promise = NOTHING if run.verdict.promise is None else run.verdict.promise.value
    return {"conformance": run.verdict.conformance.value, "promise": promise}


def _records(run: RunView) -> dict[str, str]:
    return {row.label: ", ".join(filter(None, (_outcome(row), row.measured_fate))) for row in run.records.rows}


def _outcome(record: RecordView) -> str:
    """Return what a record's producer was told, with the offset if it was told one."""
    if record.acknowledged_offset is None:
        return record.measured_outcome
    return f"{record.measured_outcome} at offset {record.acknowledged_offset}"


def _measured(run: RunView) -> dict[str, str]:
    return {f"{point.name}: {row.what}": row.measured for point in run.checkpoints for row in point.rows}


class _Places:
    """When which step of a run was taken."""

    def __init__(self, run: RunDirectory) -> None:
        self._steps = [mark for mark in read_timeline(run) if mark.event is Event.STEP_STARTED]

    def words(self, remark: Remark | None, last: Remark | None) -> str:
        """Return what is said, and in which step; or that nothing new is, after what was said last."""
        if remark is None:
            return "nothing in the whole run" if last is None else f"nothing new after: {self._told(last)}"
        return self._told(remark)

    def _told(self, remark: Remark) -> str:
        begun = [mark for mark in self._steps if mark.t_ns <= remark.at]
        where = f" (step {(begun[-1].step or 0) + 1}: {begun[-1].text})" if begun else " (before the first step)"
        return f"{remark.text.strip()}{where}"


def _in_words(parting: Parting, first: _Places, second: _Places) -> PartingInWords:
    a, b = first.words(parting.first, parting.last), second.words(parting.second, parting.last)
    return PartingInWords(parting.conversation, a, b)


def lines(compared: RunsCompared) -> Iterator[str]:
    """Yield what differs, line by line."""
    yield f"A: {compared.a}"
    yield f"B: {compared.b}"
    for one in compared.differences:
        yield f"\n{one.what}\n  A: {one.a}\n  B: {one.b}"
    for number, parting in enumerate(compared.partings):
        begins = "the wires part first" if number == 0 else "and"
        between = "between" if parting.conversation.startswith("broker ") else "in"
        yield f"\n{begins} {between} {parting.conversation}\n  A: {parting.a}\n  B: {parting.b}"
    if not compared.partings:
        yield "\nthe wires say the same" + ("" if compared.differences else ", and nothing else differs")
