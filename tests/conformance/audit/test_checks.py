"""Is each mistake found by its own check and by no other? On clusters that are good but for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.audit.audit import CHECKS, UnseenRow, audit
from conformance.audit.audited import Audited, Producers
from conformance.audit.cluster import MIN_ISR, NotSeen, QuorumSeen, Setting, Source, TopicSeen
from conformance.audit.defects import defects_seen
from conformance.audit.release_seen import known_lines, release_seen
from conformance.line import line_named
from oracle.vocabulary import TRANSACTION_STATE, Acks
from tests.conformance.audit.made_clusters import (
    BROKERS_HAVE,
    MISTAKES,
    WEAK,
    audited,
    found,
    good,
    of_topic,
    partition,
    topic,
    with_brokers,
    with_topic,
    with_transactions,
    with_voters,
)


def test_every_check_has_its_mistake_and_an_id_of_its_own() -> None:
    assert sorted([*MISTAKES, WEAK]) == sorted(one.id for one in CHECKS)


@pytest.mark.parametrize("check", MISTAKES)
def test_a_mistake_is_found_by_its_own_check_and_by_no_other(check: str) -> None:
    beside = {"min-isr-1"} if check == "known-defect" else set()  # the setting that exposes the defect
    assert found(MISTAKES[check]()) - beside == {check}


@pytest.mark.parametrize("line", known_lines())
def test_nothing_is_found_in_a_good_cluster(line: str) -> None:
    assert found(good(line)) == set()


@pytest.mark.parametrize(("acks", "severity"), [(Acks.LEADER, "high"), (Acks.NONE, "critical")])
def test_producers_that_do_not_wait_are_told_for_every_replicated_topic(acks: Acks, severity: str) -> None:
    (row,) = audited(good(), acks).rows
    assert (row.finding.check, row.finding.severity.word) == (WEAK, severity)
    assert row.subjects == ("topic orders", "topic payments")


def test_acks_1_looks_at_the_lag_time_that_is_bearable_and_all_at_the_built_in_one() -> None:
    slow = with_brokers(replica_lag_time_max_ms="29000")()
    for acks, bearable, is_found in ((Acks.LEADER, 10, True), (Acks.LEADER, 29, False), (Acks.ALL, 10, False)):
        one = audit(Audited(slow, release_seen(slow), Producers(frozenset({acks}), bearable)))
        assert ("lag-time" in {row.finding.check for row in one.rows}) is is_found


@pytest.mark.parametrize(
    ("hosts", "is_found"),
    [
        (("a", "a", "b"), True),
        (("a", "a", "a", "b", "c"), True),
        (("a", "a", "b", "b", "c"), False),
        (("a", "b"), True),
        (("a", "b", "c"), False),
    ],
)
def test_one_host_must_not_hold_a_majority_of_voters(hosts: tuple[str, ...], is_found: bool) -> None:
    assert found(with_voters(*hosts)()) == ({"controller-quorum"} if is_found else set())


def test_voters_whose_hosts_are_not_told_are_not_taken_for_sound() -> None:
    seen = audited(replace(good(), quorum=QuorumSeen((11, 12, 13))))
    assert ("controller-quorum", "DescribeQuorum names no hosts of voters before 3.9") in [
        (one.check, one.why) for one in seen.unseen
    ]


def test_an_outage_is_not_hidden_by_replicas_that_are_nowhere() -> None:
    assert found(with_topic(parts=(partition((1, 2, 3, 4, 5), (1,)),))()) == {"replicas-nowhere", "under-min-isr"}


def test_a_broker_that_was_replaced_under_another_id_leaves_replicas_nowhere() -> None:
    assert found(with_topic(parts=(partition((1, 2, 9), (1, 2)),))()) == {"replicas-nowhere"}


def test_a_broker_whose_own_minimum_is_lower_than_what_holds_is_no_mistake() -> None:
    cluster = good()
    value = Setting("2", Source.CLUSTER_DEFAULT, (Setting("1", Source.BROKER_FILE),))
    brokers = tuple(replace(one, settings={**BROKERS_HAVE, MIN_ISR: value}) for one in cluster.brokers)
    assert found(replace(cluster, brokers=brokers)) == set()


def test_internal_topics_are_looked_at_for_unclean_election_and_their_replicas_without_settings() -> None:
    unclean = topic("__consumer_offsets", of_topic(unclean=True))
    assert found(replace(good(), topics=(*good().topics[:2], unclean))) == {"unclean-election"}
    unseen = topic("__consumer_offsets", NotSeen("no DescribeConfigs"), partition((1,)))
    assert found(replace(good(), topics=(*good().topics[:2], unseen))) == {"internal-topics"}


def test_transactions_do_not_matter_where_unclean_election_is_not_heeded() -> None:
    cluster = with_transactions(with_topic(own=of_topic(unclean=True), line="3.8.1/kraft")())
    assert found(cluster) - {"transaction-version"} == {"unclean-election"}


def test_a_topic_without_partitions_is_no_mistake() -> None:
    cluster = good()
    empty = TopicSeen("empty", is_internal=False, partitions=(), settings=of_topic())
    assert found(replace(cluster, topics=(*cluster.topics, empty))) == set()


def test_what_settings_lose_is_not_told_of_features_that_were_not_searched() -> None:
    off = replace(
        good(eligible_leader_replicas_version=0),
        topics=(topic("mistaken", of_topic(1)), topic("__consumer_offsets", of_topic())),
    )
    (harm,) = [row.finding.harm for row in audited(off).rows if row.finding.check == "min-isr-1"]
    assert "was not searched" in harm


def test_nothing_is_taken_for_health_where_nothing_is_seen() -> None:
    """As on 0.10.2: no broker tells settings, none has features, and the release may not be known."""
    cluster, why = good("0.10.2.2/zookeeper"), NotSeen("the release has no DescribeConfigs that tells it")
    topics = tuple(replace(one, settings=why) for one in cluster.topics)
    blind = tuple(replace(one, settings=why) for one in cluster.brokers)
    seen = audited(replace(cluster, topics=topics, brokers=blind, transactional_ids=why))
    told = {one.check for one in seen.unseen}
    assert told >= {"min-isr-1", "unclean-election", "under-min-isr", "at-min-isr", "roll-margin", "internal-topics"}
    assert told >= {"auto-create", "lag-time", "known-defect"}
    speechless = tuple(replace(one, speaks=why) for one in blind)
    mute = replace(cluster, brokers=speechless, topics=topics, hidden={TRANSACTION_STATE: why})
    told = {one.check for one in audited(mute).unseen}
    assert told >= {"controller-quorum", "known-defect", "transaction-version", "eligible-replicas-off"}


def test_a_broker_that_tells_no_settings_is_named_once_however_many_topics_are_to_be_created() -> None:
    cluster = good()
    mute = replace(cluster.brokers[0], settings=NotSeen("no answer in time"))
    seen = audited(replace(cluster, brokers=(mute, *cluster.brokers[1:]), topics=cluster.topics[:2]))
    assert [one.subjects for one in seen.unseen if one.check == "internal-topics"] == [("broker 1",)]


def test_of_a_topic_that_is_hidden_nobody_says_how_it_will_be_created() -> None:
    cluster = with_brokers(offsets_topic_replication_factor="1", transaction_state_log_replication_factor="1")()
    hidden = {"__consumer_offsets": NotSeen("not allowed to see: DescribeConfigs")}
    seen = audited(replace(cluster, topics=cluster.topics[:2], hidden=hidden))
    assert [row.subjects for row in seen.rows] == [("topic __transaction_state",)]
    assert [one for one in seen.unseen if one.check == "internal-topics"] == [
        UnseenRow("internal-topics", "not allowed to see: DescribeConfigs", ("topic __consumer_offsets",))
    ]


def test_only_an_error_of_storage_says_that_a_directory_is_given_up() -> None:
    cluster = good()
    told = {"/a": "KAFKA_STORAGE_ERROR", "/b": "UNKNOWN_SERVER_ERROR"}
    brokers = tuple(replace(one, directory_errors=told if one.id == 1 else {}) for one in cluster.brokers)
    seen = audited(replace(cluster, brokers=brokers))
    assert [(row.subjects, [ground.value for ground in row.finding.evidence]) for row in seen.rows] == [
        (("broker 1",), ["/a: KAFKA_STORAGE_ERROR"])
    ]
    why = "DescribeLogDirs tells UNKNOWN_SERVER_ERROR of /b"
    assert UnseenRow("log-directory-offline", why, ("broker 1",)) in seen.unseen


def test_topics_that_are_to_be_created_are_told_in_one_order() -> None:
    poor = {"offsets_topic_replication_factor": "2", "transaction_state_log_replication_factor": "1"}
    cluster = with_brokers(**poor)()
    (first, second) = audited(replace(cluster, topics=cluster.topics[:2])).rows
    assert (first.subjects, second.subjects) == (("topic __consumer_offsets",), ("topic __transaction_state",))


@pytest.mark.parametrize(
    ("line", "issue", "patches"),
    [
        ("2.0.1/zookeeper", "KAFKA-7128", "patches before 2.0.1"),
        ("2.0.1/zookeeper", "KAFKA-10706", "patches from 2.0.1 on"),
        ("2.6.3/zookeeper", "KAFKA-10706", "patches before 2.6.1"),
        ("2.5.1/zookeeper", "KAFKA-10706", ""),
    ],
)
def test_which_patches_of_a_line_have_a_defect_is_told_from_their_own_rules(
    line: str, issue: str, patches: str
) -> None:
    seen = {one.defect.issue: one for one in defects_seen(release_seen(good(line)))}
    assert seen[issue].patches == patches
    assert seen[issue].is_sure is not bool(patches)
    named = {one.defect.issue: one for one in defects_seen(release_seen(good(line), line_named(line)))}
    assert (issue in named) is not patches.startswith("patches before")
    assert all(one.is_sure for one in named.values())
