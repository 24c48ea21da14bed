"""How does a transcript run? Commands in, the model's state at rest out, line by line.

A transcript is a text file: comments (``#``), commands (steps in the words of a schedule, one line
each) and, indented below each command, what the model says then. ``partition`` creates one, in a
cluster with ``others`` beside its replicas;
``fates`` tells what becomes of every record. A step that the model refuses leaves it as it was.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import yaml

from oracle.predict import initial_world, take
from oracle.predicting.assumptions import UnmetAssumptionError
from oracle.predicting.outcome import conclude
from oracle.rules import message_format
from oracle.rules.by_version import rules_for
from oracle.schedule import Schedule, TopicSettings
from oracle.schedule_format import decode_step
from oracle.steps.produce import Produce
from oracle.steps.topic import Reassign
from oracle.vocabulary import BrokerId, HighWatermarkCheckpoint, MetadataMode, Timing
from oracle.world import ImpossibleEventError, World
from tests.oracle.state_text import outcomes, state_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oracle.rules.rule_set import RuleSet
    from oracle.steps.step import Step

INDENT = "    "


def rewritten(text: str, changed: Callable[[RuleSet], RuleSet] = lambda rules: rules) -> str:
    """Return a transcript with every answer replaced by what the model says today, or under changed rules."""
    session = Session(changed)
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(INDENT):
            continue
        lines.append(line)
        if line and not line.startswith("#"):
            lines.extend(INDENT + answer for answer in session.answer(line))
    return "\n".join(lines) + "\n"


class Session:
    """One partition after the other, each driven by commands, in every order its followers may take turns."""

    def __init__(self, changed: Callable[[RuleSet], RuleSet]) -> None:
        self._changed = changed
        self._schedule: Schedule | None = None
        self._worlds: list[World] = []
        self._outcomes: dict[str, str] = {}
        self._lines: list[str] = []

    def answer(self, command: str) -> Iterator[str]:
        """Carry out one command and return what is to be seen then."""
        word, fields = next(iter(_mapping(command).items()))
        if word == "partition":
            self._begin(fields)
        elif word == "fates":
            return iter(self._fates())
        else:
            step = decode_step(0, {word: fields})
            refusal = self._take(step)
            if refusal is not None:
                return iter([f"refused: {refusal}"])
        return self._shown()

    def _begin(self, fields: dict[str, Any]) -> None:
        version, metadata = str(fields["kafka"]), MetadataMode(fields["metadata"])
        settings = TopicSettings(fields.get("min_isr", 1), fields.get("unclean", False), fields.get("message_format"))
        rules = self._changed(rules_for(version, metadata, eligible_leader_replicas=fields.get("elr")))
        rules = message_format.adapted(rules, settings)
        self._schedule = Schedule(
            id="transcript",
            requirement="",
            sources=(),
            replicas=_brokers(fields["replicas"]),
            steps=(Reassign(_brokers(fields["others"])),) if "others" in fields else (),
            settings=settings,
            timing=Timing(fields.get("timing", "session")),
            checkpointing=HighWatermarkCheckpoint(fields.get("checkpointing", "prompt")),
        )
        brokers = self._schedule.brokers
        self._worlds = [initial_world(self._schedule, rules, order) for order in permutations(brokers)]
        self._outcomes, self._lines = {}, []

    def _take(self, step: Step) -> str | None:
        try:
            self._worlds = [take(world, step) for world in self._worlds]
        except (ImpossibleEventError, UnmetAssumptionError) as refusal:
            return str(refusal).rstrip(",")
        assert self._schedule is not None
        self._schedule = _with_step(self._schedule, step)
        return None

    def _shown(self) -> Iterator[str]:
        world = self._worlds[0]
        before, self._outcomes = self._outcomes, outcomes(world)
        lines_before, self._lines = self._lines, list(state_lines(world))
        yield from ["as before"] if self._lines == lines_before else self._lines
        yield from (f"{label}: {text}" for label, text in self._outcomes.items() if before.get(label) != text)
        if any(_without_order(other) != _without_order(world) for other in self._worlds):
            yield "race: another order of the followers ends differently"

    def _fates(self) -> Iterator[str]:
        assert self._schedule is not None
        world = self._worlds[0]
        prediction = conclude(self._schedule, world.rules, world.state, ())
        for record in prediction.records:
            where = "" if record.offset is None else f" at offset {record.offset}"
            promise = record.promise.verdict.value.replace("_", " ")
            yield f"{record.label}: {record.fate.value}{where}, {record.outcome.value}, promise {promise}"
            yield f"  {record.promise.reason or record.decided_by}"
        for divergence in prediction.diverged:
            held = ", ".join(f"broker {broker} has {label}" for broker, label in divergence.labels.items())
            yield f"diverged at offset {divergence.offset}: {held}"


def _brokers(ids: list[int]) -> tuple[BrokerId, ...]:
    return tuple(map(BrokerId, ids))


def _mapping(command: str) -> dict[str, Any]:
    document = yaml.safe_load(command)
    return {document: None} if isinstance(document, str) else dict(document)


def _with_step(schedule: Schedule, step: Step) -> Schedule:
    steps = (*schedule.steps, step) if isinstance(step, Produce) else schedule.steps
    return Schedule(
        schedule.id, "", (), schedule.replicas, steps, schedule.settings, schedule.timing, schedule.checkpointing
    )


def _without_order(world: World) -> tuple[object, object]:
    return world.state, world.gate
