"""``trace``: what did the wire of a run show, event by event, and what does the model say of it?"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.commands.opened_run import open_run
from conformance.commands.other_rules import other_rules
from conformance.commands.stored_verdict import ended_otherwise
from conformance.commands.trace_telling import Telling
from conformance.judgement.verdicts import EXIT_CODES, Conformance
from conformance.observation.check import begin_replay, check_again, own_rules
from conformance.observation.errors import TraceUnreadableError
from conformance.observation.event_json import event_as_json
from conformance.observation.event_stream import EventStream
from conformance.observation.event_text import event_text
from conformance.observation.trace_result import TraceResult
from conformance.run_directory import RunDirectoryError
from conformance.spark_extra import require_spark
from conformance.stages.beginning import EXAMINATION
from conformance.wire_trace.frame import WIRE_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.console import Console
    from conformance.observation.check import Replay
    from conformance.run_directory import RunDirectory
    from oracle.tracing.observed import Event


INDENT = 18
STEP, HOLD = "step_started", "hold_"


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
    reason = run.read_json("run.json").get("not_run")
    if reason:
        return _tell_not_run(console, run, reason, options)
    _require_schedule(run)
    version, metadata = other_rules(run, options.rules_of, options.metadata) or own_rules(run.read_json("run.json"))
    try:
        if options.dumps_events:
            return _dumped(console, run)
        if console.as_json:
            result = check_again(run, version, metadata)
            judged = _judged_otherwise(run, result, options)
            console.answer_json(result.as_json() | ({} if judged is None else {"judged_otherwise": judged}))
            return _exit_code(result)
        replay = begin_replay(run, version, metadata)
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
    return _exit_code(result)


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


def _require_schedule(run: RunDirectory) -> None:
    """Refuse a run without a schedule that can be followed.

    Raises:
        RunDirectoryError: there is none, as of an examination, or it is not what the tester writes.
    """
    path = run.path / "schedule.json"
    if run.read_json("run.json").get("kind") == EXAMINATION and not path.exists():
        is_watched = (run.path / WIRE_FILE).exists()
        frames = f"its frames are in {WIRE_FILE}, but" if is_watched else f"it has no {WIRE_FILE}, and"
        raise RunDirectoryError(f"{run.path} is of an examination: {frames} there is no schedule to replay frames by")
    schedule: object = run.read_json(path.name)
    if not isinstance(schedule, dict) or not isinstance(schedule.get("settings"), dict):
        raise RunDirectoryError(f"{path} cannot be read: it is no schedule of a run")


def _dumped(console: Console, run: RunDirectory) -> int:
    for event in _events(run):
        console.answer(json.dumps(event_as_json(event)))
    return 0


def _events(run: RunDirectory) -> Iterator[Event]:
    """Give a run's events.

    Raises:
        TraceUnreadableError: a file is missing or cut short, or holds what the tester does not write.
    """
    try:
        yield from EventStream(run)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise TraceUnreadableError(f"a line is none that the tester writes: {error!r}") from error


def _exit_code(result: TraceResult) -> int:
    if result.violation is not None:
        return EXIT_CODES[Conformance.DEVIATES]
    return EXIT_CODES[Conformance.HARNESS_ERROR if result.why_not is not None else Conformance.CONFORMS]


def _tell(console: Console, run: RunDirectory, replay: Replay, options: TraceOptions) -> None:
    notes, telling = _Notes(run), Telling()
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


def _frame(event: Event) -> str:
    return " " * 7 if event.frame is None else f" #{event.frame:<5}"


class _Notes:
    """What the tester noted of steps and held frames, each told once its time has come."""

    def __init__(self, run: RunDirectory) -> None:
        self._coming = deque(note for note in run.lines("timeline.ndjson") if _is_told(note["event"]))

    def made_by(self, at: int) -> Iterator[str]:
        """Give what had been noted by then and was not told."""
        while self._coming and self._coming[0]["t_ns"] <= at:
            note = self._coming.popleft()
            is_step = note["event"] == STEP
            yield f"\nstep {note['step'] + 1}: {note['text']}" if is_step else f"{'':{INDENT}}hold {note['text']}"


def _is_told(event: str) -> bool:
    return event == STEP or event.startswith(HOLD)


def verdict_lines(result: TraceResult) -> Iterator[str]:
    """Tell what came out, line by line."""
    checked = ", ".join(f"{count} {api}" for api, count in result.checked.items())
    yield f"\n{result.frames} frames, of which the model was shown {checked or 'none'}; {result.events} events"
    yield f"by the rules of {result.rules_of}:"
    for invariant in result.invariants:
        times = "time" if invariant.held == 1 else "times"
        held = f"held {invariant.held} {times}" if invariant.held else "never exercised"
        yield f"  {invariant.number} {held:>18}  {invariant.statement}"
    if result.violation is not None:
        yield f"\nnot allowed: {result.violation.text}"
        for frame in result.violation.frames:
            mark = ">" if frame.seq == result.violation.frame else " "
            yield f"{mark} {frame.at_s:9.3f} #{frame.seq:<5} {frame.text}"
    if result.why_not is not None:
        yield f"\nnot checked: {result.why_not}"
    elif result.violation is None:
        yield "\nevery event is one that the rules allow"
