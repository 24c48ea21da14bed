"""``trace``: what did the wire of a run show, event by event, and what does the model say of it?"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import NODEFAULT

from conformance.commands.choosing import other_rules
from conformance.commands.judgement import ended_otherwise
from conformance.commands.parser import add_json, refuse
from conformance.commands.trace_answer import exit_code_of, verdict_lines
from conformance.judgement.verdicts import EXIT_CODES
from conformance.observation.check import begin_replay, check_again, rules_of_run
from conformance.observation.errors import TraceUnreadableError
from conformance.observation.event_stream import EventStream
from conformance.observation.event_text import TraceLines, event_text
from conformance.record.directory import RunDirectoryError, as_plain
from conformance.record.run import open_run, read_run
from conformance.record.schedule import SCHEDULE_FILE, read_schedule
from conformance.record.timeline import Event, read_timeline
from conformance.record.trace_check import TraceResult
from conformance.record.verdict import Conformance
from conformance.record.wire import WIRE_FILE
from conformance.spark_extra import require_spark
from oracle.log import EpochEnd
from oracle.tracing.observed import Event as Told
from oracle.tracing.observed import TopicPartition

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.observation.check import Replay
    from conformance.record.directory import RunDirectory


INDENT = 18
HOLD = "hold_"


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """Which trace to tell, by whose rules, and how.

    Attributes:
        shows_all: every event, also those without news.
        dumps_events: nothing but the events, one JSON value a line; nothing is checked.
    """

    run: Path
    rules_of: str | None = None
    metadata: str | None = None
    shows_all: bool = False
    dumps_events: bool = False


def tell_trace(console: Console, options: TraceOptions) -> int:
    """Tell a run's trace and return the exit code: 0 allowed, or not run; 1 violated, 4 not checked.

    Raises:
        RunDirectoryError: the directory is no run.
        SparkMissingError: what reads a run's tables is not installed.
    """
    require_spark()
    run = open_run(options.run)
    reason = read_run(run).not_run
    if reason:
        return _tell_not_run(console, run, reason, options)
    require_schedule(run)
    rules = other_rules(run, options.rules_of, options.metadata) or rules_of_run(run)
    try:
        if options.dumps_events:
            return _dumped(console, run)
        if console.as_json:
            result = check_again(run, rules)
            judged = _judged_otherwise(run, result, options)
            console.answer_json(_as_json(result) | ({} if judged is None else {"judged_otherwise": judged}))
            return exit_code_of(result)
        replay = begin_replay(run, rules)
        _tell(console, run, replay, options)
        result = replay.result()
    except TraceUnreadableError as error:
        judged = _judged_otherwise(run, TraceResult("", why_not=str(error)), options)
        but = "" if judged is None else f"; its verdict says otherwise: {judged}"
        console.complain(f"the wire trace cannot be read: {error}{but}")
        return EXIT_CODES[Conformance.HARNESS_ERROR]
    for line in verdict_lines(result):
        console.answer(line)
    judged = _judged_otherwise(run, result, options)
    if judged is not None:
        console.answer(f"its verdict says otherwise: {judged}; `judge` judges the run again")
    return exit_code_of(result)


def _judged_otherwise(run: RunDirectory, result: TraceResult, options: TraceOptions) -> str | None:
    return ended_otherwise(run, result) if options.rules_of is None else None


def _tell_not_run(console: Console, run: RunDirectory, reason: str, options: TraceOptions) -> int:
    """Say that there is no trace; not among events, which a program reads."""
    if options.dumps_events:
        console.complain(f"{run.path.name} was not run: {reason}")
    elif console.as_json:
        console.answer_json({"is_checked": False, "not_run": reason})
    else:
        console.answer(f"{run.path.name} was not run: {reason}")
    return EXIT_CODES[Conformance.NOT_RUN]


def require_schedule(run: RunDirectory) -> None:
    """Refuse a run without a schedule that can be followed.

    Raises:
        RunDirectoryError: there is none, as of an examination, or it is not what the tester writes.
    """
    if read_run(run).is_examination and not run.has(SCHEDULE_FILE):
        frames = f"its frames are in {WIRE_FILE}, but" if run.has(WIRE_FILE) else f"it has no {WIRE_FILE}, and"
        raise RunDirectoryError(f"{run.path} is of an examination: {frames} there is no schedule to replay frames by")
    read_schedule(run)


def _as_json(result: TraceResult) -> dict[str, Any]:
    violation = (
        {} if result.violation is None else {"violation": as_plain(result.violation) | {"text": result.violation.text}}
    )
    return {**as_plain(result), "is_checked": result.why_not is None, "is_whole": result.is_whole, **violation}


def _dumped(console: Console, run: RunDirectory) -> int:
    for event in events_of_run(run):
        console.answer(json.dumps(event_as_json(event)), as_it_is=True)
    return 0


def events_of_run(run: RunDirectory) -> Iterator[Told]:
    """Yield a run's events.

    Raises:
        TraceUnreadableError: a file is missing or cut short, or holds what the tester does not write.
    """
    try:
        yield from EventStream(run)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise TraceUnreadableError(f"a line is none that the tester writes: {error!r}") from error


def _tell(console: Console, run: RunDirectory, replay: Replay, options: TraceOptions) -> None:
    notes, telling = _Notes(run), TraceLines()
    for event, violation in replay.replayed():
        for heading in notes.made_by(event.at):
            for line in telling.rest():
                console.answer(f"{'':{INDENT}}{line}")
            console.answer(heading)
        lines = [event_text(event)] if options.shows_all or violation is not None else telling.lines(event)
        for line in lines:
            console.answer(f"{replay.seconds(event.at):9.3f}{_frame(event)}  {line}")
        if violation is not None:
            console.answer(f"{'':{INDENT}}^ no rule allows this")
    for line in telling.rest():
        console.answer(f"{'':{INDENT}}{line}")


def _frame(event: Told) -> str:
    return " " * 7 if event.frame is None else f" #{event.frame:<5}"


class _Notes:
    """What the tester noted of steps and held frames, each told once its time has come."""

    def __init__(self, run: RunDirectory) -> None:
        self._coming = deque(mark for mark in read_timeline(run) if _is_told(mark.event))

    def made_by(self, at: int) -> Iterator[str]:
        """Return what had been noted by then and was not told."""
        while self._coming and self._coming[0].t_ns <= at:
            mark = self._coming.popleft()
            is_step = mark.event is Event.STEP_STARTED
            yield f"\nstep {(mark.step or 0) + 1}: {mark.text}" if is_step else f"{'':{INDENT}}hold {mark.text}"


def _is_told(event: Event) -> bool:
    return event is Event.STEP_STARTED or event.startswith(HOLD)


# Which options does ``trace`` have? Its part of the command line.


DESCRIPTION = """Tells the wire trace of a run as the model reads it, step by step, and whether a rule of the release
allows every event of it. Between the brokers, and between them and the controller, every frame is two
events: sent, and received. A follower's FETCH shows its log end offset, the leader's answer its high watermark,
LeaderAndIsr or the metadata log who leads; what was done to brokers, what producers were told and what
probes measured comes in between. What the frames do not show is inferred, and where two things may
be true both are kept, until a frame decides."""
EPILOG = """how to read it:
  seconds since the trace began, #number of the frame in wire.ndjson, what it shows. Fetches that bring no news
  are counted, not told (--all tells them). A frame that reached its receiver late was held.
  At the end: how often each wire invariant held. One that was never exercised proves nothing. A check stops at the
  first event that is not allowed: what comes after it was not looked at.

examples:
  kafka-conformance trace runs/RUN                        the story of the wire, and the verdict
  kafka-conformance trace runs/RUN --rules-of 0.10.2      where an old release would have done otherwise
  kafka-conformance trace runs/RUN --json                 only what came out, as in trace_check.json
  kafka-conformance trace runs/RUN --events > e.ndjson    the events themselves, one a line

exit codes: 0 allowed, 1 an event that no rule allows, 2 usage, 4 not checked (no trace, cut short, undecoded frames)
"""


def add_trace(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument("--rules-of", metavar="VERSION", help="check with another release's rules")
    parser.add_argument("--metadata", choices=("zookeeper", "kraft"), help="metadata mode of those rules")
    parser.add_argument("--all", action="store_true", help="tell every event, also those without news")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--events", action="store_true", help="only the events, one JSON value a line; checks nothing")
    add_json(form)
    parser.set_defaults(command=_trace)


def _trace(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.events:
        refuse(parsed, ["--rules-of", "--metadata"], "is about the check, and --events checks nothing.")
    if parsed.events or parsed.json:
        refuse(parsed, ["--all"], "is about the story, which --events and --json do not tell.")
    options = TraceOptions(parsed.run, parsed.rules_of, parsed.metadata, parsed.all, parsed.events)
    return tell_trace(console, options)


# How is an event written down as one JSON value?
#
# ``{"event": "FetchSent", "at": …, …}``: fields at their default are left out, a partition is ``topic-0``.


def event_as_json(event: Told) -> dict[str, Any]:
    """Return an event as a JSON value."""
    names, defaults = event.__struct_fields__, event.__struct_defaults__
    required = (NODEFAULT,) * (len(names) - len(defaults))
    told = {
        name: _plain(value)
        for name, default in zip(names, (*required, *defaults), strict=True)
        if (value := getattr(event, name)) != default
    }
    return {"event": type(event).__name__, **told}


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    match value:
        case TopicPartition(topic, partition):
            return f"{topic}-{partition}"
        case EpochEnd(leader_epoch, end_offset):
            return [leader_epoch, end_offset]
        case tuple():
            return [_plain(item) for item in value]
        case _:
            return value
