"""By which clock is a follower judged that never stops fetching? By when it last had everything."""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, QuestionAnswer, Took
from conformance.examining.examination_cluster import DEADLINE_S, examination_cluster
from conformance.interruption import InconclusiveError
from conformance.probes.replica_probe import ReplicaProbe
from conformance.questions.shrink import LAG_MS, leaves_within
from conformance.record.directory import slug
from fault_injection.cluster.spec import ClusterSpec, Timing
from fault_injection.puppets.client import ClientPuppet, FollowerPuppet
from fault_injection.puppets.served_topics import PuppetTopic
from fault_injection.waiting import until
from fault_injection.wire.points import Point
from oracle.replication.remote import RemoteReplica
from oracle.rules.request_versions import versions
from oracle.vocabulary import BrokerId, ClientRequest, Offset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.examining.context import ExaminationContext
    from fault_injection.cluster.relay import Address
    from oracle.rules.rule_set import RuleSet

# Where is a follower examined that fetches as slowly as it is told? Beside a real leader, as one of its replicas.
#
# The partition has two replicas on real brokers. The fetches of the real follower are held at the gate, and a puppet
# fetches in its name: the leader takes its offsets for the follower's. The lag time is 3 s, so that the leader alone
# decides about the ISR.
#
# Choices: the puppet fetches in version 11 where there is one: it names no replica epoch, which no leader asks for.


BROKERS = (1, 2, 3)
LEADER, FOLLOWER = BrokerId(1), BrokerId(2)
WITHOUT_LAST_EPOCH = 11
"""The newest version of Fetch that names no epoch of the follower's last record (KIP-595)."""
HOLD = "the real follower"
LAG_S = 3.0
"""``replica.lag.time.max.ms`` under ``timing: lag``."""
LATE_S = 0.2
"""How long before that a fetch must be on its way."""


@dataclass(slots=True)
class SlowFollower:
    """One partition, its real leader, and the puppet that fetches as its follower.

    Attributes:
        end: the leader's log end offset: nobody else produces.
        fetched_at: monotonic seconds of every fetch of the puppet, just before it was sent.
        errors: the error codes that the puppet was answered with.
    """

    topic: PuppetTopic
    probe: ReplicaProbe
    client: ClientPuppet
    puppet: FollowerPuppet
    fetch_version: int | None
    end: int = 0
    fetched_at: list[float] = field(default_factory=list)
    errors: set[int] = field(default_factory=set)

    def append(self, records: int) -> None:
        """Have the leader append records as one batch; nobody else is waited for."""
        error, _ = self.client.append(self.topic, *(b"x",) * records)
        if error != 0:
            raise NotSeenError(f"the leader refused a batch of {records}: error {error}")
        self.end += records

    def fetch(self, offset: int) -> None:
        """Fetch from an offset in the follower's name."""
        self.fetched_at.append(time.monotonic())
        self.errors.add(self.puppet.fetch(self.topic, offset, version=self.fetch_version).error)

    def fetch_in_time(self, offset: int) -> None:
        """Fetch as a follower does that must not lag: before the fetch before the last one is too long ago.

        Raises:
            InconclusiveError: the tester was late, and the follower may have left the ISR because of that.
        """
        if len(self.fetched_at) > 1 and time.monotonic() - self.fetched_at[-2] > LAG_S - LATE_S:
            raise InconclusiveError("the tester stood still between two fetches, almost for the lag time")
        self.fetch(offset)

    def isr(self) -> list[int]:
        """Return the in-sync replicas that are committed now."""
        view = until(
            lambda: self.probe.controller_view(BROKER_IDS), deadline_s=DEADLINE_S, what="the partition's state"
        )
        return sorted(view.isr)

    def high_watermark(self) -> int:
        """Return the leader's high watermark."""
        return self.probe.live_numbers(LEADER).high_watermark


BROKER_IDS = tuple(map(BrokerId, BROKERS))


@contextmanager
def slow_follower(context: ExaminationContext) -> Iterator[SlowFollower]:
    """Have a partition with such a follower."""
    spec = ClusterSpec(context.release, context.metadata, BROKERS, timing=Timing.LAG)
    topic = PuppetTopic(slug(context.run.path.name), (LEADER, FOLLOWER))
    with (
        examination_cluster(context, spec) as place,
        place.topic(topic.name, [topic.replicas], {"min.insync.replicas": "1"}),
        ReplicaProbe(place.cluster, topic.name) as probe,
    ):
        real_fetch = Point("fetch_request", source=FOLLOWER, destination=LEADER, topic=topic.name, partition=0)
        place.gate.arm(HOLD, real_fetch)
        place.await_caught(HOLD)
        address = _address(place.cluster.client_address(LEADER))
        with closing(ClientPuppet(address)) as client, closing(FollowerPuppet(FOLLOWER, address)) as puppet:
            has_version = WITHOUT_LAST_EPOCH in versions(ClientRequest.FETCH, context.rules)
            yield SlowFollower(topic, probe, client, puppet, WITHOUT_LAST_EPOCH if has_version else None)
        place.gate.release(HOLD)


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return host, int(port)


LOOK_MS = 100
"""How long after the decision the tester looks at the ISR."""
FETCHES = 3
"""How many fetches of the model's follower stand for all: one, one after it, and one that repeats it."""
KEEPING_S = 2 * LAG_MS / 1000
LEAVING_S = 20.0
FROM_LAST, ERRORS = (
    "milliseconds from the last moment that counts to the removal",
    "error codes in answers to its fetches",
)
NS_PER_S = 1_000_000_000
LEFT = leaves_within(LOOK_MS)


def _every(pause_s: float, fetch: Callable[[], object], is_done: Callable[[], bool], what: str) -> None:
    def turn() -> bool:
        fetch()
        return is_done()

    until(turn, deadline_s=LEAVING_S, what=what, interval_s=pause_s)


def _keep_pace(follower: SlowFollower, records: int, pause_s: float) -> None:
    """For twice the lag time fetch, after each append, from where the leader ended at the fetch before."""

    def turn() -> None:
        before = follower.end
        follower.append(records)
        follower.fetch_in_time(before)

    follower.fetch(follower.end)
    end = time.monotonic() + KEEPING_S
    _every(pause_s, turn, lambda: time.monotonic() >= end, "the follower to keep pace")


def _since(moment_s: float) -> Took:
    return Took(int(moment_s * NS_PER_S), time.monotonic_ns())


def _in_sync(*, behind: int, records: int, fetches: int = FETCHES) -> tuple[int, ...]:
    """Return the ISR, as the model has it, once the lag time has passed since broker 2 had everything.

    Args:
        behind: from how far before the leader's end of the fetch before it fetches meanwhile.
        records: how many records come between two fetches.
        fetches: how often it fetches after that.
    """
    end = records
    follower = RemoteReplica(BrokerId(2)).fetched(Offset(end), Offset(end)).lagged()
    for _ in range(fetches):
        follower, end = follower.fetched(Offset(end - behind), Offset(end + records)), end + records
    return (1, 2) if follower.is_caught_up else (1,)


@dataclass(frozen=True, slots=True)
class NeverAtTheEnd:
    """A follower that fetches ten times a second: first just far enough, then one record short."""

    kept: str = "in sync after 6 s of fetches from where the leader ended at the fetch before"
    behind: str = "records that the high watermark is behind the leader's end then"
    left: str = "in sync after fetches from one record before that"

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "create a partition on brokers 1 and 2; hold the fetches of broker 2, and fetch in its name",
            "for 6 s, ten times a second: append a record, then fetch from the leader's end before it",
            "read the ISR and the high watermark",
            "go on, but fetch from one record further back each time, until the ISR changes",
            "read the ISR, and how long ago the follower last had what the leader had at the fetch before",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict the ISR of both halves by what the model's leader knows of its follower."""
        return (
            QuestionAnswer(self.kept, [*_in_sync(behind=0, records=1)]),
            QuestionAnswer(self.behind, 1),
            QuestionAnswer(self.left, [*_in_sync(behind=1, records=1)]),
            QuestionAnswer(FROM_LAST, LEFT),
            QuestionAnswer(ERRORS, [0]),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Fetch from a real leader."""
        with slow_follower(context) as follower:
            _keep_pace(follower, 1, 0.1)
            yield QuestionAnswer(self.kept, [*follower.isr()])
            yield QuestionAnswer(self.behind, follower.end - follower.high_watermark())
            counts_until = follower.fetched_at[-2]

            def one_short() -> None:
                before = follower.end
                follower.append(1)
                follower.fetch(before - 1)

            _every(0.1, one_short, lambda: follower.isr() == [1], "the follower to leave the ISR")
            after = _since(counts_until)
            yield QuestionAnswer(self.left, [*follower.isr()])
            yield QuestionAnswer(FROM_LAST, after)
            yield QuestionAnswer(ERRORS, [*sorted(follower.errors)])


@dataclass(frozen=True, slots=True)
class FarBehind:
    """A follower that is 5,000 records behind all the time, and one that is a single record behind and silent."""

    records: int = 5_000
    kept: str = "in sync after 6 s of being 5000 records behind"
    behind: str = "records that the high watermark is behind the leader's end then"
    left: str = "in sync after silence with one record missing"

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            "create a partition on brokers 1 and 2; hold the fetches of broker 2, and fetch in its name",
            f"for 6 s, every second: append {self.records} records, then fetch from the leader's end before them",
            "read the ISR and the high watermark: replica.lag.max.messages, 4000 by default, is long gone",
            "fetch once from the leader's end, append one record, and fetch no more until the ISR changes",
            "read the ISR, and how long ago the last fetch was",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:  # noqa: ARG002 - the same on every release
        """Predict by what the model's leader knows of its follower, whatever the number of records."""
        return (
            QuestionAnswer(self.kept, [*_in_sync(behind=0, records=self.records)]),
            QuestionAnswer(self.behind, self.records),
            QuestionAnswer(self.left, [*_in_sync(behind=0, records=self.records, fetches=0)]),
            QuestionAnswer(FROM_LAST, LEFT),
            QuestionAnswer(ERRORS, [0]),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Fetch from a real leader."""
        with slow_follower(context) as follower:
            _keep_pace(follower, self.records, 1.0)
            yield QuestionAnswer(self.kept, [*follower.isr()])
            yield QuestionAnswer(self.behind, follower.end - follower.high_watermark())
            follower.fetch(follower.end)
            follower.append(1)
            until(lambda: follower.isr() == [1], deadline_s=LEAVING_S, what="the follower to leave the ISR")
            after = _since(follower.fetched_at[-1])
            yield QuestionAnswer(self.left, [*follower.isr()])
            yield QuestionAnswer(FROM_LAST, after)
            yield QuestionAnswer(ERRORS, [*sorted(follower.errors)])


NEVER_AT_THE_END = NeverAtTheEnd()
FAR_BEHIND = FarBehind()
