"""How do events and frames read? Words for the stories of ``explaining`` and the races of ``races``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from oracle.events import (
    BrokerRemoved,
    DecisionReceived,
    FetchCompleted,
    JoinAnswered,
    JoinCommitted,
    JoinRefused,
    LateFetchReceived,
    RequestReceived,
    RequestSent,
    ResponseReceived,
    ShrinkAnswered,
    ShrinkCommitted,
)
from oracle.rules import base_protocol
from oracle.state import FetchAnswer, FetchKind
from oracle.vocabulary import ReplicaRole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.events import Event
    from oracle.rules.rule import Rule
    from oracle.state import FetchInFlight, ReplicaState
    from oracle.steps.step import Step
    from oracle.vocabulary import BrokerId, Label, PointName
    from oracle.world import World


def labels(records: Iterable[Label]) -> str:
    """Return records as a list in words."""
    return ", ".join(records)


def brokers(ids: Iterable[BrokerId]) -> str:
    """Return brokers as a list in words."""
    listed = sorted(ids)
    return f"broker{'s' if len(listed) > 1 else ''} {', '.join(map(str, listed))}"


def request(fetch: FetchInFlight) -> str:
    """Return a request in words."""
    if fetch.kind is FetchKind.EPOCH_LOOKUP:
        return f"lookup of epoch {fetch.last_epoch}"
    return f"fetch at offset {fetch.offset}"


def controller_frame(broker: BrokerId, point: PointName) -> str:
    """Return a frame that stands between a broker and the controller in words."""
    return f"{point.value.replace('_', ' ')} between broker {broker} and the controller"


def frame(follower: ReplicaState, point: PointName) -> str:
    """Return a frame that stands in the gate in words."""
    fetch = follower.fetch
    assert fetch is not None, "a hold that has caught a frame holds its follower's request"
    if not point.value.endswith("response"):
        return f"broker {follower.broker}'s {request(fetch)} before leader {fetch.leader} sees it"
    answer = fetch.answer
    carried = f", which carries high watermark {answer.high_watermark}," if isinstance(answer, FetchAnswer) else ""
    return f"the answer to broker {follower.broker}'s {request(fetch)}{carried} before the broker sees it"


def event_words(event: Event | None, before: World) -> str:
    """Return an event on a link in words, as it happens in a state."""
    match event:
        case JoinCommitted() | JoinAnswered() | JoinRefused():
            return _join_words(event)
        case ShrinkAnswered():
            return "the leader hears that the lagging replicas are out of the ISR"
        case ShrinkCommitted():
            return "the controller removes the lagging replicas from the ISR"
        case BrokerRemoved(broker):
            return f"the controller notices that broker {broker} is gone"
        case DecisionReceived(broker):
            return f"broker {broker} hears the controller's decision"
        case RequestSent(follower):
            return f"broker {follower} sends its next request"
        case LateFetchReceived(follower, late):
            return f"broker {follower}'s {request(late)} reaches leader {late.leader} late"
        case RequestReceived(follower) | FetchCompleted(follower) | ResponseReceived(follower):
            fetch = before.state.replica(follower).fetch
            assert fetch is not None, "an event on a link moves the request that is under way"
            return _link_words(event, follower, fetch)
        case _:
            return "the partition comes to rest"


def _join_words(event: JoinCommitted | JoinAnswered | JoinRefused) -> str:
    match event:
        case JoinCommitted(follower):
            return f"the controller adds broker {follower} to the ISR"
        case JoinAnswered(follower):
            return f"the leader hears that broker {follower} is in the ISR"
        case _:
            return f"the controller refuses to add broker {event.follower} to the ISR"


def _link_words(event: Event, follower: BrokerId, fetch: FetchInFlight) -> str:
    match event:
        case RequestReceived():
            return f"broker {follower}'s {request(fetch)} reaches leader {fetch.leader}"
        case FetchCompleted():
            return f"leader {fetch.leader} answers broker {follower}'s parked {request(fetch)}"
        case _:
            return f"broker {follower} has the answer to its {request(fetch)}"


def why_high_watermark_moved(
    old: ReplicaState, new: ReplicaState, event: Event | None, before: World
) -> tuple[str, Rule]:
    """Return what moved a replica's high watermark, and the rule behind it.

    A leader recomputes it on its own append, on a follower's fetch, on becoming leader and when the ISR
    changes (HW-07).
    """
    if old.alive and not new.alive:
        return "restored from its checkpoint file", base_protocol.HIGH_WATERMARK_RESTORED
    if not new.alive:
        return "its disk forgets", base_protocol.HIGH_WATERMARK_RESTORED
    if new.role is not ReplicaRole.LEADER:
        is_cut = new.high_watermark < old.high_watermark and new.high_watermark == new.log.log_end_offset
        why = f"its log ends at {new.log.log_end_offset}" if is_cut else f"leader {new.leader} tells it"
        return why, base_protocol.HIGH_WATERMARK_OF_FOLLOWER
    return f"as {_occasion(old, new, event, before)}", base_protocol.HIGH_WATERMARK_OF_LEADER


def _occasion(old: ReplicaState, new: ReplicaState, event: Event | None, before: World) -> str:
    if old.role is not ReplicaRole.LEADER:
        return f"broker {new.broker} becomes leader"
    gone = old.maximal_isr() - new.maximal_isr()
    if gone:
        return f"{brokers(gone)} left the ISR"
    return f"leader {new.broker} appends, alone in the ISR" if event is None else event_words(event, before)


# What happened, and why? Every change of the model's state with its step, its cause and its rule.
#
# A change is found by comparing two states with one event between them; no rule writes its own history,
# so a story cannot say what the model did not do.


class ChangeKind(StrEnum):
    """What kind of number or fact changed."""

    APPENDED = "appended"
    CUT = "cut"
    HIGH_WATERMARK = "high_watermark"
    COMMITTED = "committed"
    ANSWERED = "answered"
    ELECTED = "elected"
    LEADERLESS = "leaderless"
    ISR = "isr"
    HELD = "held"
    LET_GO = "let_go"
    PROCESS = "process"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened.

    Attributes:
        step: index of the step during which it happened; -1 when the partition was created.
        during: that step in words, such as ``step 3 (produce m1)``.
        text: what happened and what caused it.
        broker: whose state changed; None if it is the producer's or the controller's.
        records: the records it is about.
        rule: what decided it; None for a fault, which no rule decides.
        hold: the hold that caught or let go a frame of this broker's.
    """

    step: int
    during: str
    kind: ChangeKind
    text: str
    broker: BrokerId | None = None
    records: tuple[Label, ...] = ()
    rule: Rule | None = None
    hold: str | None = None

    def sentence(self) -> str:
        """Return what happened as one line, its rule in brackets."""
        return self.text if self.rule is None else f"{self.text} [{self.rule.name}]"

    def as_json(self) -> dict[str, Any]:
        """Return the change as ``predict --explain --json`` has it."""
        return {
            "step": self.step,
            "during": self.during,
            "kind": self.kind.value,
            "text": self.text,
            "broker": self.broker,
            "records": list(self.records),
            "hold": self.hold,
            "rule": None if self.rule is None else {"name": self.rule.name, "source": self.rule.source},
        }


Chronicle = tuple[Change, ...]


def step_words(index: int, step: Step) -> str:
    """Return a step's number, counted from 1, and what it is, in the words of a schedule."""
    return f"step {index + 1} ({step.word} {step.subject()})"
