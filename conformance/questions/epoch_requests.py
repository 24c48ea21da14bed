"""What does a follower ask first, what is it told, and what by a zombie leader? Questions about one link.

| releases | before its first fetch | in its fetches |
|---|---|---|
| up to 0.10.2 | nothing: it has cut its log to its high watermark | the fetch offset |
| 0.11 to 2.7 | OffsetsForLeaderEpoch with its last epoch | the fetch offset |
| 2.8 and newer | nothing | the fetch offset and its last epoch |

Choices: what a follower repeats because it was answered with an error counts once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, ScheduleQuestion
from conformance.notes import first_at, last_at, step_began
from conformance.questions.epoch_files import has_epochs, worlds
from conformance.record.timeline import Event
from conformance.record.wire import EPOCH_LOOKUP, FETCH
from conformance.wire_trace.fetches import epoch_lookups, fetch_rounds
from conformance.wire_trace.partition import mentions, requests
from oracle.error_codes import ErrorCode
from oracle.steps.brokers import Start
from oracle.vocabulary import BrokerId, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from conformance.catalogue.questions import Expected
    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from conformance.record.prediction import FrozenPrediction
    from conformance.wire_trace.partition import Mention
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.world import World

    Measure: TypeAlias = Callable[[RunDirectory], Value]


def first_requests(schedule: Schedule, *, follower: int, leader: int) -> ScheduleQuestion:
    """Ask what a restarted follower asks its leader, up to its first fetch."""
    step = _start_of(schedule, follower)
    what = f"what broker {follower} asks broker {leader} after its start, up to its first fetch"
    return ScheduleQuestion(
        what,
        lambda rules, _: expected_requests(schedule, rules, follower),
        lambda run: measured_requests(run, follower, leader, step),
    )


def _start_of(schedule: Schedule, broker: int) -> int:
    return next(i for i, step in enumerate(schedule.steps) if isinstance(step, Start) and step.broker == broker)


def _before_start(schedule: Schedule, rules: RuleSet, follower: int) -> World:
    return worlds(schedule, rules)[_start_of(schedule, follower)]


def expected_requests(schedule: Schedule, rules: RuleSet, follower: int) -> Expected:
    """Predict the requests of a follower that is started: by the log that it has on its disk then."""
    replica = _before_start(schedule, rules, follower).state.replica(BrokerId(follower))
    end, epoch = int(replica.log.log_end_offset), int(replica.log.latest_epoch)
    if not has_epochs(rules):
        return [fetch_text(min(end, int(replica.checkpointed_high_watermark)))]
    if rules.truncation.checks_on_fetch:
        return [fetch_text(end, epoch)]
    return [lookup_text(epoch), fetch_text(end)]


def fetch_text(offset: int, epoch: int = -1) -> str:
    """Return what a fetch asks for; epoch -1: it names none."""
    return f"fetch from {offset}" + (f", last epoch {epoch}" if epoch >= 0 else "")


def lookup_text(epoch: int) -> str:
    """Return what OffsetsForLeaderEpoch asks for."""
    return f"where does epoch {epoch} end"


def measured_requests(run: RunDirectory, follower: int, leader: int, step: int) -> Value:
    """Return what a follower asked from a step on, up to its first fetch, each request once.

    Raises:
        NotSeenError: the step was never taken, or the follower never fetched.
    """
    asked: list[Value] = []
    for mention in requests(run, source=follower, destination=leader, since_ns=step_began(run, step)):
        if (text := _text(mention)) not in asked:
            asked.append(text)
        if mention.frame.api == FETCH:
            return asked
    raise NotSeenError(f"broker {follower} sent broker {leader} no fetch after its start")


def _text(mention: Mention) -> str:
    api, entry = mention.frame.api, mention.entry
    if api == FETCH:
        return fetch_text(entry.fetch_offset, entry.last_fetched_epoch)
    return lookup_text(entry.leader_epoch) if api == EPOCH_LOOKUP else str(api)


def end_of_epoch_told(schedule: Schedule, *, follower: int, leader: int) -> ScheduleQuestion:
    """Ask where the leader says that the restarted follower's last epoch ends; none: it is not asked."""

    def predict(rules: RuleSet, _: FrozenPrediction) -> Expected:
        if not rules.truncation.asks_leader:
            return None
        state = _before_start(schedule, rules, follower).state
        epoch = state.replica(BrokerId(follower)).log.latest_epoch
        end = rules.truncation.end_offset_for(state.replica(BrokerId(leader)).log, epoch).end_offset
        return None if end is None else int(end)

    step = _start_of(schedule, follower)
    what = f"where broker {leader} says that the last epoch of broker {follower} ends"
    return ScheduleQuestion(what, predict, lambda run: measured_end_of_epoch(run, follower, leader, step))


def measured_end_of_epoch(run: RunDirectory, follower: int, leader: int, step: int) -> Value:
    """Return the end offset in the first OffsetsForLeaderEpoch answer without an error, from a step on."""
    since = step_began(run, step)
    for frame, entry in mentions(run):
        is_answer = frame.is_answer(EPOCH_LOOKUP) and frame.is_between(follower, leader)
        if is_answer and frame.arrived_ns >= since and not entry.error:
            end: int = entry.end_offset
            return end
    return None


def errors_of_a_zombie(schedule: Schedule, *, follower: int, leader: int, heard: str) -> ScheduleQuestion:
    """Ask with which error codes a restarted leader answers a follower until the release of a hold.

    Others than "served", "fenced" and "unknown epoch" are left out: until the leader has heard that it leads, it has
    several ways to say so.
    """
    begin = next(i for i, step in enumerate(schedule.steps) if isinstance(step, Start) and step.broker == leader)

    def predict(rules: RuleSet, _: FrozenPrediction) -> Expected:
        return [ErrorCode.NONE if rules.serves_epoch(LeaderEpoch(0), LeaderEpoch(2)) else ErrorCode.FENCED_LEADER_EPOCH]

    def measure(run: RunDirectory) -> Value:
        return errors_between(run, (follower, leader), begin, heard)

    what = f"error codes that broker {leader}, elected again, answers fetches of broker {follower} with"
    return ScheduleQuestion(what, predict, measure)


def errors_between(run: RunDirectory, link: tuple[int, int], step: int, released: str) -> Value:
    """Return the different error codes in answers to fetches on a link, from a step until a hold is released.

    Raises:
        NotSeenError: no fetch was served or refused for its epoch.
    """
    begin, end = step_began(run, step), first_at(run, Event.HOLD_RELEASED, released)
    codes = {
        int(entry.error)
        for frame, entry in mentions(run)
        if frame.is_answer(FETCH) and frame.is_between(*link) and begin <= frame.arrived_ns < end
    } & {ErrorCode.NONE, ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH}
    if not codes:
        raise NotSeenError(
            f"broker {link[1]} served and fenced no fetch of broker {link[0]} before {released!r} was released"
        )
    return [*sorted(codes)]


# How does a follower learn where its last epoch ends? Measured on one link, from the frames after a restart.


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
