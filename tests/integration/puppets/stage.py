"""One real broker among puppets, and the model of its release: each action is done to both, and both must agree."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from conformance.probes.messages import MemoryRecords
from conformance.probes.replica_probe import ReplicaProbe
from fault_injection.puppets.records import Batch
from fault_injection.puppets.served import Served
from fault_injection.waiting import DeadlineExceededError, NotYetError, until
from fault_injection.wire.views import NONE, EpochEnd, EpochQuery, FetchPartition
from oracle.log import ReplicaLog
from oracle.rules.release import parse_version
from oracle.vocabulary import LeaderEpoch
from tests.integration.puppets.model import FENCED, OUT_OF_RANGE, REAL, ModelledBroker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fault_injection.puppets.leader import LeaderPuppet
    from fault_injection.puppets.run import PuppetRun
    from fault_injection.puppets.served_topics import Asking
    from fault_injection.wire.views import FetchedPartition
    from oracle.rules.rule_set import RuleSet

Words = tuple[str, int, int]
"""A follower's request: what it is, its fetch offset, and the epoch it names."""

BROKER = REAL
DEADLINE_S = 4.0
SEVERAL_ROUNDS_S = 0.5
FORGETS_SINCE, REMEMBERS_SINCE = (3, 5, 1), (3, 7)
IDLE_ROUNDS = 3
PARKED_MS = 50


class Stage:
    """A topic on brokers 1, 2 and 3, of which 1 is real; to be closed."""

    def __init__(self, run: PuppetRun, name: str, rules: RuleSet, min_insync_replicas: int = 1) -> None:
        self.run, self.rules = run, rules
        self.topic = run.create_topic(name, (1, 2, 3), {"min.insync.replicas": str(min_insync_replicas)})
        self.model = ModelledBroker(rules, min_insync_replicas)
        self.followers = {broker: run.follower(broker) for broker in (2, 3)}
        self.idle: Words | None = None
        self._probe = ReplicaProbe(run.cluster, name)

    def close(self) -> None:
        self.run.controller.stop_replica(self.topic, is_deleted=True)
        self._probe.close()

    def has_release(self, *minor: int) -> bool:
        return self.run.cluster.spec.release.is_at_least(*minor)

    # The broker leads

    def lead(self, leader_epoch: int, isr: tuple[int, ...]) -> None:
        answer = self.run.controller.decide(self.topic.led_by(BROKER, leader_epoch, isr))
        assert {answer.error, *(part.error for part in answer.partitions)} == {0}
        self.model.decide(BROKER, leader_epoch, isr)
        self.agree()
        assert self.epochs_on_disk() == self.model.epochs

    def restart(self) -> None:
        """Kill the broker once its high watermark is on disk, and start it."""
        until(
            lambda: self._probe.checkpointed_high_watermark(REAL) == self.model.numbers[1],
            deadline_s=DEADLINE_S,
            what="the high watermark's checkpoint",
        )
        self.run.restart()
        self.model.restart()

    def append(self, *labels: str) -> None:
        for label in labels:
            expected = self.model.log_end_offset
            assert self.run.client.append(self.topic, label.encode()) == (0, expected)
            self.model.append(label)
        self.agree()

    def fetch(
        self, follower: int, offset: int, leader_epoch: int, *, last_epoch: int = NONE, parks: bool = False
    ) -> None:
        """Let a puppet fetch, and hold the answer and the broker against the model."""
        isr = self.model.isr
        expected = self.model.fetch(follower, offset, leader_epoch, last_epoch, parks=parks)
        given = self.followers[follower].fetch(
            self.topic,
            offset,
            leader_epoch=leader_epoch,
            last_fetched_epoch=last_epoch if self.rules.truncation.checks_on_fetch else NONE,
            max_wait_ms=PARKED_MS if parks else 0,
        )
        assert _told(given) == expected
        if self.model.isr != isr:
            self._await_join()
        self.agree()

    def agree(self) -> None:
        """Hold the broker's numbers and the committed in-sync replicas against the model, now."""
        assert self._numbers() == self.model.numbers
        assert self.run.controller.isr(self.topic) == self.model.isr

    def _await_join(self) -> None:
        """Wait until the controller has heard the leader's wish, and the leader the answer."""
        expected = (*self.model.numbers, self.model.isr)

        def is_answered() -> bool:
            seen = (*self._numbers(), self.run.controller.isr(self.topic))
            if seen != expected:
                raise NotYetError(seen)
            return True

        until(is_answered, deadline_s=DEADLINE_S, what=f"log end offset, high watermark and ISR {expected}")

    def _numbers(self) -> tuple[int, int]:
        numbers = self._probe.live_numbers(BROKER)
        return numbers.log_end_offset, numbers.high_watermark

    # The broker follows

    def follow(self, leader: LeaderPuppet, leader_epoch: int, log: ReplicaLog, high_watermark: int) -> None:
        """Make the broker follow a puppet with this log; what it asks, and its log in the end, are the model's."""
        leads_on = self.model.leader == leader.broker
        if leads_on:  # the fetch under way is answered after the decision, as one of an earlier epoch
            leader.hold()
        leader.forget()
        leader.serve(self.topic, served(log, high_watermark, leader_epoch, self.rules))
        self.run.controller.decide(self.topic.led_by(leader.broker, leader_epoch))
        leader.release()
        self.model.follow(leader.broker, leader_epoch, log, high_watermark)
        self.agree_with(leader)

    def follow_into_silence(self, leader: LeaderPuppet, leader_epoch: int) -> None:
        """Make the broker follow a puppet that dies with its first request unanswered."""
        leader.serve(self.topic, served(ReplicaLog(), 0, leader_epoch, self.rules))
        leader.forget()
        leader.hold_next()
        self.run.controller.decide(self.topic.led_by(leader.broker, leader_epoch))
        until(lambda: len(leader.asked(self.topic)) > 0, deadline_s=DEADLINE_S, what="a request that is held")
        leader.die()
        self.model.decide(leader.broker, leader_epoch, self.topic.replicas)

    def agree_with(self, leader: LeaderPuppet) -> None:
        requests = self.model.requests()
        expected = self._without_idle(requests)

        def is_at_rest() -> bool:
            asked = self._without_idle(_words(one, self.rules) for one in leader.asked(self.topic))
            seen = (asked, self._numbers())
            if seen != (expected, self.model.numbers):
                raise NotYetError(seen)
            return True

        until(is_at_rest, deadline_s=DEADLINE_S, what=f"requests {expected}, then {self.model.numbers}")
        self.idle = requests[-1]
        assert self.values_on_disk() == self.model.labels
        assert self.epochs_on_disk() == self.model.epochs

    def _without_idle(self, asked: Iterable[Words]) -> list[Words]:
        """Leave out repetitions, and first of all those of the fetch that the broker rested with before."""
        once = [words for words, _ in groupby(self._as_if_remembered(asked))]
        return once[1:] if once[:1] == [self.idle] else once

    def _as_if_remembered(self, asked: Iterable[Words]) -> Iterator[Words]:
        """Put the last fetched epoch back that a release forgets when the first answer is empty (KAFKA-15510)."""
        last: Words | None = self.idle
        for words in asked:
            is_forgotten = self.forgets_last_epoch and last is not None and words == (*last[:2], NONE)
            last = last if is_forgotten and last is not None else words
            yield last

    @property
    def forgets_last_epoch(self) -> bool:
        return FORGETS_SINCE <= parse_version(self.run.cluster.spec.release.version) < REMEMBERS_SINCE

    def idle_words(self, leader: LeaderPuppet) -> set[Words]:
        """Give what the broker asks a puppet that has nothing new for it, in several rounds."""
        leader.forget()
        until(lambda: len(leader.asked(self.topic)) > IDLE_ROUNDS, deadline_s=DEADLINE_S, what="idle rounds")
        return {_words(one, self.rules) for one in leader.asked(self.topic)[1:]}

    def falls_silent(self, leader: LeaderPuppet) -> bool:
        """Tell whether the broker fetches from a puppet no more, after one request that may have been under way."""
        for _ in range(2):
            leader.forget()
            try:
                leader.await_fetch(self.topic, deadline_s=SEVERAL_ROUNDS_S)
            except DeadlineExceededError:
                return True
        return False

    def values_on_disk(self) -> list[str]:
        content = self.run.cluster.read_file(BROKER, f"{self.topic.name}-0/{0:020}.log")
        records = MemoryRecords(content)
        values = []
        while records.has_next():
            values += [bytes(record.value).decode() for record in records.next_batch()]
        return values

    def epochs_on_disk(self) -> list[tuple[int, int]]:
        return [(start.leader_epoch, start.start_offset) for start in self._probe.epoch_starts(BROKER)]

    def files(self) -> set[str]:
        """Give the data files of the replica that count: without those that are about to be deleted."""
        return {name for name in self.run.cluster.files(BROKER) if name.startswith(f"{self.topic.name}-0/")}


def served(log: ReplicaLog, high_watermark: int, leader_epoch: int, rules: RuleSet) -> Served:
    """Give what a leader with this log tells its followers under the rules of a release."""

    def end_of_epoch(leader_epoch: int) -> EpochEnd:
        end = rules.truncation.end_offset_for(log, LeaderEpoch(leader_epoch))
        epoch = NONE if end.leader_epoch is None else int(end.leader_epoch)
        return EpochEnd(epoch, NONE if end.end_offset is None else int(end.end_offset))

    def diverging(last_epoch: int, offset: int) -> EpochEnd | None:
        if not rules.truncation.checks_on_fetch or last_epoch == NONE:
            return None
        end = end_of_epoch(last_epoch)
        return end if end.leader_epoch < last_epoch or end.end_offset < offset else None

    entries = enumerate(log.entries)
    batches = tuple(Batch(offset, entry.leader_epoch, (entry.label.encode(),)) for offset, entry in entries)
    return Served(batches, high_watermark, end_of_epoch, diverging, leader_epoch)


def _told(given: FetchedPartition) -> object:
    if given.error in (*FENCED, OUT_OF_RANGE):
        return given.error
    assert given.error == 0
    count = sum(run.last_offset - (run.first_offset or 0) + 1 for run in given.epochs)
    end = given.diverging_epoch
    return count, given.high_watermark, None if end is None else (end.leader_epoch, end.end_offset)


def _words(asking: Asking, rules: RuleSet) -> Words:
    match asking:
        case FetchPartition():
            return "fetch", asking.fetch_offset, asking.last_fetched_epoch if rules.truncation.checks_on_fetch else NONE
        case EpochQuery():
            return "epoch lookup", NONE, asking.leader_epoch
