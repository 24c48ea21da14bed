"""What does each event mean for one partition? It hands every event to the check that it concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oracle.replacing import replace
from oracle.tracing.answering import Answering
from oracle.tracing.committed import answers_with_epochs
from oracle.tracing.exchange import CAPACITY, Exchange
from oracle.tracing.leadership import begun_by, took_as_follower
from oracle.tracing.observed import (
    Acknowledged,
    BrokerEnded,
    BrokerStarted,
    CheckpointLost,
    DeletionRequested,
    Event,
    FetchAnswered,
    FetchDelivered,
    FetchReceived,
    FetchSent,
    IsrAnnounced,
    IsrAnswered,
    IsrDelivered,
    IsrProposed,
    LeadershipApplied,
    LeadershipHeard,
    LookupAnswered,
    LookupDelivered,
    LookupReceived,
    LookupSent,
    MinIsrSet,
    PartitionObserved,
    Refused,
    ReplicaMeasured,
    ReplicaStopped,
    TailLost,
    end_shown,
)
from oracle.tracing.possibility import OffsetBounds, lost
from oracle.tracing.producing import IsrChanges, Measuring, ProducingChecks
from oracle.tracing.replica import TooManyPossibleError, TracedReplica
from oracle.tracing.sending import SendingChecks, sent_versions

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.invariants import Judge, TraceSettings
    from oracle.tracing.observed import RequestKey
    from oracle.vocabulary import BrokerId

FIRST_EPOCH = 0


class PartitionReplay:
    """Replays the events of one partition from its creation until its topic is deleted.

    The controller announces a deletion by a state without leader in the first epoch; a partition that
    loses its leader gets a new epoch.

    Attributes:
        left_open: why it is not replayed any more, and nothing is known of it; None while it is.
        shown: the end of all offsets that were seen of it, once it is left open.
    """

    def __init__(self, rules: RuleSet, settings: TraceSettings, judge: Judge) -> None:
        """Replay under a release's rules."""
        self.is_followed = False
        self.was_followed = False
        self.left_open: str | None = None
        self.shown = 0
        self._partition_epoch = -1
        self._rules = rules
        self._settings = settings
        self._replicas: dict[BrokerId, TracedReplica] = {}
        self._exchanges: dict[RequestKey, Exchange] = {}
        self._proposals: dict[RequestKey, IsrProposed] = {}
        self._isr_answers: dict[RequestKey, IsrAnswered] = {}
        self._dead: set[BrokerId] = set()
        speech = sent_versions(rules, settings)
        self._sending = SendingChecks(rules, speech, judge)
        self._answering = Answering(rules, judge)
        self._isr_changes = IsrChanges(rules, speech, judge)
        self._producing = ProducingChecks(judge)
        self._measuring = Measuring(judge)
        self._replays = self._replays_of_events()

    def _replays_of_events(self) -> dict[type[Event], Callable[[Any], None]]:
        return {
            FetchSent: self._sent,
            LookupSent: self._sent,
            FetchReceived: self._received,
            LookupReceived: self._received,
            FetchAnswered: self._answered,
            LookupAnswered: self._answered,
            FetchDelivered: self._delivered,
            LookupDelivered: self._delivered,
            LeadershipHeard: self._heard,
            LeadershipApplied: self._applied,
            ReplicaStopped: self._stopped,
            IsrAnnounced: self._announced,
            IsrProposed: self._proposed,
            IsrAnswered: self._isr_answered,
            IsrDelivered: self._isr_delivered,
            TailLost: self._lost_tail,
            DeletionRequested: self._deletion_requested,
            MinIsrSet: self._min_isr_set,
            Acknowledged: self._acknowledged,
            Refused: self._refused,
            ReplicaMeasured: self._measured,
            BrokerEnded: self._broker_ended,
            BrokerStarted: self._broker_started,
            CheckpointLost: self._checkpoint_lost,
        }

    def feed(self, event: Event) -> None:
        """Replay one event.

        Raises:
            NotAllowed: no rule allows it.
        """
        if self.left_open is not None:
            self.shown = max(self.shown, end_shown(event))
            return
        if isinstance(event, LeadershipHeard) and event.leader_epoch == FIRST_EPOCH and not self.is_followed:
            self._begin()
        if self.is_followed or isinstance(event, MinIsrSet) or not isinstance(event, PartitionObserved):
            try:
                self._replays[type(event)](event)
            except TooManyPossibleError as many:
                self._leave_open(many, event)

    def _leave_open(self, many: TooManyPossibleError, event: Event) -> None:
        """Follow the partition no longer, and forget all that may be."""
        self.left_open = str(many) if event.frame is None else f"{many} (frame {event.frame})"
        ends = (one.log.low.end for replica in self._replicas.values() for one in replica.possible)
        self.shown = max(end_shown(event), *ends)
        self._begin()

    def _begin(self) -> None:
        """Follow a partition from its creation on, or from its next one."""
        self.is_followed = self.was_followed = True
        self._partition_epoch = -1
        self._replicas, self._exchanges, self._proposals, self._isr_answers = {}, {}, {}, {}

    def _broker_ended(self, ended: BrokerEnded) -> None:
        self._dead.add(ended.broker)
        for exchange in self._exchanges.values():
            exchange.is_follower_down |= exchange.request.follower == ended.broker
        if ended.broker in self._replicas:
            self._replicas[ended.broker].end(clean=ended.clean)

    def _broker_started(self, started: BrokerStarted) -> None:
        self._dead.discard(started.broker)
        for exchange in self._exchanges.values():
            exchange.is_of_earlier_start |= exchange.request.follower == started.broker
            exchange.is_follower_down &= exchange.request.follower != started.broker

    def _checkpoint_lost(self, lost: CheckpointLost) -> None:
        replica = self._replica(lost.broker)
        replica.keep(replace(one, high_watermark=OffsetBounds()) for one in replica.possible)

    @property
    def replicas(self) -> tuple[TracedReplica, ...]:
        """Return the replicas of the brokers that were heard of; none if the partition is left open."""
        return tuple(self._replicas.values())

    def replica(self, broker: BrokerId) -> TracedReplica | None:
        """Return a broker's replica; None if nothing was seen of it."""
        return self._replicas.get(broker)

    def _replica(self, broker: BrokerId) -> TracedReplica:
        if broker not in self._replicas:
            self._replicas[broker] = TracedReplica(broker, self._rules)
        return self._replicas[broker]

    def _sent(self, sent: FetchSent | LookupSent) -> None:
        follower = self._replica(sent.follower)
        if follower.is_of_earlier_life(sent.key):
            return
        if isinstance(sent, FetchSent):
            self._exchanges[sent.key] = self._sending.fetch(follower, sent)
        else:
            self._exchanges[sent.key] = self._sending.lookup(follower, sent)
        _forget_oldest(self._exchanges)

    def _received(self, received: FetchReceived | LookupReceived) -> None:
        exchange = self._exchanges.get(received.key)
        if exchange is not None:
            self._answering.receive(self._replica(exchange.request.leader), exchange, received.at)

    def _answered(self, answered: FetchAnswered | LookupAnswered) -> None:
        exchange = self._exchanges.get(answered.key)
        if exchange is None:
            return
        exchange.answer = answered
        leader = self._replica(exchange.request.leader)
        if isinstance(answered, FetchAnswered) and answered.log_start_offset is not None:
            leader.begin_at(answered.log_start_offset)
        try:
            self._answering.answer(leader, exchange, answered)
        finally:  # whoever fetched copies it, whatever the check says of it
            if isinstance(answered, FetchAnswered) and self._rules.truncation.notes_epochs:
                exchange.copied = tuple(answers_with_epochs(leader, answered))

    def _delivered(self, delivered: FetchDelivered | LookupDelivered) -> None:
        exchange = self._exchanges.pop(delivered.key, None)
        if exchange is not None:
            exchange.is_delivered = True
            took_as_follower(self._replica(exchange.request.follower))

    def _heard(self, heard: LeadershipHeard) -> None:
        if heard.broker in self._dead:
            return
        replica = self._replica(heard.broker)
        replica.hear(heard)
        view = replica.leadership
        if heard.leader == heard.broker:
            if view is None:
                view = replica.leadership = begun_by(replica, self._rules, self._settings)
                self._producing.begin(heard.at)
            view.hear_isr(heard)
            self._answering.hear(replica, self._exchanges.values(), heard.at)

    def _applied(self, applied: LeadershipApplied) -> None:
        replica = self._replica(applied.broker)
        if applied.error:
            replica.has_refused(applied.key)
            return
        decision = replica.has_applied(applied.key)
        if decision is not None and replica.leadership is not None:
            replica.leadership.begin_epoch(decision, applied.at)

    def _stopped(self, stopped: ReplicaStopped) -> None:
        self._replica(stopped.broker).has_served = False
        if stopped.is_deleted:
            before = self._replica(stopped.broker).reachable()
            self._replicas[stopped.broker] = TracedReplica(stopped.broker, self._rules, before)

    def _announced(self, announced: IsrAnnounced) -> None:
        if announced.leader is None:
            self.is_followed = announced.leader_epoch != FIRST_EPOCH
        elif announced.partition_epoch is not None and announced.partition_epoch > self._partition_epoch:
            self._partition_epoch = announced.partition_epoch
            self._isr_changes.announce(self._replica(announced.leader), announced, self._settings)

    def _proposed(self, proposed: IsrProposed) -> None:
        leader = self._replica(proposed.leader)
        self._isr_changes.propose(leader, proposed, self._settings)
        self._proposals[proposed.key] = proposed
        _forget_oldest(self._proposals)

    def _isr_answered(self, answered: IsrAnswered) -> None:
        if answered.key in self._proposals:
            self._isr_answers[answered.key] = answered

    def _isr_delivered(self, delivered: IsrDelivered) -> None:
        proposal = self._proposals.pop(delivered.key, None)
        answer = self._isr_answers.pop(delivered.key, None)
        if proposal is None or answer is None:
            return
        view = self._replica(proposal.leader).leadership
        if view is not None and answer.error:
            view.give_up()
        elif view is not None and answer.leader_epoch == proposal.leader_epoch:
            view.settle_isr(answer.isr, answer.partition_epoch, delivered.at, is_answer=True)

    def _lost_tail(self, tail: TailLost) -> None:
        replica = self._replica(tail.broker)
        replica.keep(after for one in replica.possible for after in lost(one, tail.offset))

    def _deletion_requested(self, deletion: DeletionRequested) -> None:
        for replica in self._replicas.values():
            if replica.may_lead():
                replica.may_begin_at(deletion.offset)

    def _min_isr_set(self, setting: MinIsrSet) -> None:
        before = self._settings.min_insync_replicas if self.is_followed else setting.min_insync_replicas
        self._settings = replace(
            self._settings, min_insync_replicas=setting.min_insync_replicas, min_insync_replicas_before=before
        )
        for replica in self._replicas.values():
            if replica.leadership is not None:
                replica.leadership.take_settings(self._settings)

    def _acknowledged(self, told: Acknowledged) -> None:
        self._producing.acknowledge(self._replicas.values(), told, self._dead)

    def _refused(self, told: Refused) -> None:
        self._producing.refuse(self._replicas.values(), told)

    def _measured(self, measured: ReplicaMeasured) -> None:
        self._measuring.check(self._replica(measured.broker), measured)


def _forget_oldest(known: dict[RequestKey, Any]) -> None:
    """Forget requests that nobody will answer any more."""
    while len(known) > CAPACITY:
        del known[next(iter(known))]
