"""What is a follower answered whose leader is in a later epoch? A question about the errors on one link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.catalogue.questions import NotSeenError, Question
from conformance.notes import first_at, step_began
from conformance.wire_trace.frame import FETCH
from conformance.wire_trace.partition import mentions
from oracle.steps import Start
from oracle.vocabulary import LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.catalogue.questions import Expected, Value
    from conformance.run_directory import RunDirectory
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule

SERVED, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = 0, 74, 75


def errors_of_a_zombie(schedule: Schedule, *, follower: int, leader: int, heard: str) -> Question:
    """Ask with which error codes a restarted leader answers a follower until the release of a hold.

    Others than "served", "fenced" and "unknown epoch" are left out: until the leader has heard that it leads, it has
    several ways to say so.
    """
    begin = next(i for i, step in enumerate(schedule.steps) if isinstance(step, Start) and step.broker == leader)

    def predict(rules: RuleSet, _: Mapping[str, Any]) -> Expected:
        return [SERVED if rules.serves_epoch(LeaderEpoch(0), LeaderEpoch(2)) else FENCED_LEADER_EPOCH]

    def measure(run: RunDirectory) -> Value:
        return errors_between(run, (follower, leader), begin, heard)

    what = f"error codes that broker {leader}, elected again, answers fetches of broker {follower} with"
    return Question(what, predict, measure)


def errors_between(run: RunDirectory, link: tuple[int, int], step: int, released: str) -> Value:
    """Return the different error codes in answers to fetches on a link, from a step until a hold is released.

    Raises:
        NotSeenError: no fetch was served or refused for its epoch.
    """
    begin, end = step_began(run, step), first_at(run, "hold_released", released)
    codes = {
        int(entry.get("error", SERVED))
        for frame, entry in mentions(run)
        if frame.is_answer(FETCH) and frame.is_between(*link) and begin <= frame.arrived_ns < end
    } & {SERVED, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH}
    if not codes:
        raise NotSeenError(
            f"broker {link[1]} served and fenced no fetch of broker {link[0]} before {released!r} was released"
        )
    return [*sorted(codes)]
