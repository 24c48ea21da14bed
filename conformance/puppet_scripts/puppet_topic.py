"""How is a real broker looked at while puppets play its controller, its followers and its leaders?

A stage is one topic on brokers 1, 2 and 3, of which 1 is real. What happens inside one request is measured when the
answer is there. What a broker does in its own time is given time to come to what is expected, and then, whatever came,
until whatever else was set off is over: what is there then is the measurement. That is over once a second topic, the
witness, has gone through the same twice: a broker sends its requests to the controller one by one, in the order in
which they were wished for (``AlterIsrManager``), and one fetcher fetches all partitions that have one leader.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from conformance.probes.connection import BrokerConnection, MemoryRecords, partition_metadata
from conformance.probes.replica import Admission
from conformance.probes.replica_probe import ReplicaProbe
from conformance.puppet_scripts.modelled_broker import ASSIGNMENT, REAL
from fault_injection.puppets.records import Batch
from fault_injection.puppets.served_topics import Served
from fault_injection.waiting import DeadlineExceededError, NotYetError, until
from fault_injection.wire.views import NONE, DivergingEpochView, EpochQuery, FetchPartition
from oracle.log import ModelRecord, ReplicaLog
from oracle.vocabulary import Label, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conformance.puppet_scripts.replica_requests import FollowerRequest
    from fault_injection.puppets.leader import LeaderPuppet
    from fault_injection.puppets.run import PuppetRun
    from fault_injection.puppets.served_topics import Asking
    from fault_injection.wire.controller_views import ErrorsView
    from oracle.rules.rule_set import RuleSet

    T = TypeVar("T")


DEADLINE_S = 20.0
"""For what is expected to come, so that it costs nothing when it does."""
IDLE_ROUNDS = 3
JOINED = 2
"""In-sync replicas of the witness once a follower has joined it."""
JOINS_OF_WITNESS = 2
"""The second is asked for when the answer to the first, and to all before it, has been taken in."""


class PuppetStage:
    """A topic with puppets around it; to be closed.

    Args:
        run: the real broker and its puppets.
        name: of the topic; used once per run.
        rules: of the broker's release, by which its puppets answer too.
        min_insync_replicas: of the topic.
    """

    def __init__(self, run: PuppetRun, name: str, rules: RuleSet, min_insync_replicas: int = 1) -> None:
        self.run, self.rules = run, rules
        self._witness = run.create_topic(f"{name}-witness", ASSIGNMENT, {"min.insync.replicas": str(JOINED)})
        self._witness_epoch = 0
        self.topic = run.create_topic(name, ASSIGNMENT, {"min.insync.replicas": str(min_insync_replicas)})
        self.leaders = {int(broker): run.leader(broker) for broker in ASSIGNMENT if broker != REAL}
        self.followers = {broker: run.follower(broker) for broker in self.leaders}
        self._follows: int | None = None
        self._idle: FollowerRequest | None = None
        self._probe, self._probe_of_witness = (ReplicaProbe(run.cluster, of) for of in (name, self._witness.name))

    def close(self) -> None:
        """Have the broker delete its replica, and bring leaders back that died."""
        try:
            for topic in (self.topic, self._witness):
                self.run.controller.stop_replica(topic, is_deleted=True)
        finally:
            self._probe.close()
            self._probe_of_witness.close()
            for leader in self.leaders.values():
                leader.revive()

    def settled(self, look: Callable[[], T], expected: object) -> T:
        """Look until what is expected is there, or the time is over; return what is there when all else is over too."""
        with suppress(DeadlineExceededError):
            until(lambda: look() == expected, deadline_s=DEADLINE_S, what="what is expected")
        self._await_joins_of_witness()
        return look()

    def _await_joins_of_witness(self) -> None:
        """Have the broker lead the witness, and let a follower join it, until it has taken the controller's answer in.

        Its own in-sync replicas say so. A decision that overtook the answer would leave a leader of 2.7 and 2.8
        waiting for good: what it asks for next is struck off with what was answered (KAFKA-12686).

        Raises:
            DeadlineExceededError: it does not.
        """
        follower = min(self.followers)
        for _ in range(JOINS_OF_WITNESS):
            self._decide_on_witness(REAL, (REAL,))
            until(
                lambda: self._witness_joined(follower), deadline_s=DEADLINE_S, what="a join of the witness's follower"
            )

    def _witness_joined(self, follower: int) -> bool:
        self.followers[follower].fetch(self._witness, 0, leader_epoch=self._witness_epoch)
        return self._probe_of_witness.admission(REAL) is Admission.ADMITTED

    def _decide_on_witness(self, leader: int, isr: tuple[int, ...]) -> None:
        self._witness_epoch += 1
        self.run.controller.decide(self._witness.led_by(leader, self._witness_epoch, isr))

    def numbers(self) -> list[int]:
        """Return the broker's log end offset and high watermark."""
        numbers = self._probe.live_numbers(REAL)
        return [numbers.log_end_offset, numbers.high_watermark]

    def isr(self) -> list[int]:
        """Return the committed in-sync replicas."""
        return list(self.run.controller.isr(self.topic))

    def leader_in_metadata(self) -> int | None:
        """Return whom the broker's metadata name as the leader."""
        with BrokerConnection(self.run.cluster.client_address(REAL)) as connection:
            seen = partition_metadata(connection, self.topic.name, 0)
        return None if seen is None else seen.leader

    def checkpointed_high_watermark(self) -> int | None:
        """Return the high watermark on disk, once it is the broker's own or the time for that is over."""
        with suppress(DeadlineExceededError):
            until(
                lambda: self._probe.checkpointed_high_watermark(REAL) == self.numbers()[1],
                deadline_s=DEADLINE_S,
                what="the high watermark on disk",
            )
        return self._probe.checkpointed_high_watermark(REAL)

    def epochs_on_disk(self) -> list[list[int]]:
        """Return the leader-epoch checkpoint: epochs and the offsets at which they start."""
        return [[start.leader_epoch, start.start_offset] for start in self._probe.epoch_starts(REAL)]

    def values_on_disk(self) -> list[str]:
        """Return the records in the segment file."""
        records = MemoryRecords(self.run.cluster.read_file(REAL, f"{self.topic.name}-0/{0:020}.log"))
        values: list[str] = []
        while records.has_next():
            values += [bytes(record.value).decode() for record in records.next_batch()]
        return values

    def files(self) -> frozenset[str]:
        """Return the data files of the replica that count: without those that are about to be deleted."""
        return frozenset(name for name in self.run.cluster.files(REAL) if name.startswith(f"{self.topic.name}-0/"))

    def restart(self) -> None:
        """Kill the broker and start it; it has no role until the next decision."""
        self.run.restart()
        self._follows = None

    def lead(self, leader_epoch: int, isr: tuple[int, ...]) -> ErrorsView:
        """Make the broker the leader and return its answer to LeaderAndIsr."""
        self._follows = None
        return self.run.controller.decide(self.topic.led_by(REAL, leader_epoch, isr))

    # The broker follows

    def follow(self, leader: int, leader_epoch: int, log: ReplicaLog, high_watermark: int) -> list[FollowerRequest]:
        """Make the broker follow a puppet with this log, let it come to rest, and return what it asked until then.

        Each is given once while it repeats itself; if the leader stays the same, without a first repetition of what
        it asked before.
        """
        puppet, before = self.leaders[leader], None
        if self._follows == leader:  # the fetch under way is answered after the decision, as one of an earlier epoch
            puppet.hold()
            before = self._idle
        puppet.forget()
        puppet.serve(self.topic, served(log, high_watermark, leader_epoch, self.rules))
        self.run.controller.decide(self.topic.led_by(leader, leader_epoch))
        puppet.release()
        self._follows = leader
        once = self._asked_until_rest(puppet)
        self._idle = once[-1] if once else None
        return once[1:] if once[:1] == [before] else once

    def _asked_until_rest(self, leader: LeaderPuppet) -> list[FollowerRequest]:
        def is_at_rest() -> bool:
            last = [self._words(one) for one in leader.asked(self.topic)[-IDLE_ROUNDS:]]
            if len(last) < IDLE_ROUNDS or len(set(last)) > 1:
                raise NotYetError(last)
            return True

        with suppress(DeadlineExceededError):
            until(is_at_rest, deadline_s=DEADLINE_S, what="a fetch that repeats itself")
        return [words for words, _ in groupby(self._words(one) for one in leader.asked(self.topic))]

    def follow_into_silence(self, leader: int, leader_epoch: int) -> FollowerRequest | None:
        """Make the broker follow a puppet that dies with its first request unanswered, and return that request."""
        puppet = self.leaders[leader]
        puppet.serve(self.topic, served(ReplicaLog(), 0, leader_epoch, self.rules))
        puppet.forget()
        puppet.hold_next()
        self.run.controller.decide(self.topic.led_by(leader, leader_epoch))
        with suppress(DeadlineExceededError):
            until(lambda: len(puppet.asked(self.topic)) > 0, deadline_s=DEADLINE_S, what="a request that is held")
        asked = puppet.asked(self.topic)
        puppet.die()
        self._follows = None
        return self._words(asked[0]) if asked else None

    def idle_words(self, leader: int) -> list[FollowerRequest]:
        """Return what the broker asks a puppet that has nothing new for it, in several rounds, each thing once."""
        puppet = self.leaders[leader]
        puppet.forget()
        with suppress(DeadlineExceededError):
            until(lambda: len(puppet.asked(self.topic)) > IDLE_ROUNDS, deadline_s=DEADLINE_S, what="idle rounds")
        return sorted({self._words(one) for one in puppet.asked(self.topic)[1:]})

    def fetch_offset(self, leader: int, *, is_expected: bool) -> int | None:
        """Return the offset that the broker fetches from a puppet at; None if it fetches no more.

        One that is expected to come may take its time. The first request may have been under way: what counts is what
        is asked in some rounds after it, which the witness's fetches tell.
        """
        puppet = self.leaders[leader]
        with suppress(DeadlineExceededError):
            if is_expected:
                puppet.await_fetch(self.topic, deadline_s=DEADLINE_S)
        puppet.serve(self._witness, served(ReplicaLog(), 0, self._witness_epoch + 1, self.rules))
        self._decide_on_witness(leader, ASSIGNMENT)
        self._await_fetches_of_witness(puppet, 1)
        puppet.forget()
        self._await_fetches_of_witness(puppet, IDLE_ROUNDS)
        asked = [one.fetch_offset for one in puppet.asked(self.topic) if isinstance(one, FetchPartition)]
        self._decide_on_witness(REAL, (REAL,))
        return asked[-1] if asked else None

    def _await_fetches_of_witness(self, puppet: LeaderPuppet, rounds: int) -> None:
        def came() -> bool:
            return len(puppet.asked(self._witness)) >= rounds

        until(came, deadline_s=DEADLINE_S, what="the broker's fetches of the witness")

    def _words(self, asking: Asking) -> FollowerRequest:
        match asking:
            case FetchPartition():
                epoch = asking.last_fetched_epoch if self.rules.truncation.checks_on_fetch else NONE
                return "fetch", asking.fetch_offset, epoch
            case EpochQuery():
                return "epoch lookup", NONE, asking.leader_epoch


# What log has a leader puppet, and what does it tell its followers under the rules of a release?


def entries_of(epochs: Iterable[tuple[int, str]]) -> ReplicaLog:
    """Return a log from (leader epoch, labels of one letter) in order."""
    entries = (ModelRecord(Label(label), LeaderEpoch(epoch)) for epoch, labels in epochs for label in labels)
    return ReplicaLog().append(entries)


def served(log: ReplicaLog, high_watermark: int, leader_epoch: int, rules: RuleSet) -> Served:
    """Return the answers of such a leader, record by record one batch, with a high watermark that stands still."""

    def end_of_epoch(leader_epoch: int) -> DivergingEpochView:
        end = rules.truncation.end_offset_for(log, LeaderEpoch(leader_epoch))
        epoch = NONE if end.leader_epoch is None else int(end.leader_epoch)
        return DivergingEpochView(epoch, NONE if end.end_offset is None else int(end.end_offset))

    def diverging(last_epoch: int, offset: int) -> DivergingEpochView | None:
        if not rules.truncation.checks_on_fetch or last_epoch == NONE:
            return None
        end = end_of_epoch(last_epoch)
        return end if end.leader_epoch < last_epoch or end.end_offset < offset else None

    entries = enumerate(log.entries)
    batches = tuple(Batch(offset, entry.leader_epoch, (entry.label.encode(),)) for offset, entry in entries)
    return Served(batches, high_watermark, end_of_epoch, diverging, leader_epoch)
