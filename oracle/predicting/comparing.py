"""What did one event change? Two states are compared, replica by replica, then controller, producers, gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.events import ResponseReceived
from oracle.predicting.wording import (
    Change,
    ChangeKind,
    brokers,
    controller_frame,
    frame,
    labels,
    why_high_watermark_moved,
)
from oracle.replication.following import TAIL_LOST
from oracle.rules import base_protocol, diverging_log, isr
from oracle.vocabulary import Acks, ProduceOutcome, ReplicaRole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from oracle.events import Event
    from oracle.rules.rule import Rule
    from oracle.rules.rule_set import RuleSet
    from oracle.state import ControllerView, ProduceState, ReplicaState
    from oracle.steps.frames import Hold
    from oracle.vocabulary import BrokerId, Label
    from oracle.world import Obstacles, World


@dataclass(frozen=True, slots=True)
class StateChange:
    """Two states with one event, or one step's own stroke, between them.

    Attributes:
        step: index of the step during which it happened.
        during: that step in words.
        event: what happened; None if it was the step itself.
    """

    step: int
    during: str
    event: Event | None
    before: World
    after: World

    def changes(self) -> Iterator[Change]:
        """Yield what changed, causes before effects."""
        for broker, text in obstacle_words(self.before.obstacles, self.after.obstacles):
            yield self._change(ChangeKind.PROCESS, text, None, broker=broker)
        for old, new in zip(self.before.state.replicas, self.after.state.replicas, strict=True):
            if old is not new:
                yield from self._process(old, new)
        yield from self._controller()
        for old, new in zip(self.before.state.replicas, self.after.state.replicas, strict=True):
            if old is not new:
                yield from self._log(old, new)
        yield from self._high_watermarks()
        yield from self._producers()
        yield from self._holds()

    @property
    def cause(self) -> Event | None:
        """Return the event, also the one that the step itself was: a fetch that reached its leader late."""
        if self.event is not None:
            return self.event
        after = self.after.gate.late
        gone = (one.arrival for one in self.before.gate.late if one not in after)
        return next((arrival for arrival in gone if self._is_alive(arrival.fetch.leader)), None)

    def _is_alive(self, broker: BrokerId) -> bool:
        return self.after.state.replica(broker).alive

    def _change(self, kind: ChangeKind, text: str, rule: Rule | None, **about: object) -> Change:
        return Change(self.step, self.during, kind, text, rule=rule, **about)  # type: ignore[arg-type]

    def _process(self, old: ReplicaState, new: ReplicaState) -> Iterator[Change]:
        if old.alive and not new.alive:
            yield self._end(new)
        if new.alive and not old.alive:
            yield self._change(ChangeKind.PROCESS, f"broker {new.broker} starts", None, broker=new.broker)
        if is_deleted(old, new):
            text = f"broker {new.broker} deletes its replica: it is not assigned any more"
            yield self._change(ChangeKind.PROCESS, text, self.after.rules.reassignment.rule, broker=new.broker)
        elif (started := start_words(old, new)) is not None:
            yield self._change(ChangeKind.PROCESS, started, None, broker=new.broker)

    def _end(self, ended: ReplicaState) -> Change:
        """Return how a broker ended: by a step, or by itself when it had an answer."""
        rule = None
        how = "stops gracefully" if ended.shut_down_cleanly else "is killed"
        if isinstance(self.event, ResponseReceived):
            end = "hangs in its own shutdown, its ports closed" if ended.stuck else "ends its process in good order"
            how, rule = f"{end}: it is ahead of its leader", diverging_log.AHEAD_GIVES_UP
        return self._change(ChangeKind.PROCESS, f"broker {ended.broker} {how}", rule, broker=ended.broker)

    def _controller(self) -> Iterator[Change]:
        old, new = self.before.state.controller, self.after.state.controller
        rules = self.after.rules
        if new.leaderships != old.leaderships:
            epoch, leader, was_clean = new.leaderships[-1]
            without = self._missing_on(self.after.state.replica(leader))
            how = "cleanly" if was_clean else "uncleanly"
            text = f"broker {leader} is elected {how}, leader epoch {epoch}"
            text += f", without {labels(without)}" if without else ""
            yield self._change(ChangeKind.ELECTED, text, rules.election.rule, broker=leader, records=without)
        elif new.leader is None and old.leader is not None:
            text = "there is no leader: no replica may be elected"
            yield self._change(ChangeKind.LEADERLESS, text, rules.election.rule)
        if sorted(new.isr) != sorted(old.isr):
            gone, come = set(old.isr) - set(new.isr), set(new.isr) - set(old.isr)
            words = [f"{brokers(gone)} left"] * bool(gone) + [f"{brokers(come)} joined"] * bool(come)
            text = f"the ISR is {{{', '.join(map(str, sorted(new.isr)))}}}: {', '.join(words)}"
            yield self._change(ChangeKind.ISR, text, isr_rule(old, new, self.after.state.assignment, rules))

    def _missing_on(self, leader: ReplicaState) -> tuple[Label, ...]:
        """Return the records that were appended before and that this leader does not have, oldest first."""
        served = {entry.label for entry in leader.log.entries}
        written = (p.label for p in self.before.state.produces if p.required_offset is not None)
        return tuple(label for label in written if label not in served)

    def _log(self, old: ReplicaState, new: ReplicaState) -> Iterator[Change]:
        known = len(self.before.state.history_truncations)
        cuts = self.after.state.history_truncations[known:]
        for label, reason in [(label, reason) for broker, label, reason in cuts if broker == new.broker]:
            offset = [entry.label for entry in old.log.entries].index(label)
            text = f"broker {new.broker} cuts {label} at offset {offset}, following leader {new.leader}"
            rule: Rule | None = rule_named(self.after.rules, reason)
            if reason == TAIL_LOST:
                text, rule = f"the disk of broker {new.broker} forgets {label} at offset {offset}", None
            yield self._change(ChangeKind.CUT, text, rule, broker=new.broker, records=(label,))
        for offset in range(old.log.log_end_offset, new.log.log_end_offset):
            entry = new.log.entries[offset]
            leads = new.role is ReplicaRole.LEADER
            verb = "leader {} appends" if leads else "broker {} appends"
            text = f"{verb.format(new.broker)} {entry.label} at offset {offset}, leader epoch {entry.leader_epoch}"
            rule = base_protocol.LEADER_APPENDS if leads else base_protocol.FOLLOWER_APPENDS
            yield self._change(ChangeKind.APPENDED, text, rule, broker=new.broker, records=(entry.label,))

    def _high_watermarks(self) -> Iterator[Change]:
        for old, new in zip(self.before.state.replicas, self.after.state.replicas, strict=True):
            if old.high_watermark == new.high_watermark or is_deleted(old, new):
                continue
            why, rule = why_high_watermark_moved(old, new, self.cause, self.before)
            direction = "rises" if new.high_watermark > old.high_watermark else "falls"
            whose = f"leader {new.broker}" if new.role is ReplicaRole.LEADER else f"broker {new.broker}"
            text = f"high watermark of {whose} {direction} from {old.high_watermark} to {new.high_watermark}: {why}"
            yield self._change(ChangeKind.HIGH_WATERMARK, text, rule, broker=new.broker)
            if new.role is ReplicaRole.LEADER:
                yield from self._commits(new, why)

    def _commits(self, leader: ReplicaState, why: str) -> Iterator[Change]:
        fresh = self.after.state.history_committed - self.before.state.history_committed
        passed = tuple(entry.label for entry in leader.log.entries if entry.label in fresh)
        for label in passed:
            text = f"{label} is committed: high watermark of leader {leader.broker} rises to {leader.high_watermark}"
            rule = base_protocol.HIGH_WATERMARK_OF_LEADER
            yield self._change(ChangeKind.COMMITTED, f"{text}, {why}", rule, broker=leader.broker, records=(label,))

    def _producers(self) -> Iterator[Change]:
        known = {produce.label: produce for produce in self.before.state.produces}
        for produce in self.after.state.produces:
            old = known.get(produce.label)
            if produce.outcome is not None and (old is None or old.outcome is None):
                text, rule = _answer(produce)
                yield self._change(ChangeKind.ANSWERED, text, rule, records=(produce.label,))

    def _holds(self) -> Iterator[Change]:
        before = {armed.hold.name: armed for armed in self.before.gate.holds if armed.caught}
        after = {armed.hold.name: armed for armed in self.after.gate.holds if armed.caught}
        for name, armed in after.items():
            if name not in before:
                text = f"hold {name!r} catches {self._frame(armed.hold)}"
                yield self._change(ChangeKind.HELD, text, None, broker=_counterpart(armed.hold), hold=name)
        for name, armed in before.items():
            if name not in after:
                text = f"hold {name!r} is gone"
                yield self._change(ChangeKind.LET_GO, text, None, broker=_counterpart(armed.hold), hold=name)

    def _frame(self, hold: Hold) -> str:
        if hold.broker is not None:
            return controller_frame(hold.broker, hold.point)
        assert hold.follower is not None, "a hold is on a link or on a channel to the controller"
        return frame(self.after.state.replica(hold.follower), hold.point)


def is_deleted(old: ReplicaState, new: ReplicaState) -> bool:
    """Return whether a running broker has given a replica up."""
    return old.alive and old.role is not ReplicaRole.NONE and new.alive and new.role is ReplicaRole.NONE


_REFUSING: dict[str | None, Rule] = {
    "LEADER_NOT_AVAILABLE": base_protocol.NO_LEADER,
    "NOT_LEADER_OR_FOLLOWER": base_protocol.NO_LEADER,
    "INVALID_REQUIRED_ACKS": base_protocol.INVALID_ACKS,
}


def _answer(produce: ProduceState) -> tuple[str, Rule]:
    acks = "all" if produce.acks is Acks.ALL else str(int(produce.acks))
    match produce.outcome:
        case ProduceOutcome.ACKNOWLEDGED:
            return f"the producer of {produce.label} is acknowledged (acks={acks})", base_protocol.ACKNOWLEDGED
        case ProduceOutcome.REFUSED:
            rule = _REFUSING.get(produce.error, base_protocol.REFUSED)
            return f"the producer of {produce.label} is refused: {produce.error}", rule
        case _:
            error = f": {produce.error}" if produce.error else ""
            text = f"the producer of {produce.label} does not learn its outcome (acks={acks}){error}"
            return text, base_protocol.INDETERMINATE


def _counterpart(hold: Hold) -> BrokerId | None:
    """Return the broker whose frame a hold waits for."""
    return hold.follower if hold.broker is None else hold.broker


def isr_rule(old: ControllerView, new: ControllerView, assigned: Collection[BrokerId], rules: RuleSet) -> Rule:
    """Return the rule behind a change of the ISR: a reassignment, election, join, lag, or a broker's end."""
    gone = set(old.isr) - set(new.isr)
    if not gone <= set(assigned):
        return rules.reassignment.rule
    if new.leaderships != old.leaderships or (gone and not gone <= new.registered):
        return rules.election.rule
    if gone:
        return _first_of(rules, isr.BEHIND_LEAVES, isr.SILENT_LEAVES)
    return _first_of(rules, isr.JOIN_AT_EPOCH_START, isr.JOIN_AT_HIGH_WATERMARK)


def _first_of(rules: RuleSet, rule: Rule, otherwise: Rule) -> Rule:
    return rule if rule in rules.rules else otherwise


def rule_named(rules: RuleSet, name: str) -> Rule:
    """Return a rule of a rule set, or of the base protocol, by its name."""
    return next((rule for rule in rules.rules if rule.name == name), base_protocol.OUT_OF_RANGE)


# What was put in the way of frames, or taken away, and which records were deleted? In words, for the chronicle.


def obstacle_words(old: Obstacles, new: Obstacles) -> Iterator[tuple[BrokerId, str]]:
    """Yield whom each change concerns, and what it is."""
    for broker in sorted(new.paused - old.paused):
        yield broker, f"broker {broker} is paused: it neither fetches, serves nor hears"
    for broker in sorted(old.paused - new.paused):
        yield broker, f"broker {broker} stands still no more"
    for broker in sorted(new.isolated - old.isolated):
        yield broker, f"broker {broker} is cut off from every other node"
    for broker in sorted(old.isolated - new.isolated):
        yield broker, f"broker {broker} reaches the other nodes again"
    for follower, leader in sorted(new.cuts - old.cuts):
        yield follower, f"no fetch of broker {follower} reaches broker {leader}"
    for follower, leader in sorted(old.cuts - new.cuts):
        yield follower, f"fetches of broker {follower} reach broker {leader} again"


def start_words(old: ReplicaState, new: ReplicaState) -> str | None:
    """Return where a replica's log starts now, in words; None if it starts where it did."""
    if new.log_start_offset == old.log_start_offset:
        return None
    if new.log_start_offset > old.log_start_offset:
        return f"broker {new.broker} deletes what is before offset {new.log_start_offset}: its log starts there"
    return f"broker {new.broker} has not written down where its log starts: at {new.log_start_offset} again"
