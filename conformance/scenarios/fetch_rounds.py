"""What did a follower ask its leader in a run, and what was it answered? Pairs of frames from wire.ndjson.

All times are nanoseconds of the tester's monotonic clock. A frame that stood in the gate counts once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from conformance.questions import NotSeenError
from conformance.scenarios.frames import times_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.run_directory import RunDirectory

Json: TypeAlias = dict[str, Any]
FETCH, EPOCH_LOOKUP = "Fetch", "OffsetForLeaderEpoch"


@dataclass(frozen=True, slots=True)
class FetchRound:
    """A follower's fetch and the answer to it, as far as they came.

    Attributes:
        max_wait_ms: how long the follower lets the leader park it.
        sent_ns: when the request came to the gate.
        reached_ns: when it went on to the leader; None if it never did.
        answered_ns: when the answer came to the gate; None if none came.
        delivered_ns: when the answer went on to the follower; None if it never did.
        high_watermark: the one in the answer.
        last_offset: that of the last record in the answer; None without records.
        diverging_end: where the answer says that the follower's last epoch ends (KIP-595); None if it does not.
    """

    fetch_offset: int
    max_wait_ms: int
    sent_ns: int
    reached_ns: int | None
    answered_ns: int | None = None
    delivered_ns: int | None = None
    error: int | None = None
    high_watermark: int | None = None
    last_offset: int | None = None
    diverging_end: int | None = None


@dataclass(frozen=True, slots=True)
class EpochLookup:
    """An answered OffsetsForLeaderEpoch; -1 stands for no epoch and for an end that the leader cannot tell."""

    leader_epoch: int
    end_offset: int
    sent_ns: int


def fetch_rounds(run: RunDirectory, *, follower: int, leader: int) -> list[FetchRound]:
    """Return the fetches of the run's partition on one link, in the order in which they were sent."""
    return [
        _round(request, asked, answer, told)
        for request, asked, answer, told in _exchanges(run, FETCH, follower, leader)
    ]


def epoch_lookups(run: RunDirectory, *, follower: int, leader: int) -> list[EpochLookup]:
    """Return the lookups on one link that were answered without an error, in the order in which they were sent."""
    return [
        EpochLookup(asked["leader_epoch"], told["end_offset"], request["arrived_ns"])
        for request, asked, _, told in _exchanges(run, EPOCH_LOOKUP, follower, leader)
        if told is not None and told["error"] == 0
    ]


def reached_between(rounds: Iterable[FetchRound], begin_ns: int, end_ns: int) -> list[FetchRound]:
    """Return the rounds whose request reached the leader within a time."""
    return [one for one in rounds if one.reached_ns is not None and begin_ns < one.reached_ns < end_ns]


def measured_at(run: RunDirectory, checkpoint: str) -> int:
    """Return when a checkpoint's numbers were measured.

    Raises:
        NotSeenError: it never was.
    """
    for seen in run.lines("observations.ndjson"):
        if seen["kind"] == "checkpoint" and seen["name"] == checkpoint:
            at_ns: int = seen["t_ns"]
            return at_ns
    raise NotSeenError(f"no checkpoint {checkpoint!r} was measured")


def marked_at(run: RunDirectory, event: str, subject: str) -> int:
    """Return when an event of the timeline happened last.

    Raises:
        NotSeenError: it never did.
    """
    return times_of(run, event, subject)[-1]


def _exchanges(
    run: RunDirectory, api: str, follower: int, leader: int
) -> Iterator[tuple[Json, Json, Json | None, Json | None]]:
    """Yield (request, what it asks of the partition, answer, what that tells of it)."""
    names = _names(run)
    link = [
        line
        for line in run.lines("wire.ndjson")
        if (line.get("api"), line.get("source"), line.get("destination")) == (api, follower, leader)
    ]
    last = {line["seq"]: line for line in link}  # the line of a held frame's fate comes after that of its catch
    answers = {_exchange(line): line for line in last.values() if line["direction"] == "response"}
    for request in sorted((line for line in last.values() if line["direction"] == "request"), key=_arrival):
        asked = _entry(request, names)
        if asked is not None:
            answer = answers.get(_exchange(request))
            yield request, asked, answer, None if answer is None else _entry(answer, names)


def _names(run: RunDirectory) -> set[str]:
    about = run.read_json("run.json")
    return {about["topic"], about.get("topic_id") or about["topic"]}


def _entry(line: Json, names: set[str]) -> Json | None:
    entries: list[Json] = (line.get("decoded") or {}).get("partitions", [])
    return next((e for e in entries if {e.get("topic"), e.get("topic_id")} & names and e["partition"] == 0), None)


def _exchange(line: Json) -> tuple[int, int]:
    return line["connection"], line["correlation_id"]


def _arrival(line: Json) -> int:
    at_ns: int = line["arrived_ns"]
    return at_ns


def _round(request: Json, asked: Json, answer: Json | None, told: Json | None) -> FetchRound:
    times = (request["arrived_ns"], request["forwarded_ns"])
    if answer is None or told is None:
        return FetchRound(asked["fetch_offset"], request["decoded"]["max_wait_ms"], *times)
    epochs, diverging = told.get("epochs"), told.get("diverging_epoch")
    return FetchRound(
        asked["fetch_offset"],
        request["decoded"]["max_wait_ms"],
        *times,
        answered_ns=answer["arrived_ns"],
        delivered_ns=answer["forwarded_ns"],
        error=told["error"],
        high_watermark=told["high_watermark"],
        last_offset=epochs[-1]["last_offset"] if epochs else None,
        diverging_end=diverging["end_offset"] if diverging else None,
    )
