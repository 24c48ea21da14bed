"""What would the model's broker 1 do where a real one is driven by puppets?

The puppets' choices are put into the oracle's state as they are made: a decision of the controller, a fetch with any
offset and epoch, a leader's log. Everything that follows from them is the rules' doing. Nothing here knows a real
broker.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from conformance.puppet_scripts.replica_requests import (
    FollowerRequests,
    LeaderAnswer,
    diverging_in,
)
from oracle.error_codes import ErrorCode
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
from oracle.log import NO_EPOCH, ReplicaLog
from oracle.replication import electing, leading
from oracle.replication.remote import RemoteReplica
from oracle.schedule import TopicSettings
from oracle.state import (
    ControllerDecision,
    ControllerView,
    FetchAnswer,
    FetchInFlight,
    FetchKind,
    FetchStage,
    PartitionState,
    ReplicaState,
)
from oracle.transitions import Refusal, step
from oracle.vocabulary import Acks, BrokerId, Label, LeaderEpoch, Offset, ReplicaRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.puppet_scripts.replica_requests import FollowerRequest
    from oracle.rules.rule_set import RuleSet

REAL = BrokerId(1)
ASSIGNMENT = (BrokerId(1), BrokerId(2), BrokerId(3))
ROUNDS_MAX = 20
SETTING_OF_ACKS = {1: Acks.LEADER, -1: Acks.ALL}


class ModelledBroker:
    """The partition of broker 1, with puppets as the others.

    Args:
        rules: of the release.
        min_insync_replicas: of the topic.

    Attributes:
        idle: what the broker asks again and again as a follower at rest; None before it first rested.
        metadata_leader: whom the broker's metadata name as the leader.
        has_files: whether the replica's files are there.
        open_since: the first offset of the transaction that goes on; None if none does.
    """

    def __init__(self, rules: RuleSet, min_insync_replicas: int = 1) -> None:
        self.rules = rules
        self._speech = FollowerRequests(rules)
        self.idle: FollowerRequest | None = None
        self.metadata_leader: int | None = None
        self.has_files = False
        self.open_since: int | None = None
        replicas = tuple(map(ReplicaState, ASSIGNMENT))
        view = ControllerView(frozenset(ASSIGNMENT), None, NO_EPOCH, ())
        self._state = PartitionState(ASSIGNMENT, TopicSettings(min_insync_replicas), replicas, view)

    @property
    def replica(self) -> ReplicaState:
        """Return the broker's own replica."""
        return self._state.replica(REAL)

    @property
    def log_end_offset(self) -> int:
        """Return the offset of the next record."""
        return self.replica.log.log_end_offset

    @property
    def leader(self) -> int | None:
        """Whom the broker believes to lead."""
        return self.replica.leader

    @property
    def high_watermark(self) -> int:
        """Return the first offset that the broker does not know to be committed."""
        return self.replica.high_watermark

    @property
    def last_stable_offset(self) -> int:
        """Return the first offset that a reader of committed records does not see; its leader is alone in sync."""
        return self.high_watermark if self.open_since is None else min(self.open_since, self.high_watermark)

    @property
    def isr(self) -> tuple[int, ...]:
        """Return the committed in-sync replicas."""
        return tuple(sorted(self._state.controller.isr))

    @property
    def labels(self) -> list[str]:
        """Return the records in the broker's log."""
        return [str(entry.label) for entry in self.replica.log.entries]

    @property
    def epochs(self) -> list[tuple[int, int]]:
        """Return the leader-epoch checkpoint; up to 0.10.2 there is none."""
        if self.rules.truncation.cuts_to_high_watermark:
            return []
        return [(entry.leader_epoch, entry.start_offset) for entry in self.replica.log.epochs]

    def decide(self, leader: int, leader_epoch: int, isr: tuple[int, ...], *, reaches_metadata: bool = True) -> int:
        """Let the controller commit a decision, with or without UpdateMetadata; return the error code of the broker."""
        in_sync = tuple(map(BrokerId, isr))
        decision = ControllerDecision(BrokerId(leader), LeaderEpoch(leader_epoch), frozenset(in_sync))
        leaderships = ((decision.leader_epoch, BrokerId(leader), True),)
        view = ControllerView(
            frozenset(ASSIGNMENT), decision.leader, decision.leader_epoch, in_sync, leaderships=leaderships
        )
        self.has_files = True
        if reaches_metadata:
            self.metadata_leader = leader
        heard = replace(self.replica, undelivered=(decision,))
        self._state = replace(self._state, controller=view).with_replica(heard)
        self._step(DecisionReceived(REAL))
        return ErrorCode.NONE if leader != REAL or leading.can_lead(self.replica) else ErrorCode.OFFSET_OUT_OF_RANGE

    def restart(self) -> None:
        """Kill the broker once its high watermark is on disk, and start it: it has no role until the next decision."""
        dead = electing.die(electing.checkpoint_high_watermarks(self._state), REAL, graceful=False)
        self._state = dead.with_replica(replace(dead.replica(REAL), alive=True))

    def stop(self, *, is_deleted: bool) -> None:
        """Let the broker hear that it has no replica to run, and none to keep if it is deleted."""
        self.has_files = not is_deleted
        idle = replace(self.replica, role=ReplicaRole.NONE, leader=None, fetch=None)
        self._state = self._state.with_replica(idle)

    def append(self, label: str, acks: int = 1) -> int:
        """Return the error code that the producer of a record learns, in the end, while no follower fetches."""
        if acks not in SETTING_OF_ACKS:
            return ErrorCode.INVALID_REQUIRED_ACKS
        if self.replica.role is not ReplicaRole.LEADER:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        self._step(RecordSent(Label(label), SETTING_OF_ACKS[acks], REAL))
        sent = self._state.produces[-1]
        if sent.outcome is None:
            return ErrorCode.REQUEST_TIMED_OUT
        return ErrorCode.NONE if sent.error is None else ErrorCode[sent.error]

    def fetch(self, follower: int, offset: int, leader_epoch: int, last_epoch: int, *, parks: bool) -> LeaderAnswer:
        """Return what the broker tells a follower that asks so, and let what follows from the question happen."""
        asked = FetchInFlight(
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

    def _told(self, fetch: FetchInFlight | None, asked: FetchInFlight, before: Offset, *, parks: bool) -> LeaderAnswer:
        if fetch is None:
            return LeaderAnswer(self.error_for_epoch(NO_EPOCH if asked.leader_epoch is None else asked.leader_epoch))
        if fetch.stage is FetchStage.PARKED:
            # A fetch that may not wait is answered as one that got records: with the old high watermark.
            is_new, now = parks or self.rules.answers_new_high_watermark, self.replica.high_watermark
            is_pushed = parks and self.rules.wakes_waiting_fetch(before, now)
            return LeaderAnswer(high_watermark=now if is_new else before, is_pushed=is_pushed)
        answer = fetch.answer
        assert isinstance(answer, FetchAnswer)
        if answer.out_of_range:
            return LeaderAnswer(ErrorCode.OFFSET_OUT_OF_RANGE)
        return LeaderAnswer(0, len(answer.entries), answer.high_watermark, diverging_in(answer))

    def error_for_epoch(self, leader_epoch: int) -> int:
        """Return the error code for a request that claims a leader epoch, which the leader may fence (KIP-320)."""
        own = self.replica.leader_epoch
        if self.rules.serves_epoch(LeaderEpoch(leader_epoch), own):
            return ErrorCode.NONE
        return ErrorCode.FENCED_LEADER_EPOCH if leader_epoch < own else ErrorCode.UNKNOWN_LEADER_EPOCH

    def end_of_epoch(self, leader_epoch: int) -> tuple[int | None, int | None]:
        """Return the leader's answer to the question where an epoch ends: epoch and offset."""
        end = self.rules.truncation.end_offset_for(self.replica.log, LeaderEpoch(leader_epoch))
        return end.leader_epoch, end.end_offset

    def _commit_join(self, follower: BrokerId) -> None:
        if follower in self.replica.joining:
            self._step(JoinCommitted(follower))

    def follow(self, leader: int, leader_epoch: int, log: ReplicaLog, high_watermark: int) -> list[FollowerRequest]:
        """Let the broker follow a puppet with a log and a high watermark that stands still, and come to rest.

        Returns:
            What it asks until then, each once while it repeats itself; if its leader stays the same, without a first
            repetition of what it asked before.
        """
        before = self.idle if self.leader == leader else None
        self._lead(leader, leader_epoch, log, high_watermark)
        once = [words for words, _ in groupby(self._requests())]
        self.idle = once[-1] if once else None
        return once[1:] if once[:1] == [before] else once

    def follow_on(self, leader: int, leader_epoch: int, log: ReplicaLog, high_watermark: int) -> list[FollowerRequest]:
        """Follow a puppet whose next epoch begins while the first request is on its way; return what is asked then."""
        self._lead(leader, leader_epoch, log, high_watermark)
        self._step(RequestSent(REAL))
        self._lead(leader, leader_epoch + 1, log, high_watermark)
        self._step(RequestReceived(REAL))
        if self.replica.fetch is not None:
            self._step(ResponseReceived(REAL))
        return list(self._requests())

    def begin_late(self, leader: int, leader_epoch: int, log: ReplicaLog, log_start: int) -> None:
        """Let the broker follow a puppet whose log begins late, until its first fetch has been found out of range."""
        self._lead(leader, leader_epoch, log, log.log_end_offset)
        puppet = self._state.replica(BrokerId(leader))
        self._state = self._state.with_replica(replace(puppet, log_start_offset=Offset(log_start)))
        next((asked for asked in iter(self._round, None) if asked.kind is FetchKind.FETCH), None)

    def _lead(self, leader: int, leader_epoch: int, log: ReplicaLog, high_watermark: int) -> None:
        self.decide(leader, leader_epoch, ASSIGNMENT)
        self._speech = FollowerRequests(self.rules)
        silent = BrokerId(5 - leader)  # the other puppet: in the ISR, and it never fetches
        puppet = ReplicaState(
            BrokerId(leader),
            log=log,
            high_watermark=Offset(high_watermark),
            role=ReplicaRole.LEADER,
            leader=BrokerId(leader),
            leader_epoch=LeaderEpoch(leader_epoch),
            isr=frozenset({BrokerId(leader), REAL, silent}),
            remotes=(RemoteReplica(silent),),
        )
        self._state = self._state.with_replica(puppet)

    def first_request(self) -> FollowerRequest:
        """Return what the follower asks first; its leader dies before it answers."""
        sent = step(self._state, RequestSent(REAL), self.rules)
        assert not isinstance(sent, Refusal), sent
        fetch = sent.state.replica(REAL).fetch
        assert fetch is not None
        return self._speech.words(fetch)

    def _requests(self) -> Iterator[FollowerRequest]:
        for _ in range(ROUNDS_MAX):
            fetch = self._round()
            if fetch is None:
                return
            yield self._speech.answered(fetch)

    def _round(self) -> FetchInFlight | None:
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
            fetch = self.replica.fetch
            self._step(ResponseReceived(REAL))
        return fetch

    def _step(self, event: Event) -> None:
        result = step(self._state, event, self.rules)
        assert not isinstance(result, Refusal), result
        self._state = result.state
