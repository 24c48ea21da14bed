"""What does a broker answer to a step that asks it? Named values, as they will be measured.

Leader epochs are named by leadership: of an earlier one its last epoch is meant, of the latest one the
controller's current epoch, and a leadership that is still to come is as many epochs ahead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oracle.events import RecordSent, RecordTurnedAway
from oracle.predicting.outcome import leadership_of
from oracle.replication.consuming import NOT_LEADER, consume, end_offset_of_epoch, list_offset
from oracle.rules.request_versions import ANSWERED, oldest, versions
from oracle.steps.questions import REQUESTS, Consume, EndOffsetOfEpoch, ListOffsets, SendTo
from oracle.vocabulary import Acks, ClientRequest, LeaderEpoch, OffsetSpec, ProduceOutcome, ReplicaRole
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState, ReplicaState
    from oracle.steps.questions import Ask
    from oracle.vocabulary import BrokerId, Label, Leadership
    from oracle.world import World

    Value = int | str | bool | tuple[str, ...] | None


FETCHES_CLAIM_CURRENT = 9
"""The first version of Fetch that claims a current epoch (KIP-320)."""


def fetches_claim_epoch(rules: RuleSet) -> bool:
    """Return whether a release's followers say in their fetches which leader epoch they are in."""
    return FETCHES_CLAIM_CURRENT in versions(ClientRequest.FETCH, rules)


def newest_asked(request: ClientRequest) -> int:
    """Return the newest version that the tester asks in: later ones name no topic, or answer another question."""
    return ANSWERED[request][-1][1]


def why_unspoken(request: ClientRequest, asked: int | None, rules: RuleSet) -> str | None:
    """Return why a release cannot be asked in a version, or at all; None if it can."""
    spoken = versions(request, rules)
    if not spoken:
        return f"Kafka {rules.version} has no {request.value}"
    if asked is None or asked in spoken:
        return None
    if not oldest(request) <= asked <= newest_asked(request):
        return f"the tester asks with {request.value} {spoken[0]} to {spoken[-1]} of Kafka {rules.version}, not {asked}"
    limit = f"no older than {spoken[0]}" if asked < spoken[0] else f"no newer than {spoken[-1]}"
    return f"Kafka {rules.version} speaks {request.value} {limit}, not {asked}"


def chosen(request: ClientRequest, asked: int | None, rules: RuleSet) -> int:
    """Return the version that a request is sent in: the one asked for, or the newest."""
    return versions(request, rules)[-1] if asked is None else asked


NO_ANSWER = "no answer"
CONNECTION_CLOSED = "connection closed"
ACKNOWLEDGED = "acknowledged"


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """What a broker answers to one step.

    Attributes:
        step: its index.
        asked: the step in words.
        values: named numbers, errors and labels.
    """

    step: int
    asked: str
    values: tuple[tuple[str, Value], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the answer as the machine format has it."""
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in self.values}
        return {"step": self.step, "asked": self.asked, "answer": values}


def ask(world: World, step: Ask) -> World:
    """Put a question to a broker, or send it a record.

    Raises:
        ImpossibleEventError: nobody is there to answer.
    """
    replica = _asked(world, step.broker)
    if not isinstance(step, SendTo):
        return world
    error = _why_turned_away(replica, step.acks)
    if error is not None:
        return world.apply(RecordTurnedAway(step.record, step.acks, error))
    return world.apply(RecordSent(step.record, Acks(step.acks), step.broker))


def _why_turned_away(replica: ReplicaState, acks: int) -> str | None:
    if acks not in tuple(Acks):
        return "INVALID_REQUIRED_ACKS"
    return None if replica.role is ReplicaRole.LEADER else NOT_LEADER


def answer(world: World, step: Ask) -> tuple[tuple[str, Value], ...]:
    """Return what a broker answers, once the partition is at rest."""
    state, rules = world.state, world.rules
    match step:
        case Consume(offset=offset):
            consumed = consume(_asked(world, step.broker), offset, _version(world, step), rules)
            return (
                ("error", consumed.error),
                ("records", consumed.records),
                ("high_watermark", consumed.high_watermark),
            )
        case ListOffsets(spec=spec):
            late_enough = _since(state, step.timestamp_of) if spec is OffsetSpec.TIMESTAMP else ()
            listed = list_offset(_asked(world, step.broker), spec, _version(world, step), rules, late_enough)
            return ("error", listed.error), ("offset", listed.offset)
        case EndOffsetOfEpoch(leadership=leadership):
            epoch = _last_epoch_of(state, leadership)
            current = None if step.current is None else _last_epoch_of(state, step.current)
            told = end_offset_of_epoch(_asked(world, step.broker), epoch, current, _version(world, step), rules)
            named = None if told.end.leader_epoch is None else leadership_of(state, told.end.leader_epoch)
            return ("error", told.error), ("leadership", named), ("end_offset", told.end.end_offset)
        case _:
            return _sent(state, step)


def _version(world: World, step: Consume | ListOffsets | EndOffsetOfEpoch) -> int:
    return chosen(REQUESTS[type(step)], step.version, world.rules)


def _sent(state: PartitionState, step: SendTo) -> tuple[tuple[str, Value], ...]:
    produce = next(produce for produce in state.produces if produce.label == step.record)
    is_written = produce.required_offset is not None
    if step.acks == Acks.NONE:
        heard = NO_ANSWER if is_written else CONNECTION_CLOSED
    else:
        heard = ACKNOWLEDGED if produce.outcome is ProduceOutcome.ACKNOWLEDGED else produce.error or NO_ANSWER
    offset = produce.required_offset - 1 if heard == ACKNOWLEDGED and produce.required_offset is not None else None
    return ("answer", heard), ("offset", offset), ("written", is_written)


def _asked(world: World, broker: BrokerId | None) -> ReplicaState:
    """Return the replica of the broker that is asked.

    Raises:
        ImpossibleEventError: it does not run, stands still, has no replica, or nobody leads.
    """
    asked = world.state.controller.leader if broker is None else broker
    if asked is None:
        raise ImpossibleEventError("nobody leads: name the broker that is asked")
    if not world.state.replica(asked).alive:
        raise ImpossibleEventError(f"broker {asked} is down: it answers nobody")
    if asked in world.obstacles.paused:
        raise ImpossibleEventError(f"broker {asked} is paused: it answers nobody")
    if world.state.replica(asked).role is ReplicaRole.NONE:
        raise ImpossibleEventError(f"broker {asked} has no replica: what it answers is not predicted")
    return world.state.replica(asked)


def _since(state: PartitionState, first: Label | None) -> tuple[Label, ...]:
    """Return a record and those that were sent after it."""
    labels = [produce.label for produce in state.produces]
    return tuple(labels[labels.index(first) :]) if first in labels else ()


def _last_epoch_of(state: PartitionState, leadership: Leadership) -> LeaderEpoch:
    """Return the epoch that a schedule means by a leadership."""
    view = state.controller
    following = leadership + 1
    if following < len(view.leaderships):
        return LeaderEpoch(view.leaderships[following][0] - 1)
    return LeaderEpoch(view.leader_epoch + following - len(view.leaderships))
