"""Which brokers end by themselves, in which step? What the model says, for whoever waits for brokers.

A follower that is ahead of its leader ends its broker in some releases (KAFKA-7414). Nobody can tell a process that
may end from one that must not but by the prediction: an end that is predicted is awaited like any other state, an end
that is not is a broker lost.

In 0.10 the end hangs half-way: the process stays, registered, with its ports closed. That is out of service as well,
and nobody asks such a broker anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oracle.steps import Kill, KillTogether, Start, Stop
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.schedule import Schedule
    from oracle.steps import Step


@dataclass(frozen=True, slots=True)
class OwnEnds:
    """The brokers that end by themselves in one step.

    Attributes:
        certain: whose end every open outcome has.
        possible: whose end only some have.
        hanging: those of both whose end hangs: the process stays with its ports closed.
    """

    certain: frozenset[BrokerId] = frozenset()
    possible: frozenset[BrokerId] = frozenset()
    hanging: frozenset[BrokerId] = frozenset()

    @property
    def all(self) -> frozenset[BrokerId]:
        """Everybody whose end is no surprise."""
        return self.certain | self.possible


NOBODY = OwnEnds()


def own_ends(schedule: Schedule, prediction: Mapping[str, Any]) -> dict[int, OwnEnds]:
    """Return who ends by itself by the index of the step, for steps in which anybody does.

    Args:
        schedule: what was predicted.
        prediction: the content of prediction.json.
    """
    outcomes = prediction.get("alternatives") or [prediction]
    found: dict[int, OwnEnds] = {}
    for index, step in enumerate(schedule.steps):
        ends = [_of_step(step, outcome["steps"][:index], outcome["steps"][index]) for outcome in outcomes]
        certain = frozenset.intersection(*ends)
        if any(ends):
            everybody = frozenset.union(*ends)
            hung = {BrokerId(broker) for outcome in outcomes for broker in outcome["steps"][index].get("hung", ())}
            found[index] = OwnEnds(certain, everybody - certain, everybody & hung)
    return found


def _of_step(step: Step, earlier: list[dict[str, Any]], after: dict[str, Any]) -> frozenset[BrokerId]:
    """Return who ran before a step or was started by it, was not ended by it, and does not run after it."""
    before = earlier[-1]["replicas"] if earlier else {}
    dead = {BrokerId(int(broker)) for broker, numbers in after["replicas"].items() if not numbers["alive"]}
    were_dead = {BrokerId(int(broker)) for broker, numbers in before.items() if not numbers["alive"]}
    match step:
        case Kill(broker) | Stop(broker):
            were_dead.add(broker)
        case KillTogether(brokers):
            were_dead.update(brokers)
        case Start(broker):
            were_dead.discard(broker)
        case _:
            pass
    return frozenset(dead - were_dead)
