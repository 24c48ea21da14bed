"""How does a follower learn where its last epoch ends? Measured on one link, from the frames after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError
from conformance.notes import last_at
from conformance.wire_trace.fetch_rounds import epoch_lookups, fetch_rounds

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from conformance.record.timeline import Event
    from oracle.rules.rule_set import RuleSet

    Measure: TypeAlias = Callable[[RunDirectory], Value]

ASKED, TOLD, NOTHING = "an answer to OffsetsForLeaderEpoch", "a diverging epoch in a fetch answer", "nothing"


def expected_way(rules: RuleSet, *, diverges: bool) -> str:
    """Return how a release tells a follower where its last epoch ends, and whether there is anything to tell."""
    if rules.truncation.asks_leader:
        return ASKED
    return TOLD if rules.truncation.checks_on_fetch and diverges else NOTHING


def way_told(follower: int, leader: int, since: tuple[Event, str]) -> Measure:
    """Measure by which kind of answer the follower was told, after an event of the timeline (event, subject)."""

    def measure(run: RunDirectory) -> Value:
        began_ns = last_at(run, *since)
        if any(lookup.sent_ns > began_ns for lookup in epoch_lookups(run, follower=follower, leader=leader)):
            return ASKED
        rounds = fetch_rounds(run, follower=follower, leader=leader)
        return TOLD if any(one.sent_ns > began_ns and one.diverging_end is not None for one in rounds) else NOTHING

    return measure


def end_told(follower: int, leader: int, since: tuple[Event, str]) -> Measure:
    """Measure the end offset that the follower was told first after an event; None if it was told none."""

    def measure(run: RunDirectory) -> Value:
        began_ns = last_at(run, *since)
        lookups = epoch_lookups(run, follower=follower, leader=leader)
        rounds = fetch_rounds(run, follower=follower, leader=leader)
        asked = [lookup.end_offset for lookup in lookups if lookup.sent_ns > began_ns]
        told = [one.diverging_end for one in rounds if one.sent_ns > began_ns and one.diverging_end is not None]
        return next(iter((*asked, *told)), None)

    return measure


def first_fetch_with_records(follower: int, leader: int, since: tuple[Event, str]) -> Measure:
    """Measure the offset of the first fetch after an event that was answered with records."""

    def measure(run: RunDirectory) -> Value:
        began_ns = last_at(run, *since)
        for one in fetch_rounds(run, follower=follower, leader=leader):
            if one.sent_ns > began_ns and one.last_offset is not None:
                return one.fetch_offset
        raise NotSeenError(f"broker {follower} got no records from broker {leader} after {' '.join(since)}")

    return measure


def epoch_asked(follower: int, leader: int, since: tuple[Event, str]) -> Measure:
    """Measure the epoch of the follower's first lookup after an event; None if it sent none."""

    def measure(run: RunDirectory) -> Value:
        began_ns = last_at(run, *since)
        lookups = epoch_lookups(run, follower=follower, leader=leader)
        return next((lookup.leader_epoch for lookup in lookups if lookup.sent_ns > began_ns), None)

    return measure
