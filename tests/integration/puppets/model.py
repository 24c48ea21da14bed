"""What would the model's broker 1 do where a real one is driven by puppets?

The puppets' choices are put into the oracle's state as they are made: a decision of the controller, a fetch with any
offset and epoch, a leader's log. Everything that follows from them is the rules' doing.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from oracle.events import (
    DecisionReceived,
    Event,
    FetchCompleted,
    JoinCommitted,
    RecordSent,
    RequestReceived,
    RequestSent,
    ResponseReceived,
)
from oracle.log import NO_EPOCH, Entry, ReplicaLog
from oracle.replication import electing, leading
from oracle.replication.remote import RemoteReplica
from oracle.schedule import Settings
from oracle.state import (
    ControllerView,
    Decision,
    Fetch,
    FetchAnswer,
    FetchKind,
    FetchStage,
    PartitionState,
    ReplicaState,
)
from oracle.transitions import Refusal, step
from oracle.vocabulary import Acks, BrokerId, Label, LeaderEpoch, Offset, Role

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet

REAL = BrokerId(1)
ASSIGNMENT = (BrokerId(1), BrokerId(2), BrokerId(3))
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = FENCED = (74, 75)
OUT_OF_RANGE = 1
ROUNDS_MAX = 20

Told = int | tuple[int, int, tuple[int | None, int | None] | None]
"""An error code, or how many records came, with which high watermark and which diverging epoch."""


def entries_of(*epochs: tuple[int, str]) -> ReplicaLog:
    """Give a log from (leader epoch, labels of one letter) in order."""
    entries = (Entry(Label(label), LeaderEpoch(epoch)) for epoch, labels in epochs for label in labels)
    return ReplicaLog().append(entries)


class ModelledBroker:
    """The partition of broker 1, with puppets as the others."""

    def __init__(self, rules: RuleSet, min_insync_replicas: int = 1) -> None:
        self.rules = rules
        replicas = tuple(map(ReplicaState, ASSIGNMENT))
        view = ControllerView(frozenset(ASSIGNMENT), None, NO_EPOCH, ())
        self._state = PartitionState(ASSIGNMENT, Settings(min_insync_replicas), replicas, view)

    @property
    def replica(self) -> ReplicaState:
        return self._state.replica(REAL)

    @property
    def log_end_offset(self) -> int:
        return self.replica.log.log_end_offset

    @property
    def leader(self) -> int | None:
        return self.replica.leader

    @property
    def numbers(self) -> tuple[int, int]:
        return self.replica.log.log_end_offset, self.replica.high_watermark

    @property
    def isr(self) -> tuple[int, ...]:
        return tuple(sorted(self._state.controller.isr))

    @property
    def labels(self) -> list[str]:
        return [str(entry.label) for entry in self.replica.log.entries]

    @property
    def epochs(self) -> list[tuple[int, int]]:
        """The leader-epoch checkpoint; up to 0.10.2 there is none."""
        if self.rules.truncation.cuts_to_high_watermark:
            return []
        return [(entry.leader_epoch, entry.start_offset) for entry in self.replica.log.epochs]

    def decide(self, leader: int, leader_epoch: int, isr: tuple[int, ...]) -> None:
        """Let the controller commit a decision, and the broker hear it."""
        in_sync = tuple(map(BrokerId, isr))
        decision = Decision(BrokerId(leader), LeaderEpoch(leader_epoch), frozenset(in_sync))
        leaderships = ((decision.leader_epoch, BrokerId(leader), True),)
        view = ControllerView(
            frozenset(ASSIGNMENT), decision.leader, decision.leader_epoch, in_sync, leaderships=leaderships
        )
        heard = replace(self.replica, undelivered=(decision,))
        self._state = replace(self._state, controller=view).with_replica(heard)
        self._step(DecisionReceived(REAL))

    def restart(self) -> None:
        """Kill the broker once its high watermark is on disk, and start it: it has no role until the next decision."""
        dead = electing.die(electing.checkpoint_high_watermarks(self._state), REAL, graceful=False)
        self._state = dead.with_replica(replace(dead.replica(REAL), alive=True))

    def append(self, label: str, acks: Acks = Acks.LEADER) -> str | None:
        """Give the error that a producer learns at once, if it learns one."""
        self._step(RecordSent(Label(label), acks, REAL))
        return self._state.produces[-1].error

    def fetch(self, follower: int, offset: int, leader_epoch: int, last_epoch: int, *, parks: bool) -> Told:
        """Give what the broker tells a follower that asks so, and let what follows from the question happen."""
        asked = Fetch(
            kind=FetchKind.FETCH,
            stage=FetchStage.REQUESTED,
            leader=REAL,
            leader_epoch=LeaderEpoch(leader_epoch),
            offset=Offset(offset),
            last_epoch=LeaderEpoch(last_epoch),
        )
        before = self.replica.high_watermark
        puppet = replace(self._state.replica(BrokerId(follower)), fetch=asked)
        self._state = leading.receive(self._state.with_replica(puppet), puppet, asked, self.rules)
        told = self._told(self._state.replica(puppet.broker).fetch, asked, before, parks=parks)
        self._commit_join(puppet.broker)
        return told

    def _told(self, fetch: Fetch | None, asked: Fetch, before: Offset, *, parks: bool) -> Told:
        if fetch is None:
            return FENCED_LEADER_EPOCH if asked.leader_epoch < self.replica.leader_epoch else UNKNOWN_LEADER_EPOCH
        if fetch.stage is FetchStage.PARKED:
            # A fetch that may not wait is answered as one that got records: with the old high watermark.
            is_new = parks or self.rules.answers_new_high_watermark
            return 0, self.replica.high_watermark if is_new else before, None
        answer = fetch.answer
        assert isinstance(answer, FetchAnswer)
        if answer.out_of_range:
            return OUT_OF_RANGE
        end = answer.diverging
        return (
            len(answer.entries),
            answer.high_watermark,
            None if end is None else (end.leader_epoch, end.end_offset),
        )

    def _commit_join(self, follower: BrokerId) -> None:
        if follower in self.replica.joining:
            self._step(JoinCommitted(follower))

    def follow(self, leader: int, leader_epoch: int, log: ReplicaLog, high_watermark: int) -> None:
        """Let the broker hear that it follows a puppet with a log and a high watermark that stands still."""
        self.decide(leader, leader_epoch, ASSIGNMENT)
        silent = BrokerId(5 - leader)  # the other puppet: in the ISR, and it never fetches
        puppet = ReplicaState(
            BrokerId(leader),
            log=log,
            high_watermark=Offset(high_watermark),
            role=Role.LEADER,
            leader=BrokerId(leader),
            leader_epoch=LeaderEpoch(leader_epoch),
            isr=frozenset({BrokerId(leader), REAL, silent}),
            remotes=(RemoteReplica(silent),),
        )
        self._state = self._state.with_replica(puppet)

    def requests(self) -> list[tuple[str, int, int]]:
        """Run the follower to rest and give what it asks meanwhile, each once while it repeats itself."""
        asked = []
        for _ in range(ROUNDS_MAX):
            fetch = self._round()
            if fetch is None:
                break
            asked.append(self._words(fetch))
        return [words for words, _ in groupby(asked)]

    def _words(self, fetch: Fetch) -> tuple[str, int, int]:
        if fetch.kind is FetchKind.EPOCH_LOOKUP:
            return "epoch lookup", -1, fetch.last_epoch
        return "fetch", fetch.offset, fetch.last_epoch if self.rules.truncation.checks_on_fetch else -1

    def _round(self) -> Fetch | None:
        sent = step(self._state, RequestSent(REAL), self.rules)
        if isinstance(sent, Refusal):
            return None
        self._state = sent.state
        fetch = self.replica.fetch
        self._step(RequestReceived(REAL))
        under_way = self.replica.fetch
        if under_way is not None and under_way.stage is FetchStage.PARKED:
            self._step(FetchCompleted(REAL))
        if self.replica.fetch is not None:
            self._step(ResponseReceived(REAL))
        return fetch

    def _step(self, event: Event) -> None:
        result = step(self._state, event, self.rules)
        assert not isinstance(result, Refusal), result
        self._state = result.state
