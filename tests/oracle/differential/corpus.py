"""Which situations are worth asking about? Those of the written stories: transcripts, catalogue, counterexamples.

Chance alone rarely leads to a truncation that two releases do differently; a written story changed a
little often does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from oracle.rules.message_format import stamps_epochs
from oracle.schedule import Schedule, TopicSettings
from oracle.schedule_format import decode_step
from oracle.steps.brokers import Kill, LoseCheckpoint, LoseTail, Pause, Resume, Start, Stop
from oracle.steps.frames import AwaitHold, Close, DelayFrame, Drop, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.topic import Elect
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader, Checkpoint
from oracle.vocabulary import BrokerId, Expectation, HighWatermarkCheckpoint, Label, PointName, Timing
from tests.conformance.selected import select_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from oracle.steps.step import Step

FETCHES = (PointName.FETCH_REQUEST, PointName.FETCH_RESPONSE)
LOOKUPS = (PointName.OFFSETS_FOR_LEADER_EPOCH_REQUEST, PointName.OFFSETS_FOR_LEADER_EPOCH_RESPONSE)
TRANSCRIPTS = Path(__file__).parent.parent / "transcripts"
MOVING = (Produce, Kill, Stop, Start, Elect, Hold, ReleaseHold, Close, Drop, AwaitLag, LoseTail, LoseCheckpoint)
"""The steps that both interpreters know and that change something."""
FREEZING = (Pause, Resume)
AT_CONTROLLER = (PointName.LEADER_AND_ISR, PointName.CONTROLLER_FETCH_RESPONSE, PointName.ALTER_PARTITION_REQUEST)
"""What stands still in stories that are told as they are written; chance is kept away from it."""
KNOWN = (*MOVING, AwaitHold, AwaitLeader, AwaitIsr, AwaitOutcome, Checkpoint, DelayFrame)


@dataclass(frozen=True, slots=True)
class Story:
    """A written sequence of steps with its settings, free of what it expects.

    Attributes:
        release: version, metadata mode and the ELR override of the file; None for the catalogue.
    """

    name: str
    schedule: Schedule
    release: tuple[str, str, bool | None] | None = None


@cache
def stories() -> tuple[Story, ...]:
    """Return every story whose steps the interpreter knows, under any release: all have today's message format."""
    return (
        *(story for story in _from_transcripts() if stamps_epochs(story.schedule.settings.message_format_version)),
        *_from_catalogue(),
    )


def is_known(step: Step) -> bool:
    """Return whether the interpreter knows a step: no link to the controller, no producer that has not heard."""
    if isinstance(step, Hold | DelayFrame) and step.point not in FETCHES + LOOKUPS:
        return False
    if isinstance(step, Produce) and step.leader is not None:
        return False
    return isinstance(step, KNOWN)


def is_told(step: Step) -> bool:
    """Return whether the interpreter can take a step where it is written."""
    return is_known(step) or isinstance(step, FREEZING) or (isinstance(step, Hold) and step.point in AT_CONTROLLER)


@cache
def told_stories() -> tuple[Story, ...]:
    """Return every transcript that the interpreter can tell as it is written: nobody who is paused is in a session."""
    return tuple(s for s in _from_transcripts(is_told) if s.schedule.timing is Timing.SESSION or not _is_paused(s))


def _is_paused(story: Story) -> bool:
    return any(isinstance(step, FREEZING) for step in story.schedule.steps)


def _from_transcripts(has: Callable[[Step], bool] = is_known) -> Iterator[Story]:
    for path in sorted(TRANSCRIPTS.glob("*.txt")):
        for index, (fields, steps) in enumerate(_partitions(path.read_text())):
            if all(map(has, steps)):
                yield _story(f"{path.stem}-{index}", fields, steps)


def _from_catalogue() -> Iterator[Story]:
    for scenario in select_scenarios(profile="quick"):
        if all(map(is_known, scenario.schedule.steps)):
            yield Story(scenario.name, _plain(scenario.schedule))


def _partitions(text: str) -> Iterator[tuple[dict[str, Any], list[Step]]]:
    """Return each partition of a transcript: its fields, and the commands up to the next one."""
    found: list[tuple[dict[str, Any], list[Step]]] = []
    for line in text.splitlines():
        if not line or line.startswith((" ", "#")) or line == "fates":
            continue
        word, fields = next(iter(yaml.safe_load(line).items()))
        if word == "partition":
            found.append((fields, []))
        else:
            found[-1][1].append(decode_step(0, {word: fields}))
    return iter(found)


def _story(name: str, fields: dict[str, Any], steps: list[Step]) -> Story:
    schedule = Schedule(
        id=name,
        requirement="",
        sources=(),
        replicas=tuple(BrokerId(broker) for broker in fields["replicas"]),
        steps=tuple(steps),
        settings=TopicSettings(fields.get("min_isr", 1), fields.get("unclean", False), fields.get("message_format")),
        checkpointing=HighWatermarkCheckpoint(fields.get("checkpointing", "prompt")),
        timing=Timing(fields.get("timing", "session")),
    )
    return Story(name, _plain(schedule), (str(fields["kafka"]), fields["metadata"], fields.get("elr")))


def _plain(schedule: Schedule) -> Schedule:
    """Leave out awaits and expectations, so that the steps can be taken under any release."""
    return replace(
        schedule, steps=tuple(renamed(step for step in schedule.steps if isinstance(step, MOVING + FREEZING)))
    )


def renamed(steps: Iterable[Step], *, has_lookups: bool = True) -> Iterator[Step]:
    """Yield every record and hold a name of its own, in order, and let go of holds by these."""
    labels, holds, names = 0, 0, dict[str, str]()
    for step in steps:
        if isinstance(step, Produce):
            records = tuple(Label(f"m{labels + index}") for index in range(max(len(step.records), 1)))
            labels += len(records)
            yield replace(step, records=records, expect=Expectation.ANY)
        elif isinstance(step, Hold):
            if step.point in FETCHES or has_lookups:
                names[step.name] = f"h{holds}"
                offset = step.fetch_offset if step.point in FETCHES else None
                yield replace(step, name=f"h{holds}", fetch_offset=offset)
                holds += 1
        elif isinstance(step, ReleaseHold | Close | Drop):
            yield replace(step, name=names.get(step.name, step.name))
        else:
            yield step
