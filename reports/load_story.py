"""What happened over time? Steps, numbers after each step, marks and held frames, from a run's files."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from reports.load_holds import load_held_frames
from reports.run_files import read_lines, whole
from reports.step_prose import arguments_of, prose, short_words
from reports.story import CONTROLLER, Instant, Mark, Moment, Numbers, Step, Story

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_MARK_KINDS = {
    "broker_killed": "killed",
    "broker_stopped": "stopped",
    "broker_ended": "ended",
    "broker_started": "started",
    "leader_elected": "elected",
    "tail_lost": "tail_lost",
    "checkpoint_lost": "checkpoint_lost",
    "election_requested": "election_requested",
    "broker_paused": "paused",
    "broker_resumed": "resumed",
    "broker_isolated": "isolated",
    "broker_rejoined": "rejoined",
    "link_cut": "link_cut",
    "link_healed": "link_healed",
}


def load_story(path: Path, schedule: Mapping[str, Any], prediction: Mapping[str, Any]) -> Story:
    """Return the run's story; without a schedule or observations it is empty or short."""
    observations = read_lines(path / "observations.ndjson")
    events = read_lines(path / "timeline.ndjson")
    steps = _steps(schedule, events)
    measured = _moments(observations)
    marks = tuple(_mark(event, steps) for event in events if event.get("event") in _MARK_KINDS)
    return Story(
        replicas=_replicas(schedule, measured),
        steps=steps,
        measured=measured,
        predicted=tuple(
            _moment(int(item.get("index", item.get("step", position))), item)
            for position, item in enumerate(prediction.get("steps") or ())
        ),
        marks=marks + _unmarked_elections(measured, marks, steps),
        held_frames=load_held_frames(events, steps),
    )


def instant_of(event: Mapping[str, Any], steps: Sequence[Step]) -> Instant:
    """Return when an event happened; an event outside any step belongs to the last one begun."""
    t_ns = whole(event.get("t_ns"))
    if event.get("step") is not None:
        return Instant(int(event["step"]), t_ns)
    begun = [step.started_ns for step in steps if step.started_ns is not None]
    index = bisect_right(begun, t_ns) - 1 if t_ns is not None and begun else 0
    return Instant(max(0, index), t_ns)


def _replicas(schedule: Mapping[str, Any], measured: Sequence[Moment]) -> tuple[int, ...]:
    assigned = schedule.get("replicas")
    if assigned:
        return tuple(int(broker) for broker in assigned)
    return tuple(sorted(measured[0].replicas)) if measured else ()


def _steps(schedule: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> tuple[Step, ...]:
    started = {event.get("step"): whole(event.get("t_ns")) for event in events if event.get("event") == "step_started"}
    finished = {
        event.get("step"): whole(event.get("t_ns")) for event in events if event.get("event") == "step_finished"
    }
    steps = []
    for index, item in enumerate(schedule.get("steps") or ()):
        verb, value = next(iter(item.items()))
        arguments = arguments_of(verb, value)
        steps.append(
            Step(
                index=index,
                verb=verb,
                arguments=arguments,
                short=short_words(verb, arguments),
                prose=prose(verb, arguments),
                started_ns=started.get(index),
                finished_ns=finished.get(index),
            )
        )
    return tuple(steps)


def _moments(observations: Sequence[Mapping[str, Any]]) -> tuple[Moment, ...]:
    by_step: dict[int, Moment] = {}
    for row in observations:
        if row.get("kind") in {"numbers", "checkpoint"} and row.get("step") is not None:
            step = int(row["step"])
            by_step[step] = _moment(step, row)
    return tuple(by_step[step] for step in sorted(by_step))


def _moment(step: int, row: Mapping[str, Any]) -> Moment:
    replicas = row.get("replicas") or {}
    return Moment(
        step=step,
        replicas={int(broker): _numbers(numbers) for broker, numbers in replicas.items()},
        leader=whole(row.get("leader")),
        leader_epoch=whole(row.get("leader_epoch")),
        isr=tuple(int(broker) for broker in row.get("isr") or ()),
    )


def _numbers(row: Mapping[str, Any]) -> Numbers:
    return Numbers(whole(row.get("log_end_offset")), whole(row.get("high_watermark")), bool(row.get("alive", True)))


def _mark(event: Mapping[str, Any], steps: Sequence[Step]) -> Mark:
    kind, subject, text = _MARK_KINDS[event["event"]], str(event.get("subject", "")), str(event.get("text") or "")
    at = instant_of(event, steps)
    if kind == "election_requested":
        return Mark(kind, CONTROLLER, at, text, detail=subject)
    found = re.search(r"\d+", subject)
    detail = _lost_offsets(text, steps[at.step] if at.step < len(steps) else None) if kind == "tail_lost" else ""
    return Mark(kind, int(found.group()) if found else -1, at, text, detail)


def _lost_offsets(text: str, step: Step | None) -> str:
    """Return which offsets a disk forgot, as words; without the event's words, from where on."""
    said = re.search(r"offsets (\d+) to (\d+)", text)
    if said:
        first, last = said.groups()
        return first if first == last else f"{first} to {last}"
    return f"{step.arguments.get('offset', '')} on" if step else ""


def _unmarked_elections(measured: Sequence[Moment], marks: Sequence[Mark], steps: Sequence[Step]) -> tuple[Mark, ...]:
    """Return a mark for every new leader that no event announced: elected by the end of that step."""
    announced = {(mark.broker, mark.at.step) for mark in marks if mark.kind == "elected"}
    found = []
    for before, after in pairwise(measured):
        if after.leader is None or after.leader == before.leader or (after.leader, after.step) in announced:
            continue
        finished = steps[after.step].finished_ns if after.step < len(steps) else None
        found.append(Mark("elected", after.leader, Instant(after.step, finished), f"broker {after.leader} leads"))
    return tuple(found)
