"""Is each invariant's violation caught, at the event that breaks it, by its own check and by no other?

Every case doctors one event of a real trace. The check must end there, and say which invariant broke; with
that invariant alone not enforced, the same trace must pass: so that no other check catches it by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from oracle.log import EpochEnd
from oracle.replacing import replace
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


def told(change: int) -> Callable[[Any], Change]:
    """Change the high watermark in an answer or a measurement."""
    return lambda answer: {"high_watermark": answer.high_watermark + change}


CASES: dict[str, tuple[Invariant, Doctored]] = {
    "the high watermark runs ahead of the followers": (
        Invariant.HIGH_WATERMARK_OF_LEADER,
        Doctored("4.3.1-kraft-below-min-isr", 113, FetchAnswered, told(+1)),
    ),
    "the high watermark falls": (
        Invariant.HIGH_WATERMARK_OF_LEADER,
        Doctored("4.3.1-kraft-below-min-isr", 117, FetchAnswered, told(-1)),
    ),
    "an acknowledged record is above the high watermark": (
        Invariant.ACKNOWLEDGEMENT,
        Doctored("4.3.1-kraft-below-min-isr", 108, Acknowledged, lambda e: {"last_offset": e.last_offset + 1}),
    ),
    "acks=all is acknowledged below min.insync.replicas": (
        Invariant.ACKNOWLEDGEMENT,
        Doctored("2.8.2-zookeeper-el-02-safe", 0, MinIsrSet, lambda _: {"min_insync_replicas": 4}, caught_at=47),
    ),
    "acks=1 is refused for want of replicas": (
        Invariant.ACKNOWLEDGEMENT,
        Doctored("4.3.1-kraft-below-min-isr", 50, Refused, lambda _: {"acks": Acks.LEADER}),
    ),
    "a follower skips a record": (
        Invariant.FETCH_OFFSET,
        Doctored("4.3.1-kraft-below-min-isr", 92, FetchSent, lambda e: {"fetch_offset": e.fetch_offset + 1}),
    ),
    "a follower goes back without a cut": (
        Invariant.FETCH_OFFSET,
        Doctored("0.10.2.2-zookeeper-tr-01", 48, FetchSent, lambda e: {"fetch_offset": e.fetch_offset - 1}),
    ),
    "a follower tells the epoch of another record": (
        Invariant.FETCH_OFFSET,
        Doctored(
            "4.3.1-kraft-below-min-isr", 92, FetchSent, lambda e: {"last_fetched_epoch": e.last_fetched_epoch + 1}
        ),
    ),
    "a measured log end offset is another one": (
        Invariant.FETCH_OFFSET,
        Doctored("4.3.1-kraft-below-min-isr", 122, ReplicaMeasured, lambda e: {"log_end_offset": e.log_end_offset + 1}),
    ),
    "a lookup is answered with another end": (
        Invariant.EPOCH_ANSWER,
        Doctored("2.4.1-zookeeper-tr-02", 206, LookupAnswered, lambda e: {"end": EpochEnd(e.end.leader_epoch, 3)}),
    ),
    "a leader finds a divergence where there is none": (
        Invariant.EPOCH_ANSWER,
        Doctored("4.3.1-kraft-below-min-isr", 113, FetchAnswered, lambda _: {"diverging_epoch": EpochEnd(0, 3)}),
    ),
    "a leader sends records of an epoch that it never had": (
        Invariant.EPOCH_ANSWER,
        Doctored("2.4.1-zookeeper-lagging-follower", 27, FetchAnswered, lambda e: first_run(e, leader_epoch=7)),
    ),
    "a leader fences a follower of its own epoch": (
        Invariant.ERROR_CODE,
        Doctored("4.3.1-kraft-below-min-isr", 94, FetchAnswered, lambda _: {"error": 74, "high_watermark": -1}),
    ),
    "a leader says that it does not lead": (
        Invariant.ERROR_CODE,
        Doctored("0.10.2.2-zookeeper-tr-01", 50, FetchAnswered, lambda _: {"error": 6, "high_watermark": -1}),
    ),
    "the ISR grows by a replica that has not fetched": (
        Invariant.ISR_EXPANSION,
        Doctored("2.8.2-zookeeper-el-02-safe", 257, IsrProposed, lambda _: {"isr": (3, 1, 2)}),
    ),
    "a leader removes a replica that is in sync": (
        Invariant.ISR_SHRINK,
        Doctored("2.4.1-zookeeper-lagging-follower", 343, IsrAnnounced, lambda _: {"isr": (1,)}),
    ),
    "a follower's high watermark is above its end": (
        Invariant.HIGH_WATERMARK_OF_FOLLOWER,
        Doctored("4.3.1-kraft-below-min-isr", 122, ReplicaMeasured, lambda e: {"high_watermark": e.high_watermark + 1}),
    ),
    "a new leader forgets what it knew as a follower": (
        Invariant.HIGH_WATERMARK_OF_FOLLOWER,
        Doctored("2.4.1-zookeeper-tr-02", 217, ReplicaMeasured, told(-1)),
    ),
    "the high watermark rises below min.insync.replicas": (
        Invariant.FROZEN_HIGH_WATERMARK,
        Doctored("4.3.1-kraft-below-min-isr", 61, FetchAnswered, told(+1)),
    ),
    "a measured high watermark rises below min.insync.replicas": (
        Invariant.FROZEN_HIGH_WATERMARK,
        Doctored("4.3.1-kraft-below-min-isr", 51, ReplicaMeasured, lambda _: {"high_watermark": 2}),
    ),
    "a follower cuts elsewhere": (
        Invariant.TRUNCATION_OFFSET,
        Doctored("2.0.1-zookeeper-tr-05", 98, FetchSent, lambda e: {"fetch_offset": e.fetch_offset - 1}),
    ),
    "a follower speaks another release's FETCH": (
        Invariant.REQUEST_OF_RELEASE,
        Doctored("4.3.1-kraft-below-min-isr", 92, FetchSent, lambda e: {"api_version": e.api_version - 1}),
    ),
    "a lookup does not tell the epoch": (
        Invariant.REQUEST_OF_RELEASE,
        Doctored("2.4.1-zookeeper-divergence", 79, LookupSent, lambda _: {"current_leader_epoch": None}),
    ),
    "a leader speaks another release's AlterPartition": (
        Invariant.REQUEST_OF_RELEASE,
        Doctored("4.3.1-kraft-below-min-isr", 73, IsrProposed, lambda _: {"api_version": 2}),
    ),
}


def case_names() -> list[str]:
    """Return the names of the cases."""
    return list(CASES)


def test_every_invariant_has_a_case() -> None:
    assert {invariant for invariant, _ in CASES.values()} == set(Invariant)


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
