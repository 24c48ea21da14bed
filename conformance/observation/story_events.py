"""Which events do the tester's own notes show: what it did to brokers, and what its probes measured?

The notes are ``timeline.ndjson`` and ``observations.ndjson``. A measurement was made somewhere between the
beginning of its step and the moment in which it was written down. The numbers of a broker that is down or
paused are those of its files: its checkpoint may be old, and nobody measured its replica.
"""

from __future__ import annotations

import heapq
import json
from operator import itemgetter
from typing import TYPE_CHECKING

from conformance.notes import OBSERVATIONS_FILE, TIMELINE_FILE, Note
from conformance.observation.errors import TraceUnreadableError
from oracle.tracing.observed import (
    BrokerEnded,
    BrokerStarted,
    CheckpointLost,
    MinIsrSet,
    ReplicaMeasured,
    TailLost,
    TopicPartition,
)
from oracle.vocabulary import BrokerId, Offset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.run_directory import RunDirectory
    from oracle.tracing.observed import Event

MIN_ISR = "min.insync.replicas"
PARTITION = 0
MEASUREMENTS = ("numbers", "checkpoint")


class StoryEvents:
    """Reads one run's notes in the order of time."""

    def __init__(self, run: RunDirectory, topic: str) -> None:
        self._run = run
        self._schedule = run.read_json("schedule.json")
        self._partition = TopicPartition(topic, PARTITION)
        self._step_began_ns = 0
        self._paused: set[BrokerId] = set()

    def __iter__(self) -> Iterator[Event]:
        """Give the events.

        Raises:
            TraceUnreadableError: a line of the notes cannot be read, or nobody noted what was done to the brokers.
        """
        if not (self._run.path / TIMELINE_FILE).exists():
            raise TraceUnreadableError(f"{TIMELINE_FILE} is missing: nobody knows what was done to the brokers")
        sources = (_notes(self._run.path / name) for name in (TIMELINE_FILE, OBSERVATIONS_FILE))
        for note in heapq.merge(*sources, key=itemgetter("t_ns")):
            if "kind" in note:
                yield from self._measured(note)
            else:
                yield from self._done(note)

    def initial_min_isr(self, at: int) -> MinIsrSet:
        """Give the setting that the topic was created with."""
        value = self._schedule["settings"][MIN_ISR]
        return MinIsrSet(at=at, partition=self._partition, min_insync_replicas=value)

    def _measured(self, note: Note) -> Iterator[Event]:
        if note["kind"] not in MEASUREMENTS:
            return
        for name, numbers in note["replicas"].items():
            broker = _broker(name)
            if numbers["alive"] and broker not in self._paused:
                yield ReplicaMeasured(
                    at=note["t_ns"],
                    since=self._step_began_ns or note["t_ns"],
                    partition=self._partition,
                    broker=broker,
                    log_end_offset=Offset(numbers["log_end_offset"]),
                    high_watermark=Offset(numbers["high_watermark"]),
                )

    def _done(self, note: Note) -> Iterator[Event]:
        at, subject = note["t_ns"], note["subject"]
        match note["event"]:
            case "step_started":
                self._step_began_ns = at
            case "broker_paused":
                self._paused.add(_broker(subject))
            case "broker_resumed":
                self._paused.discard(_broker(subject))
            case "broker_killed" | "broker_stopped" | "broker_ended":
                self._paused.discard(_broker(subject))
                yield BrokerEnded(at=at, broker=_broker(subject), clean=note["event"] != "broker_killed")
            case "broker_started":
                yield BrokerStarted(at=at, broker=_broker(subject))
            case "tail_lost":
                yield TailLost(at=at, broker=_broker(subject), partition=self._partition, offset=_lost_from(note))
            case "checkpoint_lost":
                yield CheckpointLost(at=at, broker=_broker(subject))
            case "settings_changed":
                yield from self._settings_changed(note)
            case _:
                pass

    def _settings_changed(self, note: Note) -> Iterator[MinIsrSet]:
        (changes,) = self._schedule["steps"][note["step"]].values()
        settings = changes.get("settings", changes)
        if settings.get(MIN_ISR) is not None:
            value = settings[MIN_ISR]
            yield MinIsrSet(at=self._step_began_ns, partition=self._partition, min_insync_replicas=value)


def _broker(subject: str) -> BrokerId:
    return BrokerId(int(subject))


def _lost_from(note: Note) -> Offset:
    if "offset" not in note:
        raise TraceUnreadableError(f"{TIMELINE_FILE} does not tell from which offset on a tail was lost: {note}")
    return Offset(note["offset"])


def _notes(path: Path) -> Iterator[Note]:
    if not path.exists():
        return
    last_ns = 0
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, start=1):
            try:
                note: Note = json.loads(text)
                last_ns = note["t_ns"] = max(last_ns, note["t_ns"])
            except (ValueError, KeyError, TypeError) as error:
                raise TraceUnreadableError(f"{path.name}, line {number} cannot be read: {error!r}") from error
            yield note
