"""What does a partition hold in the end, and what became of records, as far as a trace tells?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.log import EpochEntry
from oracle.rules.by_version import rules_for
from oracle.trace_check import TraceCheck
from oracle.tracing.committed import FinalLog, appended_in, final_log, replica_logs, replicas_apart
from oracle.tracing.known_log import EpochLog, KnownLog
from oracle.tracing.observed import Acknowledged, BrokerEnded, BrokerStarted
from oracle.tracing.possibility import has_epochs, noting_epochs
from oracle.vocabulary import Acks, BrokerId, LeaderEpoch, MetadataMode, Offset, RangeFate
from tests.oracle.tracing.story import PARTITION, Story, with_records

if TYPE_CHECKING:
    from oracle.tracing.partition_replay import PartitionReplay

OLD, FIRST_WITH_EPOCHS, NEWEST = ("0.10.2.2", "zookeeper"), ("0.11.0.3", "zookeeper"), ("4.3.1", "kraft")


def log(*epochs: tuple[int, int], end: int) -> EpochLog:
    entries = tuple(EpochEntry(LeaderEpoch(epoch), Offset(start)) for epoch, start in epochs)
    return EpochLog(epochs=entries, end=Offset(end))


def fates(final: FinalLog, epochs: set[int], first: int, last: int) -> list[tuple[int, int, str]]:
    found = final.fates(frozenset(map(LeaderEpoch, epochs)), Offset(first), Offset(last))
    return [(one.first, one.last, one.fate.value) for one in found]


def of_logs(*replicas: KnownLog, end: int = 10) -> FinalLog:
    return FinalLog(tuple((one,) for one in replicas), Offset(end), BrokerId(1))


def test_an_epoch_is_there_from_its_start_to_the_next_one() -> None:
    known = log((0, 0), (2, 6), end=10)
    final = of_logs(KnownLog(known, known))
    assert fates(final, {0}, 0, 8) == [(0, 5, "present"), (6, 8, "lost")]
    assert fates(final, {2}, 0, 9) == [(0, 5, "lost"), (6, 9, "present")]
    assert fates(final, {1}, 3, 9) == [(3, 9, "lost")]
    assert fates(final, {0}, 5, 6) == [(5, 5, "present"), (6, 6, "lost")]


def test_between_two_bounds_of_a_start_either_may_be() -> None:
    final = of_logs(KnownLog(log((0, 0), (1, 4), end=10), log((0, 0), (1, 6), end=10)))
    assert fates(final, {0}, 2, 8) == [(2, 3, "present"), (4, 5, "either"), (6, 8, "lost")]
    assert fates(final, {1}, 2, 8) == [(2, 3, "lost"), (4, 5, "either"), (6, 8, "present")]


def test_another_replica_tells_what_one_leaves_open() -> None:
    vague = KnownLog(log((0, 0), (1, 4), end=10), log((0, 0), (1, 6), end=10))
    exact = KnownLog(log((0, 0), (1, 5), end=10), log((0, 0), (1, 5), end=10))
    assert fates(of_logs(vague, exact), {0}, 2, 8) == [(2, 4, "present"), (5, 8, "lost")]


def test_where_replicas_differ_the_leader_decides() -> None:
    leaders, others = log((0, 0), (2, 5), end=10), log((0, 0), (2, 7), end=10)
    final = of_logs(KnownLog(leaders, leaders), KnownLog(others, others))
    assert fates(final, {0}, 0, 9) == [(0, 4, "present"), (5, 9, "lost")]
    assert fates(final, {2}, 0, 9) == [(0, 4, "lost"), (5, 9, "present")]


def test_what_one_leader_appended_in_one_of_two_epochs_is_there_if_it_is_in_either() -> None:
    known = log((0, 0), (1, 5), end=10)
    assert fates(of_logs(KnownLog(known, known)), {0, 1}, 2, 9) == [(2, 9, "present")]


def test_a_replica_that_may_be_two_things_is_certain_of_what_both_have() -> None:
    one, other = log((0, 0), end=10), log((0, 0), (1, 5), end=10)
    final = FinalLog(((KnownLog(one, one), KnownLog(other, other)),), Offset(10), BrokerId(1))
    assert fates(final, {0}, 0, 9) == [(0, 4, "present"), (5, 9, "either")]


def apart(one: list[KnownLog], other: list[KnownLog], end: int = 10) -> list[tuple[int, int, bool]]:
    found = replicas_apart({BrokerId(1): one, BrokerId(2): other}, Offset(end))
    return [(it.first, it.last, it.is_certain) for it in found]


def exact(*epochs: tuple[int, int], end: int = 10) -> KnownLog:
    return KnownLog(log(*epochs, end=end), log(*epochs, end=end))


def test_replicas_of_the_same_epochs_are_alike_however_far_they_reach() -> None:
    leader = KnownLog(log((0, 0), (2, 6), end=10), log((0, 0), (2, 6), end=99))
    assert apart([leader], [exact((0, 0), (2, 6))]) == []
    assert apart([leader], [exact((0, 0), (2, 6), end=8)]) == []


def test_where_two_epochs_appended_replicas_differ() -> None:
    assert apart([exact((0, 0), (2, 5))], [exact((0, 0), (2, 7))]) == [(5, 6, True)]
    assert apart([exact((0, 0), (1, 5))], [exact((0, 0), (2, 5))]) == [(5, 9, True)]
    assert apart([exact((0, 0), (2, 5))], [exact((0, 0), (2, 7))], end=6) == [(5, 5, True)]


def test_between_two_bounds_replicas_may_differ() -> None:
    vague = KnownLog(log((0, 0), (2, 4), end=10), log((0, 0), (2, 7), end=10))
    assert apart([vague], [exact((0, 0), (2, 5))]) == [(4, 4, False), (5, 6, False)]
    assert apart([exact((0, 0), (1, 5))], [vague]) == [(4, 4, False), (5, 6, True), (7, 9, True)]


def test_a_replica_that_may_be_two_things_may_differ() -> None:
    assert apart([exact((0, 0)), exact((0, 0), (2, 8))], [exact((0, 0))]) == [(8, 9, False)]


def test_the_spans_of_a_log_are_its_epochs() -> None:
    known = log((0, 0), (2, 6), end=10)
    spans = [(one.leader_epoch, one.first, one.last, one.fate) for one in of_logs(KnownLog(known, known)).spans()]
    assert spans == [(0, 0, 5, RangeFate.PRESENT), (2, 6, 9, RangeFate.PRESENT)]


def test_an_empty_log_has_no_spans() -> None:
    known = log(end=0)
    assert list(of_logs(KnownLog(known, known), end=0).spans()) == []


def replayed(story: Story) -> PartitionReplay:
    return story.check.partitions[PARTITION]


def test_at_rest_leader_and_followers_say_what_is_there() -> None:
    final = final_log(replayed(with_records(*NEWEST)))
    assert (final.leader, final.end, len(final.replicas)) == (1, 3, 3)
    assert [(one.leader_epoch, one.first, one.last) for one in final.spans()] == [(0, 0, 2)]


def test_a_follower_that_lacks_something_says_nothing_of_it() -> None:
    story = with_records(*NEWEST)
    story.feed(Acknowledged, acks=Acks.LEADER, sent_at=story.at, leader=1, base_offset=3, last_offset=4)
    final = final_log(replayed(story))
    assert (final.end, len(final.replicas)) == (5, 1)
    assert fates(final, {0}, 0, 4) == [(0, 4, "present")]


def test_nobody_that_leads_has_no_log() -> None:
    story = Story(*NEWEST)
    story.heard(1, None, 0, ())
    assert final_log(replayed(story)) == FinalLog((), Offset(0), None)


def killed(kafka: tuple[str, str]) -> Story:
    """Tell of a leader that is killed with a record that nobody fetched, and of what its successor has in its place."""
    story = Story(*kafka)
    story.check = TraceCheck(noting_epochs(story.rules), story.settings, enforced=())
    epochs = (None, None) if kafka == OLD else (0, 1)
    story.led(1, 0, (1, 2, 3))
    for follower in (2, 3):
        story.fetch(follower, 1, 0, 0, (epochs[0], 0, 2))
    for follower, watermark in ((2, 0), (3, 3)):
        story.fetch(follower, 1, 3, watermark)
    story.feed(Acknowledged, acks=Acks.LEADER, sent_at=story.at, leader=1, base_offset=3, last_offset=3)
    story.feed(BrokerEnded, broker=1, clean=False)
    story.led(2, 1, (2, 3), 2, 3)
    story.feed(Acknowledged, acks=Acks.LEADER, sent_at=story.at, leader=2, base_offset=3, last_offset=4)
    story.feed(BrokerStarted, broker=1)
    story.led(2, 1, (2, 3), 1)
    for follower, watermark in ((3, 3), (1, 5)):
        story.fetch(follower, 2, 3, 3, (epochs[1], 3, 4), epoch=1)
        story.fetch(follower, 2, 5, watermark, epoch=1)
    return story


def test_a_record_that_nobody_fetched_is_lost_with_its_leader() -> None:
    final = final_log(replayed(killed(OLD)))
    assert (final.leader, final.end) == (2, 5)
    assert fates(final, {0}, 0, 3) == [(0, 2, "present"), (3, 3, "lost")]
    assert fates(final, {1}, 3, 4) == [(3, 4, "present")]


def test_epochs_are_noted_where_batches_carry_none() -> None:
    old = rules_for(OLD[0], MetadataMode(OLD[1]))
    assert not has_epochs(old)
    assert has_epochs(noting_epochs(old))
    new = rules_for(NEWEST[0], MetadataMode(NEWEST[1]))
    assert noting_epochs(new) is new


def test_who_goes_on_to_lead_goes_on_in_the_epoch_that_is_noted() -> None:
    story = killed(OLD)
    story.led(2, 2, (1, 2, 3))
    story.feed(Acknowledged, acks=Acks.LEADER, sent_at=story.at, leader=2, base_offset=5, last_offset=5)
    leader = replayed(story).replica(BrokerId(2))
    assert leader is not None
    assert appended_in(leader, Offset(5)) == {1}
    assert appended_in(leader, Offset(0)) == {0}
    former = replayed(story).replica(BrokerId(1))
    assert former is not None
    assert appended_in(former, Offset(0)) == set()


def test_a_broker_that_was_never_heard_of_has_no_replica() -> None:
    assert replayed(with_records(*NEWEST)).replica(BrokerId(9)) is None


def test_what_is_not_enforced_is_told_all_the_same() -> None:
    story = with_records(*NEWEST)
    check = TraceCheck(story.rules, story.settings, enforced=())
    assert check.finish().passed_over is None
    story.check = check
    story.led(1, 0, (1, 2, 3))
    story.sent(2, 1, 7)
    report = check.finish()
    assert report.violation is None
    assert report.passed_over is not None
    assert "fetches from 7" in report.passed_over.observed


def test_what_replicas_have_is_as_the_replay_ends() -> None:
    story = with_records()
    story.fetch(2, 1, 3, 3, (0, 3, 3))
    story.fetch(2, 1, 4, 3)
    logs = replica_logs(story.check.partitions[PARTITION])
    ends = {broker: [one.low.end for one in possible] for broker, possible in logs.items()}
    assert ends == {1: [4], 2: [4], 3: [3]}
