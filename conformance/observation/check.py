"""Does the wire trace of a run show only what the rules of its release allow?

The run's files are replayed as events by the oracle. Whatever comes out is written to ``trace_check.json``; a
trace that is missing, cut short or cannot be read makes a result that says why it was not checked.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.observation.errors import FramesMissingError, TraceUnreadableError
from conformance.observation.event_stream import EventStream
from conformance.record.run import read_run
from conformance.record.schedule import read_schedule
from conformance.record.trace_check import InvariantCount, TraceResult, TraceViolation, write_trace_check
from oracle.rules import message_format
from oracle.rules.by_version import rules_for
from oracle.trace_check import TraceCheck, TraceSettings
from oracle.tracing.invariants import STATEMENTS, Invariant
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.record.directory import RunDirectory
    from oracle.rules.rule_set import RuleSet
    from oracle.trace_check import TraceReport
    from oracle.tracing.invariants import Violation
    from oracle.tracing.observed import Event

LAG_TIME = "replica.lag.time.max.ms"


def check_trace(run: RunDirectory, rules: RuleSet | None = None) -> TraceResult:
    """Replay a run's trace and write what came out to trace_check.json.

    Args:
        run: a run whose schedule was taken on brokers.
        rules: another release's; None takes those that the run is judged by.
    """
    result = check_again(run, rules or rules_of_run(run))
    write_trace_check(run, result)
    return result


def settings_of(run: RunDirectory) -> TraceSettings:
    """Return what the run's brokers were configured with, as far as a trace shows it."""
    imposed = read_run(run).settings.imposed
    lag_time_max_ms = int(imposed.get(LAG_TIME, TraceSettings().lag_time_max_ms))
    return TraceSettings(
        min_insync_replicas=read_schedule(run).settings.min_insync_replicas, lag_time_max_ms=lag_time_max_ms
    )


def rules_of_run(run: RunDirectory) -> RuleSet:
    """Return the rules that a run is judged by."""
    version, metadata = read_run(run).rules
    return rules_for(version, MetadataMode(metadata))


def check_again(run: RunDirectory, rules: RuleSet) -> TraceResult:
    """Replay a run's trace by the rules of a release and write nothing."""
    began = time.monotonic()
    try:
        replay = begin_replay(run, rules)
    except TraceUnreadableError as error:
        return TraceResult(_name(rules), why_not=str(error), invariants=_counts({}))
    replay.run()
    return replace(replay.result(), seconds=round(time.monotonic() - began, 3))


def begin_replay(run: RunDirectory, rules: RuleSet) -> Replay:
    """Open a run's files to be replayed by the rules of a release.

    Raises:
        TraceUnreadableError: there is no trace, or it is cut short.
    """
    settings = read_schedule(run).settings
    adapted = message_format.adapted(rules, settings)
    return Replay(EventStream(run), TraceCheck(adapted, settings_of(run)), _name(rules))


def _name(rules: RuleSet) -> str:
    return f"{rules.version} {rules.metadata.value}"


def _why_not_all(report: TraceReport) -> str | None:
    """Return why not all of the topic could be replayed; None if it was."""
    if report.not_followed:
        topic, partition = report.not_followed[0]
        return f"it does not show how {topic}-{partition} came to be"
    for (topic, partition), why in report.left_open.items():
        return f"what it shows of {topic}-{partition} was left open: {why}"
    return None if report.partitions else "it shows nothing of the topic"


def _counts(held: Mapping[Invariant, int]) -> tuple[InvariantCount, ...]:
    return tuple(
        InvariantCount(invariant.value, invariant.name.lower(), STATEMENTS[invariant], held.get(invariant, 0))
        for invariant in Invariant
    )


class Replay:
    """Feeds a stream to a check until an event is not allowed.

    Attributes:
        violation: the first event that no rule allows; None so far, and if frames are missing that may allow it.
        why_not: why the trace cannot be relied on; None so far.
    """

    def __init__(self, stream: EventStream, check: TraceCheck, rules_of: str) -> None:
        self._stream = stream
        self._check = check
        self._rules_of = rules_of
        self._events = 0
        self.violation: TraceViolation | None = None
        self.why_not: str | None = None

    def run(self) -> None:
        """Replay everything."""
        for _ in self.replayed():
            pass

    def replayed(self) -> Iterator[tuple[Event, Violation | None]]:
        """Yield each event with what the check says; after a violation the rest is read, not replayed."""
        violation: Violation | None = None
        try:
            for event in self._stream:
                if violation is None:
                    self._events += 1
                    violation = self._check.feed(event)
                    if violation is not None:
                        self._stream.nearby.stop_soon(event.frame)
                    yield event, violation
        except FramesMissingError as error:
            self.why_not, violation = str(error), None
        except TraceUnreadableError as error:
            self.why_not = str(error)
        except Exception as defect:  # noqa: BLE001 - a check that breaks down has found nothing, and passed nothing
            self.why_not = f"defect in the tester, at event {self._events}: {defect!r}"
        self.violation = self._described(violation) if violation is not None else None

    def seconds(self, at: int) -> float:
        """Return a monotonic time as seconds since the trace began."""
        return self._stream.nearby.seconds(at)

    def result(self) -> TraceResult:
        """Return what came out, once everything was replayed."""
        report = self._check.finish()
        return TraceResult(
            self._rules_of,
            why_not=self.why_not or _why_not_all(report),
            violation=self.violation,
            frames=self._stream.moments.lines,
            checked=dict(sorted(self._stream.frames.checked.items())),
            events=self._events,
            invariants=_counts(report.held),
        )

    def _described(self, violation: Violation) -> TraceViolation:
        nearby = self._stream.nearby
        return TraceViolation(
            invariant=violation.invariant.value,
            name=violation.invariant.name.lower(),
            frame=violation.event.frame,
            at_s=nearby.seconds(violation.event.at),
            observed=violation.observed,
            allowed=violation.allowed,
            rule=violation.rule,
            frames=tuple(nearby.frames()),
        )
