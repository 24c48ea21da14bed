"""Does the command tell what is wrong, the worst first and what is alike together, and does it refuse what is none?"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conformance.audit.audit import CHECKS, Audit
from conformance.audit.cluster import NotSeen, TopicSeen
from conformance.cli import main
from conformance.commands.audit_lines import audit_lines
from tests.conformance.audit.answers import answered
from tests.conformance.audit.made_clusters import audited, good, of_topic, partition, topic, with_topic

FIVE = (of_topic(1), of_topic(3), of_topic(4), of_topic(unclean=True), of_topic(2))


def of_a_thousand_topics() -> Audit:
    topics: list[TopicSeen] = [topic(f"t{number}", FIVE[number % 5]) for number in range(1000)]
    return audited(replace(good(), topics=tuple(topics)))


def test_a_thousand_topics_with_five_settings_are_a_row_for_each_mistake_the_worst_first() -> None:
    rows = of_a_thousand_topics().rows
    assert [(row.finding.check, len(row.subjects)) for row in rows] == [
        ("unclean-election", 200),
        ("min-isr-1", 200),
        ("min-isr-equals-replicas", 200),
        ("min-isr-above-replicas", 200),
    ]


def test_a_row_names_some_subjects_and_the_number_of_the_others() -> None:
    told = "\n".join(audit_lines(answered(of_a_thousand_topics()), 100))
    assert "CRITICAL  unclean-election  topic t3, topic t8, topic t13, topic t18 and 196 more" in told
    assert "--entity-name t3 --add-config unclean.leader.election.enable=false   (likewise for 199 more)" in told
    assert max(len(line) for line in told.splitlines() if not line.startswith("    kafka-")) <= 100


def test_what_was_not_allowed_to_be_seen_is_never_told_to_be_fine() -> None:
    found = audited(with_topic(own=NotSeen("not allowed to see: DescribeConfigs"))())
    told = " ".join(line.strip() for line in audit_lines(answered(found), 100))
    assert "known-defect: topic mistaken: not allowed to see: DescribeConfigs" in told
    assert told.count("not allowed to see: DescribeConfigs") == 1
    assert "  min-isr-1, " in "\n".join(audit_lines(answered(found), 100))
    assert {one.check for one in answered(found).unseen} >= {"min-isr-1", "unclean-election", "two-replicas"}


def test_where_no_topic_is_seen_no_check_of_topics_says_that_all_is_well() -> None:
    answer = answered(audited(replace(good(), topics=())))
    assert not answer.findings
    about_topics = {one.id for one in CHECKS if one.is_of_topics}
    assert {one.check for one in answer.unseen} == about_topics
    assert about_topics > {"replication-factor-1", "min-isr-1", "unclean-election", "offline", "one-rack"}
    assert not about_topics & {"controller-quorum", "lag-time", "mixed-versions", "log-directory-offline"}
    assert {one.result for one in answer.checks if one.id in about_topics} == {"not seen 1"}


def test_a_defect_that_no_setting_avoids_is_told_apart_from_findings() -> None:
    found = audited(good("3.6.2/kraft"))
    assert not found.rows
    assert "KAFKA-15510" in {one.issue for one in answered(found).defects}
    assert any("KAFKA-15510" in line for line in audit_lines(answered(found), 100))


def test_an_unclean_election_that_the_release_does_not_look_at_is_no_danger() -> None:
    (row,) = audited(with_topic(own=of_topic(unclean=True), line="3.8.1/kraft")()).rows
    assert (row.finding.check, row.finding.severity.word) == ("unclean-election", "low")
    assert "KAFKA-12670" in row.finding.harm


def test_a_lost_leader_of_one_partition_names_it() -> None:
    found = audited(with_topic(parts=(partition(), replace(partition(isr=()), number=1)))())
    assert [row.subjects for row in found.rows] == [("partition mistaken-1",)]


def test_the_checks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--list-checks", "--json"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)] == [one.id for one in CHECKS]
    assert main(["audit", "--list-checks"]) == 0
    assert "min-isr-1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--bootstrap-server must name a broker"),
        (["--bootstrap-server", "broker"], "'broker' is no HOST:PORT"),
        (["--bootstrap-server", "b:9092", "--producer", "acks=two"], "acks is all, 1 or 0"),
        (["--bootstrap-server", "b:9092", "--producer", "acks=all,1"], "of several kinds of producers"),
        (["--bootstrap-server", ","], "--bootstrap-server must name a broker"),
        (["--bootstrap-server", "b:99999"], "'b:99999' is no HOST:PORT"),
        (["--bootstrap-server", "SSL://b:9092"], "'SSL://b:9092' is no HOST:PORT"),
        (["--bootstrap-server", "b:9092", "--kafka", "9.9"], "9.9"),
        (
            ["--bootstrap-server", "127.0.0.1:1", "--timeout", "600"],
            "no broker answers at 127.0.0.1:1 (Connection refused)",
        ),
    ],
)
def test_what_cannot_be_audited_is_told(options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", *options]) == 2
    assert told in capsys.readouterr().err
