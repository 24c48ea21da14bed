"""Which fetches did the followers make, on which connections, and what were they given? Read from a wire trace."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

Partition = tuple[str, int]
"""A topic and the index of one of its partitions."""

CLIENT_ID = re.compile(r"(?:broker-\d+-fetcher-(\d+)|ReplicaFetcherThread-(\d+)-\d+)")
"""How a fetcher names itself: by its thread's name on 0.10.2, by broker and fetcher from 0.11 on."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """One fetch of a follower.

    Attributes:
        follower: who fetches.
        leader: whom it asks.
        connection: the number of the connection.
        fetcher: which of the follower's fetchers to that leader it is; None if it names itself otherwise.
        arrived_ns: when the request reached the gate, monotonic.
        asked: the partitions, in the order of the request.
        given: how many records each partition gave that gave any; empty while no answer came.
        offsets: at which offset each partition is asked for, in the order of ``asked``.
    """

    follower: int
    leader: int
    connection: int
    fetcher: int | None
    arrived_ns: int
    asked: tuple[Partition, ...]
    given: tuple[tuple[Partition, int], ...] = ()
    offsets: tuple[int, ...] = ()

    def offset(self, partition: Partition) -> int:
        """Return the offset at which a partition is asked for that is."""
        return self.offsets[self.asked.index(partition)]


def fetches(wire: Path, topic_ids: Mapping[str, str]) -> tuple[Fetch, ...]:
    """Read the followers' fetches from a trace, in the order of their arrival.

    Args:
        wire: a finished ``wire.ndjson``.
        topic_ids: the name of each topic id that the gate had not learned in time.
    """
    with wire.open(encoding="utf-8") as lines:
        frames = [frame for line in lines if _is_fetch(frame := json.loads(line))]
    answers = {_exchange(frame): frame for frame in frames if frame["direction"] == "response"}
    asked = sorted((frame for frame in frames if frame["direction"] == "request"), key=lambda frame: frame["seq"])
    return tuple(_fetch(frame, answers.get(_exchange(frame)), topic_ids) for frame in asked)


def _is_fetch(frame: dict[str, Any]) -> bool:
    if frame.get("api") != "Fetch" or frame["link"] != "replication" or frame["outcome"] == "held":
        return False
    return frame["decoded"] is not None and frame["source"] is not None


def _exchange(frame: dict[str, Any]) -> tuple[int, int]:
    return frame["connection"], frame["correlation_id"]


def _fetch(request: dict[str, Any], answer: dict[str, Any] | None, topic_ids: Mapping[str, str]) -> Fetch:
    entries = answer["decoded"]["partitions"] if answer is not None else []
    return Fetch(
        request["source"],
        request["destination"],
        request["connection"],
        fetcher_of(request["client_id"] or ""),
        request["arrived_ns"],
        tuple(_partition(entry, topic_ids) for entry in request["decoded"]["partitions"]),
        tuple((_partition(e, topic_ids), _records(e)) for e in entries if e.get("record_bytes", 0) > 0),
        tuple(entry["fetch_offset"] for entry in request["decoded"]["partitions"]),
    )


def fetcher_of(client_id: str) -> int | None:
    """Return which fetcher a client id names; None if it names none."""
    named = CLIENT_ID.fullmatch(client_id)
    return None if named is None else int(named.group(1) or named.group(2))


def _partition(entry: dict[str, Any], topic_ids: Mapping[str, str]) -> Partition:
    topic = entry.get("topic") or topic_ids.get(entry.get("topic_id", ""), "?")
    return topic, entry["partition"]


def _records(entry: dict[str, Any]) -> int:
    runs = entry.get("epochs", [])
    return sum(run["last_offset"] - run.get("first_offset", run["last_offset"]) + 1 for run in runs)


def between(followed: Iterable[Fetch], begin_ns: int, end_ns: int) -> Iterator[Fetch]:
    """Give the fetches that arrived in a time."""
    return (fetch for fetch in followed if begin_ns <= fetch.arrived_ns < end_ns)
