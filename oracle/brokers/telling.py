"""What does a bare schedule leave unsaid? Which frames are caught when, what producers learn, how it ends.

The model runs along. At the end every link is let go and every broker is started, so that the
topic can be read; where replicas would stay out of the ISR, one more record is sent before that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.predict import initial_world
from oracle.predicting.taking import take
from oracle.steps import AwaitHold, AwaitIsr, AwaitOutcome, Checkpoint, Produce, Release, Start
from oracle.vocabulary import Acks, Expectation, Label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps import Step
    from oracle.vocabulary import BrokerId
    from oracle.world import World


def with_awaits(steps: Sequence[Step], partition: Schedule, rules: RuleSet) -> tuple[Step, ...]:
    """Return a whole schedule's steps.

    Raises:
        ImpossibleEventError: a step that the rules do not allow.
        UnmetAssumptionError: a step that assumes what does not come.
    """
    endings = [_Telling(steps, partition, rules) for _ in range(2)]
    for telling, has_record in zip(endings, (False, True), strict=True):
        telling.finish(has_record=has_record)
        if telling.is_whole():
            return tuple(telling.steps)
    return tuple(endings[0].steps)


class _Telling:
    """The steps told so far, and where the model stands after them."""

    def __init__(self, steps: Sequence[Step], partition: Schedule, rules: RuleSet) -> None:
        self._world: World = initial_world(partition, rules, partition.replicas)
        self._replicas: tuple[BrokerId, ...] = partition.replicas
        self._caught: set[str] = set()
        self.steps: list[Step] = []
        for step in steps:
            self._take(step)

    def finish(self, *, has_record: bool) -> None:
        """Let every frame go, start every broker, and end at rest with a checkpoint."""
        self._release_all()
        if has_record:
            self._take(Produce((Label(f"m{len(self._world.state.produces)}"),), Acks.LEADER))
        for broker in self._replicas:
            if not self._world.state.replica(broker).alive:
                self._take(Start(broker))
                self._release_all()
        self.steps += [AwaitIsr(tuple(sorted(self._world.state.controller.isr))), Checkpoint("end")]

    def is_whole(self) -> bool:
        """Tell whether every replica is in sync."""
        return len(self._world.state.controller.isr) == len(self._replicas)

    def _take(self, step: Step) -> None:
        """Take a step; say which frames it brought into the gate and what producers learned."""
        waiting = {produce.label for produce in self._world.state.produces if produce.outcome is None}
        self._world = take(self._world, step)
        self.steps.append(self._expecting(step) if isinstance(step, Produce) else step)
        self._await_holds()
        self._await_outcomes(waiting)

    def _expecting(self, step: Produce) -> Produce:
        produce = next(p for p in self._world.state.produces if p.label == step.records[-1])
        if produce.outcome is None:
            return replace(step, expect=Expectation.PENDING)
        return replace(step, expect=Expectation(produce.outcome.value), error=produce.error)

    def _await_holds(self) -> None:
        for armed in self._world.gate.holds:
            name = armed.hold.name
            if armed.caught and name not in self._caught:
                self._caught.add(name)
                self.steps.append(AwaitHold(name))

    def _await_outcomes(self, waiting: set[Label]) -> None:
        for produce in self._world.state.produces:
            if produce.label in waiting and produce.outcome is not None:
                self.steps.append(AwaitOutcome((produce.label,), Expectation(produce.outcome.value), produce.error))

    def _release_all(self) -> None:
        while held := next((armed for armed in self._world.gate.holds if armed.caught), None):
            self._take(Release(held.hold.name))
