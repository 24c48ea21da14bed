"""Which ways lead through a schedule? One, unless links race: then every way, step by step.

Two ways that are in the same state with the same checkpoints behind them are one; what they had otherwise between these
is open. A way whose state does not bring about what a step assumes ends there, as long as another one goes on: an await
is an assumption. Which one that is is said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oracle.asking import StepAnswer, answer
from oracle.predicting.assumptions import UnmetAssumptionError, check
from oracle.predicting.comparing import StateChange
from oracle.predicting.interleavings import STATES_MAX, TooManyStatesError, explore, identity
from oracle.predicting.outcome import moment
from oracle.predicting.races import decisions, opened, shared
from oracle.predicting.step_effects import strokes
from oracle.predicting.wording import Chronicle, step_words
from oracle.prediction import Assumption, Decision
from oracle.steps.brokers import LoseTail
from oracle.steps.produce import Produce
from oracle.steps.questions import Ask, EndOffsetOfEpoch, ListOffsets, SendTo
from oracle.steps.step import ScheduleError
from oracle.steps.waits import Checkpoint
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.predicting.step_effects import Stroke
    from oracle.prediction import Moment
    from oracle.steps.step import Step
    from oracle.world import World


WAYS_MAX = 64


@dataclass(frozen=True, slots=True)
class Branch:
    """One way through the schedule so far.

    Attributes:
        world: where it has come to rest.
        moments: the numbers after every step.
        chronicle: what happened on the way.
        race: the moves that decided for this way and against others.
        answers: what brokers answered to the steps that asked them.
    """

    world: World
    moments: tuple[Moment, ...] = ()
    chronicle: Chronicle = ()
    race: tuple[Decision, ...] = ()
    answers: tuple[StepAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class Ways:
    """All ways through the schedule so far, and what was assumed to come this far."""

    ways: tuple[Branch, ...]
    assumed: tuple[Assumption, ...] = ()

    def after(self, index: int, step: Step, states_max: int = STATES_MAX) -> Ways:
        """Take one step on every way.

        Args:
            index: of the step.
            step: what is done.
            states_max: how many states are looked at between two rest points.

        Raises:
            ScheduleError: no rule allows the step or brings about what it assumes, or too many ways are open.
        """
        reached = [way for before in self.ways for way in _taken(before, index, step, states_max)]
        kept, unmet = _checked(reached, step)
        if not kept:
            raise _refused(unmet, index)
        assumed = self.assumed
        if unmet:
            assumed = (*assumed, _assumption(index, step, kept, unmet))
        name = step.name if isinstance(step, Checkpoint) else None
        ways = [replace(w, moments=(*w.moments, _moment(w.world, index, name))) for w in kept]
        if isinstance(step, Ask):
            ways = [replace(w, answers=(*w.answers, _answer(w.world, index, step))) for w in ways]
        return Ways(_without_repetition(ways, index), assumed)


def _moment(world: World, index: int, name: str | None) -> Moment:
    return moment(world.state, index, name, world.obstacles.paused)


def _answer(world: World, index: int, step: Ask) -> StepAnswer:
    return StepAnswer(index, step.sentence(), answer(world, step))


def _taken(way: Branch, index: int, step: Step, states_max: int) -> tuple[Branch, ...]:
    """Return every way to do a step and come to rest."""
    ways: tuple[Branch, ...] = (way,)
    for stroke in strokes(step):
        reached = [after for before in ways for after in _after_stroke(before, stroke, index, step, states_max)]
        ways = _without_repetition(reached, index)
    return ways


def _after_stroke(way: Branch, stroke: Stroke, index: int, step: Step, states_max: int) -> Iterator[Branch]:
    during = step_words(index, step)
    try:
        struck = stroke(way.world)
        graph = explore(struck, states_max)
    except ImpossibleEventError as error:
        raise ScheduleError(_in_a_race(str(error), way), step=index, field=blamed_field(step, way.world)) from error
    except TooManyStatesError as error:
        message = f"{error}: hold some links, or take fewer replicas"
        raise ScheduleError(message, step=index, field="steps") from error
    if not graph.ends:
        message = "the partition does not come to rest: where it would be found is not predicted"
        raise ScheduleError(message, step=index, field="steps")
    _check_number(len(graph.ends), index)
    told = tuple(StateChange(index, during, None, way.world, struck).changes())
    deciding = decisions(graph)
    for end in graph.ends:
        moves = graph.moves_to(end)
        changes = (c for m in moves for c in StateChange(index, during, m.event, m.before, m.after).changes())
        race = tuple(Decision(index, f"{during}: {decision}") for decision in deciding[end])
        chronicle = (*way.chronicle, *told, *changes)
        yield replace(way, world=graph.worlds[end], chronicle=chronicle, race=(*way.race, *race))


def _in_a_race(message: str, way: Branch) -> str:
    return f"{message}, if {_race(way)}; await it before" if way.race else message


def _race(way: Branch) -> str:
    return " and ".join(decision.text for decision in way.race)


def _checked(ways: Sequence[Branch], step: Step) -> tuple[list[Branch], list[tuple[Branch, UnmetAssumptionError]]]:
    kept: list[Branch] = []
    unmet: list[tuple[Branch, UnmetAssumptionError]] = []
    for way in ways:
        try:
            kept.append(replace(way, world=check(way.world, step)))
        except UnmetAssumptionError as error:
            unmet.append((way, error))
    return kept, unmet


def _refused(unmet: Sequence[tuple[Branch, UnmetAssumptionError]], index: int) -> ScheduleError:
    way, error = unmet[0]
    rules = way.world.rules
    among = "" if len(unmet) == 1 else f" in none of the {len(unmet)} outcomes that are open"
    message = f"{error}{among} under the rules of Kafka {rules.version} ({rules.metadata.value})"
    return ScheduleError(message, step=index, field=error.field)


def _assumption(
    index: int, step: Step, kept: Sequence[Branch], unmet: Sequence[tuple[Branch, UnmetAssumptionError]]
) -> Assumption:
    """Say which of the open outcomes a step assumes, and what the others would be."""
    otherwise = "; ".join(f"{str(error).rstrip(',')}, if {_race(way)}" for way, error in unmet)
    outcomes = f"{len(kept)} of {len(kept) + len(unmet)} outcomes"
    return Assumption(index, f"{step_words(index, step)} assumes {outcomes}: else {otherwise}")


def _without_repetition(ways: Sequence[Branch], index: int) -> tuple[Branch, ...]:
    if len(ways) == 1:
        return tuple(ways)
    known: dict[object, Branch] = {}
    for way in ways:
        passed = repr([moment for moment in way.moments if moment.name is not None])
        key = identity(way.world), passed, way.answers
        met = known.get(key)
        known[key] = way if met is None else _as_one(met, way)
    _check_number(len(known), index)
    return tuple(known.values())


def _as_one(way: Branch, other: Branch) -> Branch:
    return replace(way, race=shared(way.race, other.race), moments=opened(way.moments, other.moments))


def _check_number(ways: int, index: int) -> None:
    if ways > WAYS_MAX:
        message = f"{ways} outcomes are open, more than {WAYS_MAX}: hold the links that race"
        raise ScheduleError(message, step=index, field="steps")


# Which field of a step is to blame that no rule allows? The one that a file's author has to change.


def blamed_field(step: Step, world: World) -> str:
    """Return the field, as files name it: mostly the first one, which says what the step is about.

    A lost tail is refused for its offset if its broker is down, a produce for the leader that it names, and a
    question for the broker that is asked.
    """
    if isinstance(step, LoseTail) and not world.state.replica(step.broker).alive:
        return "offset"
    if isinstance(step, Produce):
        return "leader"
    if isinstance(step, ListOffsets | EndOffsetOfEpoch | SendTo):
        return "broker"
    return step.main_field()
