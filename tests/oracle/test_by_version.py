"""Which release has which rules? Every change lands at the release that made it, on both sides of the line."""

from __future__ import annotations

import pytest

from oracle.rules.by_version import parse_version, rules_for
from oracle.vocabulary import MetadataMode

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT

BORDERS = [
    # rule, metadata, last release without it, first with it
    ("truncate-by-leader-epoch", ZOOKEEPER, "0.10.2.2", "0.11.0.0"),
    ("truncate-to-common-epoch", ZOOKEEPER, "1.1.1", "2.0.0"),
    ("truncate-on-fetch", ZOOKEEPER, "2.7.2", "2.8.0"),
    ("epoch-entry-on-election", ZOOKEEPER, "2.0.0", "2.0.1"),
    ("join-isr-at-epoch-start", ZOOKEEPER, "2.0.0", "2.0.1"),
    ("same-leader-skips-one-epoch", ZOOKEEPER, "2.0.0", "2.0.1"),
    ("fence-leader-epoch", ZOOKEEPER, "2.0.1", "2.1.0"),
    ("only-lagging-replica-leaves-isr", ZOOKEEPER, "2.0.1", "2.1.0"),
    ("asks-without-epochs", ZOOKEEPER, "0.10.2.2", "0.11.0.0"),
    ("latest-offset-waits-for-epoch-start", ZOOKEEPER, "2.1.1", "2.2.0"),
    ("shrink-does-not-raise-high-watermark", ZOOKEEPER, "2.6.3", "2.7.0"),
    ("epoch-entry-kept-without-cut", ZOOKEEPER, "0.10.2.2", "0.11.0.0"),
    ("lookup-of-another-epoch-is-dropped", ZOOKEEPER, "2.1.0", "2.1.1"),
    ("diverging-fetch-is-counted", ZOOKEEPER, "2.7.2", "2.8.0"),
    ("high-watermark-before-cut", ZOOKEEPER, "2.7.2", "2.8.0"),
    ("immediate-response-carries-new-high-watermark", ZOOKEEPER, "0.11.0.3", "1.0.0"),
    ("immediate-response-carries-new-high-watermark", ZOOKEEPER, "1.0.2", "1.1.0"),
    ("stop-replica-of-a-newer-epoch", ZOOKEEPER, "2.5.1", "2.6.0"),
    ("stop-replica-of-the-same-epoch", ZOOKEEPER, "3.4.0", "3.4.1"),
    ("empty-answer-forgets-last-epoch", ZOOKEEPER, "3.5.0", "3.5.1"),
    ("empty-answer-forgets-last-epoch", KRAFT, "3.5.0", "3.5.1"),
    ("high-watermark-left-below-log-start", ZOOKEEPER, "2.3.1", "2.4.0"),
    ("high-watermark-is-pushed", ZOOKEEPER, "2.3.1", "2.4.0"),
    ("maximal-isr", ZOOKEEPER, "2.6.3", "2.7.0"),
    ("high-watermark-needs-min-isr", ZOOKEEPER, "3.6.2", "3.7.0"),
    ("high-watermark-needs-min-isr", KRAFT, "3.6.2", "3.7.0"),
    ("eligible-caught-up-replica-holds-high-watermark", KRAFT, "3.5.2", "3.6.0"),
    ("registered-caught-up-replica-holds-high-watermark", ZOOKEEPER, "3.5.2", "3.6.0"),
    ("fetch-of-another-epoch-is-dropped", ZOOKEEPER, "3.9.0", "3.9.1"),
    ("fetch-of-another-epoch-is-dropped", KRAFT, "4.0.0", "4.0.1"),
    ("zookeeper-controller", ZOOKEEPER, "1.0.2", "1.1.0"),
    ("kraft-controller", KRAFT, "3.5.2", "3.6.0"),
    ("eligible-leader-replicas", KRAFT, "4.0.2", "4.1.0"),
    ("only-unfenced-replica-joins-isr", ZOOKEEPER, "3.2.3", "3.3.0"),
    ("stopping-leader-keeps-its-log", ZOOKEEPER, "0.10.2.2", "0.11.0.0"),
    ("unclean-leader-recovers", ZOOKEEPER, "3.1.2", "3.2.0"),
    ("unclean-election-on-request", ZOOKEEPER, "2.3.1", "2.4.0"),
    ("unclean-election-once-allowed", ZOOKEEPER, "2.0.1", "2.1.0"),
    ("unclean-election-once-allowed", KRAFT, "3.8.1", "3.9.0"),
    ("new-minimum-clears-eligible-leaders", KRAFT, "4.0.2", "4.1.0"),
    ("only-replica-of-this-start-joins-isr", KRAFT, "3.4.1", "3.5.0"),
    ("epoch-below-the-cache-is-unknown", ZOOKEEPER, "1.1.1", "2.0.0"),
    ("unclean-election-is-forbidden-unless-set", ZOOKEEPER, "0.10.2.2", "0.11.0.0"),
    ("records-are-deleted-on-request", ZOOKEEPER, "0.10.2.2", "0.11.0.0"),
    ("every-answered-partition-moves-to-the-end", ZOOKEEPER, "1.0.2", "1.1.0"),
    ("request-for-an-earlier-start-is-refused", ZOOKEEPER, "2.1.1", "2.2.0"),
    ("partition-that-gave-records-moves-to-the-end", ZOOKEEPER, "2.8.2", "3.0.0"),
    ("message-format-version-is-ignored", ZOOKEEPER, "2.8.2", "3.0.0"),
    ("fetch-beyond-the-end-is-answered-at-once", ZOOKEEPER, "3.7.2", "3.8.0"),
    ("fetch-beyond-the-end-is-answered-at-once", KRAFT, "3.7.2", "3.8.0"),
    ("oldest-requests-are-dropped", KRAFT, "3.9.2", "4.0.0"),
    ("eligible-leader-replicas-are-off-by-default", KRAFT, "3.9.2", "4.0.0"),
    ("eligible-leader-replicas-are-on-by-default", KRAFT, "4.0.2", "4.1.0"),
    ("sends-fetch-18", KRAFT, "4.0.2", "4.1.0"),
    ("requests-may-be-newer", KRAFT, "4.4.9", "4.5.0"),
]
ENDINGS = [
    # rule, metadata, last release with it, first without it
    ("truncate-to-high-watermark", ZOOKEEPER, "0.10.2.2", "0.11.0.0"),
    ("same-leader-skips-truncation", ZOOKEEPER, "2.0.0", "2.0.1"),
    ("asks-without-epochs", ZOOKEEPER, "2.0.1", "2.1.0"),
    ("silent-replica-leaves-isr", ZOOKEEPER, "2.0.1", "2.1.0"),
    ("every-fetch-checks-high-watermark", ZOOKEEPER, "2.3.1", "2.4.0"),
    ("epoch-entry-kept-without-cut", ZOOKEEPER, "2.6.0", "2.6.1"),
    ("shrink-does-not-raise-high-watermark", ZOOKEEPER, "3.0.2", "3.1.0"),
    ("same-leader-skips-one-epoch", ZOOKEEPER, "2.0.1", "2.1.0"),
    ("join-isr-at-high-watermark", ZOOKEEPER, "2.0.0", "2.0.1"),
    ("immediate-response-carries-new-high-watermark", ZOOKEEPER, "1.0.1", "1.0.2"),
    ("immediate-response-carries-new-high-watermark", ZOOKEEPER, "1.1.0", "1.1.1"),
    ("diverging-fetch-is-counted", ZOOKEEPER, "2.8.0", "2.8.1"),
    ("high-watermark-before-cut", ZOOKEEPER, "3.4.0", "3.4.1"),
    ("lookup-of-another-epoch-is-dropped", ZOOKEEPER, "2.7.2", "2.8.0"),
    ("stop-replica-of-a-newer-epoch", ZOOKEEPER, "3.4.0", "3.4.1"),
    ("empty-answer-forgets-last-epoch", KRAFT, "3.6.2", "3.7.0"),
    ("high-watermark-left-below-log-start", ZOOKEEPER, "2.4.0", "2.4.1"),
    ("high-watermark-is-pushed", ZOOKEEPER, "2.5.1", "2.6.0"),
    ("ahead-of-leader-gives-up", ZOOKEEPER, "2.0.0", "2.0.1"),
    ("zookeeper-controller-empties-isr", ZOOKEEPER, "1.0.2", "1.1.0"),
    ("kraft-controller-bumps-epoch-on-shrink", KRAFT, "3.5.2", "3.6.0"),
    ("caught-up-replica-holds-high-watermark", KRAFT, "3.5.2", "3.6.0"),
    ("caught-up-replica-holds-high-watermark", ZOOKEEPER, "3.5.2", "3.6.0"),
    ("any-replica-may-join-isr", ZOOKEEPER, "3.2.3", "3.3.0"),
    ("only-unfenced-replica-joins-isr", KRAFT, "3.4.1", "3.5.0"),
    ("epoch-below-the-cache-is-unknown", ZOOKEEPER, "2.0.0", "2.0.1"),
    ("broker-that-gives-up-hangs", ZOOKEEPER, "0.10.2.2", "0.11.0.0"),
    ("unclean-election-is-allowed-unless-set", ZOOKEEPER, "0.10.2.2", "0.11.0.0"),
    ("epoch-entry-on-election-in-any-format", ZOOKEEPER, "2.1.0", "2.1.1"),
    ("sends-offsets-for-leader-epoch-3", ZOOKEEPER, "2.7.2", "2.8.0"),
    ("every-answered-partition-moves-to-the-end", ZOOKEEPER, "2.8.2", "3.0.0"),
    ("truncate-to-high-watermark-without-epochs", ZOOKEEPER, "2.8.2", "3.0.0"),
    ("new-epoch-of-the-same-leader-counts-as-fetch", ZOOKEEPER, "3.2.3", "3.3.0"),
    ("last-replica-standing", KRAFT, "4.0.2", "4.1.0"),
    ("eligible-leader-replicas-are-off-by-default", KRAFT, "4.0.2", "4.1.0"),
]


@pytest.mark.parametrize(("rule", "metadata", "without", "first"), BORDERS)
def test_rule_begins(rule: str, metadata: MetadataMode, without: str, first: str) -> None:
    assert rule not in rules_for(without, metadata).names()
    assert rule in rules_for(first, metadata).names()


@pytest.mark.parametrize(("rule", "metadata", "last", "without"), ENDINGS)
def test_rule_ends(rule: str, metadata: MetadataMode, last: str, without: str) -> None:
    assert rule in rules_for(last, metadata).names()
    assert rule not in rules_for(without, metadata).names()


@pytest.mark.parametrize(("version", "elr", "has_it"), [("4.0.0", True, True), ("4.3.1", False, False)])
def test_eligible_leader_replicas_can_be_switched(version: str, *, elr: bool, has_it: bool) -> None:
    names = rules_for(version, KRAFT, eligible_leader_replicas=elr).names()
    assert ("eligible-leader-replicas" in names) is has_it


@pytest.mark.parametrize("version", ["0.10.2.2", "1.0.1", "2.0.0", "2.0.1", "2.4.1", "2.8.0", "3.3.2", "3.9.2"])
def test_every_rule_has_its_papers(version: str) -> None:
    for rule in rules_for(version, ZOOKEEPER).rules:
        assert rule.name == rule.name.lower()
        assert rule.source
        assert rule.says.endswith(".")
        assert ". " not in rule.says


@pytest.mark.parametrize(("version", "metadata"), [("4.0.0", ZOOKEEPER), ("3.2.3", KRAFT)])
def test_a_mode_that_a_release_does_not_have_is_refused(version: str, metadata: MetadataMode) -> None:
    with pytest.raises(ValueError, match=f"Kafka {version} has no"):
        rules_for(version, metadata)


def test_version_is_numbers() -> None:
    assert parse_version("0.10.2.2") == (0, 10, 2, 2)
    with pytest.raises(ValueError, match="invalid literal"):
        parse_version("3.9.x")


def test_an_absent_last_known_leader_is_elected_in_4_0_with_the_feature_on() -> None:
    having = [
        (version, elr)
        for version in ("4.0.0", "4.0.2", "4.1.0", "4.3.1")
        for elr in (True, False)
        if "last-known-leader-is-elected-absent" in rules_for(version, KRAFT, eligible_leader_replicas=elr).names()
    ]
    assert having == [("4.0.0", True), ("4.0.2", True)]


def test_eligible_leader_replicas_do_not_exist_before_4_0() -> None:
    assert rules_for("3.9.2", KRAFT, eligible_leader_replicas=True) == rules_for("3.9.2", KRAFT)
