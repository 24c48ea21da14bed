"""Is each invariant's violation caught, at the event that breaks it, by its own check and by no other?

Every case doctors one event of a real trace. The check must end there, and say which invariant broke; with
that invariant alone not enforced, the same trace must pass: so that no other check catches it by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from oracle.log import EpochEnd
from oracle.tracing.invariants import Invariant
from oracle.tracing.observed import (
    Acknowledged,
    FetchAnswered,
    FetchSent,
    IsrAnnounced,
    IsrProposed,
    LookupAnswered,
    LookupSent,
    MinIsrSet,
    Refused,
    ReplicaMeasured,
)
from oracle.vocabulary import Acks
from tests.oracle.tracing.recording import ALL, recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.tracing.observed import Event

Change = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Doctored:
    """One event of a recorded trace, changed.

    Attributes:
        trace: name of the recording.
        place: the number of the event.
        kind: its type, so that a new recording is noticed.
        change: its changed fields, from the event.
        caught_at: the event that is refused, if it is a later one.
    """

    trace: str
    place: int
    kind: type
    change: Callable[[Any], Change]
    caught_at: int | None = None

    def events(self) -> list[Event]:
        """Return the doctored trace."""
        events = list(recording(self.trace).events)
        event = events[self.place]
        assert isinstance(event, self.kind), event
        events[self.place] = replace(event, **self.change(event))
        return events


def first_run(answer: FetchAnswered, **change: int) -> Change:
    """Change the first run of records in an answer."""
    run, *rest = answer.runs
    return {"runs": (run._replace(**change), *rest)}


CASES: dict[str, tuple[Invariant, Doctored]] = {
    "the high watermark runs ahead of the followers": (
        Invariant.HIGH_WATERMARK_OF_LEADER,
        Doctored("4.3.1-kraft-below-min-isr", 104, FetchAnswered, lambda e: {"high_watermark": e.high_watermark + 1}),
    ),
    "the high watermark falls": (
        Invariant.HIGH_WATERMARK_OF_LEADER,
        Doctored("4.3.1-kraft-below-min-isr", 104, FetchAnswered, lambda e: {"high_watermark": e.high_watermark - 1}),
    ),
    "an acknowledged record is above the high watermark": (
        Invariant.ACKNOWLEDGEMENT,
        Doctored("4.3.1-kraft-tr-05", 29, Acknowledged, lambda e: {"last_offset": e.last_offset + 1}),
    ),
    "acks=all is acknowledged below min.insync.replicas": (
        Invariant.ACKNOWLEDGEMENT,
        Doctored("4.3.1-kraft-tr-05", 0, MinIsrSet, lambda _: {"min_insync_replicas": 2}, caught_at=62),
    ),
    "a record is refused although the ISR is full": (
        Invariant.ACKNOWLEDGEMENT,
        Doctored("4.3.1-kraft-below-min-isr", 0, MinIsrSet, lambda _: {"min_insync_replicas": 1}, caught_at=50),
    ),
    "a follower skips a record": (
        Invariant.FETCH_OFFSET,
        Doctored("4.3.1-kraft-tr-05", 33, FetchSent, lambda e: {"fetch_offset": e.fetch_offset + 1}),
    ),
}


def case_names() -> list[str]:
    """Return the names of the cases."""
    return list(CASES)


@pytest.mark.parametrize("case", case_names())
def test_a_doctored_trace_is_caught(case: str) -> None:
    invariant, doctored = CASES[case]
    report = recording(doctored.trace).check(doctored.events())
    assert report.violation is not None
    caught_at = doctored.place if doctored.caught_at is None else doctored.caught_at
    assert sum(report.events.values()) - 1 == caught_at, str(report.violation)
    assert report.violation.invariant is invariant, str(report.violation)
    assert report.violation.event == doctored.events()[caught_at]
    assert report.violation.allowed
    assert report.violation.rule


@pytest.mark.parametrize("case", case_names())
def test_only_its_own_check_catches_it(case: str) -> None:
    invariant, doctored = CASES[case]
    others = [each for each in ALL if each is not invariant]
    report = recording(doctored.trace).check(doctored.events(), enforced=others)
    assert report.violation is None, str(report.violation)
