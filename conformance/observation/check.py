"""Does the wire trace of a run show only what the rules of its release allow?

The run's files are replayed as events by the oracle. Whatever comes out is written to ``trace_check.json``; a
trace that is missing, cut short or cannot be read makes a result that says why it was not checked.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from conformance.observation.errors import TraceUnreadableError
from conformance.observation.event_stream import EventStream
from conformance.observation.story_events import MIN_ISR
from conformance.observation.trace_result import (
    TRACE_CHECK_FILE,
    InvariantCount,
    TraceResult,
    TraceViolation,
)
from oracle.rules.by_version import rules_for
from oracle.trace_check import TraceCheck, TraceSettings
from oracle.tracing.invariants import STATEMENTS, Invariant
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.run_directory import RunDirectory
    from oracle.trace_check import TraceReport
    from oracle.tracing.invariants import Violation
    from oracle.tracing.observed import Event

LAG_TIME = "replica.lag.time.max.ms"


def check_trace(run: RunDirectory, rules_of: tuple[str, str] | None = None) -> TraceResult:
    """Replay a run's trace and write what came out to trace_check.json.

    Args:
        run: a run whose schedule was taken on brokers.
        rules_of: release and metadata mode whose rules to use; None takes the run's own.
    """
    about = run.read_json("run.json")
    version, metadata = rules_of or own_rules(about)
    result = _checked(run, version, metadata)
    run.write_json(TRACE_CHECK_FILE, result.as_json())
    return result


def own_rules(about: Mapping[str, Any]) -> tuple[str, str]:
    """Give the release and the metadata mode by whose rules a run is judged."""
    return about.get("rules_of") or about["kafka"], about.get("rules_metadata") or about["metadata"]


def settings_of(run: RunDirectory) -> TraceSettings:
    """Give what the run's brokers were configured with, as far as a trace shows it."""
    imposed = run.read_json("run.json").get("settings", {}).get("imposed", {})
    topic = run.read_json("schedule.json")["settings"]
    known = {"lag_time_max_ms": int(imposed[LAG_TIME])} if LAG_TIME in imposed else {}
    return TraceSettings(min_insync_replicas=topic[MIN_ISR], **known)


def _checked(run: RunDirectory, version: str, metadata: str) -> TraceResult:
    rules_of = f"{version} {metadata}"
    began = time.monotonic()
    try:
        stream = EventStream(run)
    except TraceUnreadableError as error:
        return TraceResult(rules_of, why_not=str(error), invariants=_counts({}))
    replay = Replay(stream, TraceCheck(rules_for(version, MetadataMode(metadata)), settings_of(run)))
    why_not = replay.run()
    report = replay.check.finish()
    return TraceResult(
        rules_of,
        why_not=why_not or _not_followed(report),
        violation=replay.violation,
        frames=stream.moments.lines,
        checked=dict(sorted(stream.frames.checked.items())),
        events=replay.events,
        invariants=_counts(report.held),
        seconds=round(time.monotonic() - began, 3),
    )


def _not_followed(report: TraceReport) -> str | None:
    """Say why nothing of the topic could be replayed; None if all of it was."""
    if report.not_followed:
        topic, partition = report.not_followed[0]
        return f"it does not show how {topic}-{partition} came to be"
    return None if report.partitions else "it shows nothing of the topic"


def _counts(held: Mapping[Invariant, int]) -> tuple[InvariantCount, ...]:
    return tuple(
        InvariantCount(invariant.value, invariant.name.lower(), STATEMENTS[invariant], held.get(invariant, 0))
        for invariant in Invariant
    )


class Replay:
    """Feeds a stream to a check until an event is not allowed.

    Attributes:
        check: the oracle's.
        events: how many events were fed.
        violation: the first event that no rule allows; None so far.
    """

    def __init__(self, stream: EventStream, check: TraceCheck) -> None:
        self._stream = stream
        self.check = check
        self.events = 0
        self.violation: TraceViolation | None = None

    def run(self) -> str | None:
        """Replay everything; give why the trace cannot be relied on, None if it can."""
        try:
            for _ in self.replayed():
                pass
        except TraceUnreadableError as error:
            return str(error)
        except Exception as defect:  # noqa: BLE001 - a check that breaks down has found nothing, and passed nothing
            return f"defect in the tester, at event {self.events}: {defect!r}"
        return None

    def replayed(self) -> Iterator[tuple[Event, Violation | None]]:
        """Give each event with what the check says; after a violation the rest is read, not replayed.

        Raises:
            TraceUnreadableError: the trace cannot be relied on.
        """
        violation: Violation | None = None
        try:
            for event in self._stream:
                if violation is None:
                    self.events += 1
                    violation = self.check.feed(event)
                    if violation is not None:
                        self._stream.nearby.stop_soon()
                    yield event, violation
        finally:
            self.violation = self._described(violation) if violation is not None else None

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
