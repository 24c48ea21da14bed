"""What can happen to real brokers next? The explorer's model over ``transitions.step``, half step by half step.

An action is one event with what follows it at once: a record is sent; a follower's request reaches its leader; a
leader's answer reaches its follower; a wish to join the ISR is committed; a broker dies and is removed; a dead broker
returns. Elections follow the order of the assignment, so replicas are not alike: there is no symmetry to use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oracle.brokers.reductions import Keys, advanced, has_lost_a_tail, join_answer, outliving
from oracle.events import (
    BrokerDied,
    BrokerRemoved,
    BrokerReturned,
    JoinCommitted,
    JoinRefused,
    LateFetchReceived,
    LogTailLost,
    RecordSent,
    RequestReceived,
    ResponseReceived,
)
from oracle.predict import initial_world
from oracle.schedule import Schedule
from oracle.state import FetchStage
from oracle.vocabulary import Acks, BrokerId, Label, Offset, Timing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oracle.brokers.questions import SearchBounds
    from oracle.events import Event
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState, ReplicaState


ISR_GROWN: Final = "ISR grown again"
PRODUCE_REFUSED: Final = "produce refused"


class Brokers:
    """The state graph of one partition on brokers of one release.

    Attributes:
        name: ``Brokers``, for reports.
        rules: the release's rules.
        bounds: the constants.
    """

    name = "Brokers"

    def __init__(self, rules: RuleSet, bounds: SearchBounds) -> None:
        self.rules = rules
        self.bounds = bounds
        self._keys = Keys()
        self._occurrences = {ISR_GROWN: 0, PRODUCE_REFUSED: 0}

    def initial_states(self) -> tuple[PartitionState]:
        """Return the partition right after its creation: broker 1 leads, the others' fetches are parked."""
        return (initial_world(self.empty_schedule(), self.rules, self.brokers()).state,)

    def empty_schedule(self) -> Schedule:
        """Return the partition as a schedule without steps."""
        bounds = self.bounds
        return Schedule("", "", (), self.brokers(), (), bounds.settings, Timing.SESSION, bounds.checkpointing)

    def brokers(self) -> tuple[BrokerId, ...]:
        """Return the assigned replicas."""
        return tuple(map(BrokerId, range(1, self.bounds.replicas + 1)))

    def actions(self, state: PartitionState) -> Iterator[tuple[BrokerAction, PartitionState]]:
        """Return every action with the state it leads to, in a fixed order."""
        for action in self.possible(state):
            after = advanced(state, action.events, self.rules, self.bounds)
            self._occurrences[ISR_GROWN] += _has_regrown(state, after)
            yield action, after

    def successors(self, state: PartitionState) -> list[PartitionState]:
        """Return every next state, repetitions included."""
        return [successor for _, successor in self.actions(state)]

    def is_within_bounds(self, state: PartitionState) -> bool:
        """Return whether the search goes on from a state."""
        return state.controller.leader_epoch <= self.bounds.epochs

    def key(self, state: PartitionState) -> tuple[int, ...]:
        """Return the exact key of a state."""
        return self._keys.key(state)

    def occurrences(self) -> dict[str, int]:
        """Return how often happened what no state shows; all else is read from states (``properties.SOMETIMES``).

        The ISR got its last member back: without a new epoch the state is as before the removal. The
        rules refused a record: the model does not send it.
        """
        return dict(self._occurrences)

    def possible(self, state: PartitionState) -> Iterator[BrokerAction]:
        """Return the actions that the rules allow in a state, in a fixed order."""
        yield from self._sends(state)
        yield from _link_moves(state)
        answer = join_answer(state, self.rules) if self.bounds.late_joins else None
        if answer is not None:
            yield _one(answer)
        may_fail = self.bounds.power_failure and not has_lost_a_tail(state)
        yield from map(_one, state.late)
        for replica in state.replicas:
            if state.late and outliving(state, replica) is not None:
                continue  # one late fetch at a time
            yield from self._process_moves(replica, may_fail=may_fail)

    def _sends(self, state: PartitionState) -> Iterable[BrokerAction]:
        """Send the next record, unless it would be refused: then nothing would change."""
        leader = state.serving_leader()
        if leader is None or len(state.produces) >= self.bounds.records:
            return ()
        minimum = self.rules.effective_min_isr(self.bounds.settings.min_insync_replicas, len(state.assignment))
        if self.bounds.acks is Acks.ALL and len(leader.isr) < minimum:
            self._occurrences[PRODUCE_REFUSED] += 1
            return ()
        return (_one(RecordSent(Label(f"m{len(state.produces)}"), self.bounds.acks)),)

    def _process_moves(self, replica: ReplicaState, *, may_fail: bool) -> Iterator[BrokerAction]:
        broker = replica.broker
        if not replica.alive:
            yield _one(BrokerReturned(broker, clean=replica.shut_down_cleanly))
            return
        if self.bounds.kills:
            yield BrokerAction((BrokerDied(broker, graceful=False), BrokerRemoved(broker)))
        if self.bounds.stops:
            yield BrokerAction((BrokerDied(broker, graceful=True), BrokerRemoved(broker)))
        for offset in range(replica.log.log_end_offset) if may_fail else ():
            failure = (BrokerDied(broker, graceful=False), LogTailLost(broker, Offset(offset)), BrokerRemoved(broker))
            yield BrokerAction(failure)


def _has_regrown(before: PartitionState, after: PartitionState) -> bool:
    return len(before.controller.isr) < len(before.assignment) == len(after.controller.isr)


def _one(event: Event) -> BrokerAction:
    return BrokerAction((event,))


def _link_moves(state: PartitionState) -> Iterator[BrokerAction]:
    for replica in state.replicas:
        fetch = replica.fetch
        if fetch is None:
            continue
        if fetch.stage is FetchStage.REQUESTED:
            yield _one(RequestReceived(replica.broker))
        elif fetch.stage is FetchStage.ANSWERED:
            yield _one(ResponseReceived(replica.broker))


# What happens in one step of a path? One event, or two where the model lets a consequence follow at once.


@dataclass(frozen=True, slots=True)
class BrokerAction:
    """One step of a path.

    Attributes:
        events: what happens; the first event is the cause of the others.
    """

    events: tuple[Event, ...]

    @property
    def cause(self) -> Event:
        """Return the event that the others follow from."""
        return self.events[0]

    def __str__(self) -> str:  # type: ignore[explicit-override] # typing has it from 3.12 on
        """Return what happens in words."""
        return ", ".join(filter(None, map(_words, self.events)))


def mover(action: BrokerAction) -> BrokerId | None:
    """Return the follower whose link an action moves, or None."""
    match action.cause:
        case RequestReceived(follower) | ResponseReceived(follower) | JoinCommitted(follower) | JoinRefused(follower):
            return follower
        case _:
            return None


def _words(event: Event) -> str:
    match event:
        case RecordSent(label, acks):
            return f"{label} is sent with acks={'all' if acks < 0 else int(acks)}"
        case RequestReceived(follower):
            return f"the request of broker {follower} reaches its leader"
        case LateFetchReceived(follower):
            return f"the last request of broker {follower} before its end reaches its leader late"
        case ResponseReceived(follower):
            return f"the answer reaches broker {follower}"
        case JoinCommitted(follower):
            return f"broker {follower} joins the ISR"
        case JoinRefused(follower):
            return f"the controller does not let broker {follower} join the ISR"
        case BrokerDied(broker, graceful):
            return f"broker {broker} is {'stopped' if graceful else 'killed'}"
        case LogTailLost(broker, offset):
            return f"the disk of broker {broker} loses what is at offset {offset} and above"
        case BrokerReturned(broker):
            return f"broker {broker} starts"
        case _:
            return ""
