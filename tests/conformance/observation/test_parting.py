"""Where do the wires of two runs part? What a person would point at, and nothing that two equal runs may do apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.observation.parting import partings
from oracle.log import EpochEnd
from oracle.tracing.observed import (
    Acknowledged,
    BrokerEnded,
    FetchAnswered,
    FetchReceived,
    FetchSent,
    LeadershipHeard,
    LookupAnswered,
    LookupSent,
    ObservedEpochRun,
    Refused,
    RequestKey,
    TopicPartition,
)
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from oracle.tracing.observed import Event

PARTITION = TopicPartition("t", 0)


@dataclass
class Talk:
    """Events of one run, a nanosecond after each other."""

    events: list[Event] = field(default_factory=list)

    def say(self, kind: type[Event], **fields: Any) -> Talk:  # noqa: ANN401
        if kind is not BrokerEnded:
            fields["partition"] = PARTITION
        self.events.append(kind(at=len(self.events), **fields))
        return self

    def fetch(self, offset: int, *runs: tuple[int, int, int], follower: int = 2, **answer: Any) -> Talk:  # noqa: ANN401
        key = RequestKey(follower, len(self.events))
        asked = {"api_version": len(self.events), "current_leader_epoch": None if follower % 2 else len(self.events)}
        self.say(FetchSent, key=key, follower=follower, leader=1, fetch_offset=offset, **asked)
        self.say(FetchReceived, key=key)
        answer.setdefault("error", 0)
        return self.say(
            FetchAnswered, key=key, high_watermark=offset, runs=tuple(ObservedEpochRun(*run) for run in runs), **answer
        )

    def lookup(self, end: int, epoch: int = 0) -> Talk:
        key = RequestKey(9, len(self.events))
        self.say(LookupSent, key=key, follower=2, leader=1, epoch=epoch, api_version=3)
        return self.say(LookupAnswered, key=key, error=0, end=EpochEnd(epoch, end))

    def heard(self, leader: int | None) -> Talk:
        told = {"leader": leader, "leader_epoch": len(self.events), "isr": (1,), "replicas": (1, 2)}
        return self.say(LeadershipHeard, broker=2, **told)


def parted(one: Talk, other: Talk) -> list[tuple[str, str, str]]:
    found = partings(one.events, other.events)
    return [(each.conversation, *(part.text.strip() if part else "-" for part in each[1:3])) for each in found]


def test_the_same_said_at_other_times_in_other_versions_and_more_often_does_not_part() -> None:
    one = Talk().fetch(0, (0, 0, 1)).fetch(2).heard(1)
    other = Talk().heard(1).fetch(0).fetch(0, (5, 0, 1)).fetch(2).fetch(2).fetch(2)
    assert parted(one, other) == []


def test_the_first_other_fetch_is_where_they_part() -> None:
    one = Talk().fetch(0, (0, 0, 1)).fetch(2).fetch(1, (0, 1, 1))
    other = Talk().fetch(0, (0, 0, 1)).fetch(2).fetch(2, (0, 2, 2))
    ((where, a, b),) = parted(one, other)
    assert where == "broker 2 and its leader 1"
    assert a.startswith("broker 2 fetches at broker 1 from offset 1")
    assert b == "broker 1 answers: high watermark 2, records at 2 of epoch 0"


def test_what_a_leader_gives_or_refuses_parts() -> None:
    given, refused = Talk().fetch(0, (0, 0, 1)), Talk().fetch(0, error=6)
    cut, less = Talk().fetch(0, diverging_epoch=EpochEnd(0, 1)), Talk().fetch(0, (0, 0, 0))
    talks = (given, refused, cut, less, Talk().fetch(0))
    assert [len(parted(one, other)) for one in talks for other in talks] == [
        int(one is not other) for one in talks for other in talks
    ]


def test_a_lookup_parts_by_its_epoch_and_its_answer() -> None:
    assert parted(Talk().lookup(2), Talk().lookup(2)) == []
    for other in (Talk().lookup(1), Talk().lookup(2, epoch=1), Talk()):
        assert len(parted(Talk().lookup(2), other)) == 1


def test_the_earliest_of_the_first_run_comes_first_and_what_the_second_alone_says_last() -> None:
    one = Talk().heard(1).fetch(0, follower=3).fetch(1)
    other = Talk().heard(2).fetch(0, follower=4).fetch(2)
    assert [where for where, *_ in parted(one, other)] == [
        "what broker 2 hears",
        "broker 3 and its leader 1",
        "broker 2 and its leader 1",
        "broker 4 and its leader 1",
    ]
    assert parted(one, other)[-1][1] == "-"


def test_ends_of_brokers_and_words_to_producers_part() -> None:
    acknowledged = {"acks": Acks.ALL, "base_offset": 0, "last_offset": 0}
    one = Talk().say(BrokerEnded, broker=1, clean=True).say(Acknowledged, **acknowledged)
    other = Talk().say(BrokerEnded, broker=2, clean=True).say(Refused, acks=Acks.ALL, error="NOT_ENOUGH_REPLICAS")
    assert [where for where, *_ in parted(one, other)] == ["ends and starts of brokers", "what producers are told"]
    assert parted(one, one) == []


def test_a_producer_that_is_told_the_same_again_is_told_of_another_record() -> None:
    again = Talk()
    for offset in (0, 1, 1):
        again.say(Acknowledged, acks=Acks.ALL, base_offset=offset, last_offset=offset)
    on = Talk()
    for offset in (0, 1, 2):
        on.say(Acknowledged, acks=Acks.ALL, base_offset=offset, last_offset=offset)
    ((_, a, b),) = parted(again, on)
    assert a == "a producer's record is acknowledged at 1 (acks=all)"
    assert b == "a producer's record is acknowledged at 2 (acks=all)"


def test_the_one_that_says_nothing_new_is_known_by_what_it_said_last() -> None:
    quiet, other = Talk().fetch(0, (0, 0, 0)).fetch(1).fetch(1), Talk().fetch(0, (0, 0, 0)).fetch(1).fetch(2)
    for one, two in ((quiet, other), (other, quiet)):
        ((_, _, _, last),) = partings(one.events, two.events)
        assert last is not None
        assert last.text.startswith("broker 2 fetches at broker 1 from offset 1")
    ((_, _, _, last),) = partings(Talk().events, Talk().heard(1).events)
    assert last is None


def test_an_answer_whose_request_was_not_seen_is_passed_over() -> None:
    answer = {"key": RequestKey(1, 1), "error": 6, "high_watermark": -1}
    assert parted(Talk().say(FetchAnswered, **answer), Talk()) == []
