"""Does an audit say what late requests and unclean elections do to transactions, where there are any?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from conformance.audit.audit import audit
from conformance.audit.audited import Audited
from conformance.audit.baseline import baseline_text, read_baseline
from conformance.audit.checks_of_transactions import LATE_REQUESTS, TRANSACTION_VERSION, broken_by, script_at
from conformance.audit.cluster import NotSeen
from conformance.audit.demonstrated_defects import late_request_twins
from conformance.audit.demonstrated_topics import example, found_by
from conformance.audit.demonstrations import NothingToShowError
from conformance.audit.release_seen import release_seen
from conformance.catalogue.examination import Examination
from conformance.commands.audit_lines import audit_lines
from conformance.line import line_named
from oracle.rules.by_version import rules_for
from oracle.rules.transactions import TRANSACTION_FEATURE
from oracle.transactions.promised import MISSING, PROMISED, STUCK
from oracle.vocabulary import TRANSACTION_STATE, MetadataMode
from reports.audit_junit import render_audit_junit
from reports.audit_page import render_audit_page
from reports.audit_sarif import render_audit_sarif
from tests.conformance.audit.answers import answered
from tests.conformance.audit.made_clusters import (
    audited,
    found,
    good,
    of_topic,
    with_late_transactions,
    with_topic,
    with_transactions,
)

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.audit.cluster import ClusterSeen
    from conformance.audit.finding import AuditFinding

NEWEST, OLD = "4.4.0/kraft", "3.9.2/kraft"


def late(cluster: ClusterSeen) -> dict[str | None, AuditFinding]:
    """Return what late requests can do to a cluster, by issue."""
    rows = [row.finding for row in audited(cluster).rows if row.finding.check == TRANSACTION_VERSION]
    return {one.issue: one for one in rows}


def at(line: str, **levels: int) -> ClusterSeen:
    """Return a good cluster of a line, in which somebody has had transactions."""
    return with_transactions(good(line, **levels))


@pytest.mark.parametrize(
    ("line", "level", "issues"),
    [
        ("0.11.0.3/zookeeper", None, {"KAFKA-17754", "KIP-890", "KIP-1228", "KAFKA-14402"}),
        ("3.4.1/kraft", None, {"KAFKA-17754", "KIP-890", "KIP-1228", "KAFKA-14402"}),
        ("3.6.2/zookeeper", None, {"KAFKA-17754", "KIP-890", "KIP-1228"}),
        (OLD, None, {"KAFKA-17754", "KIP-890", "KIP-1228"}),
        ("4.0.2/kraft", 1, {"KAFKA-17754", "KIP-890", "KIP-1228"}),
        ("4.1.2/kraft", 2, {"KIP-1228"}),
        ("4.2.2/kraft", 2, set()),
        (NEWEST, 0, {"KAFKA-17754", "KIP-890", "KIP-1228"}),
        (NEWEST, 1, {"KAFKA-17754", "KIP-890", "KIP-1228"}),
        (NEWEST, 2, set()),
        (NEWEST, 3, set()),
    ],
)
def test_what_a_late_request_can_do_is_found_by_the_rules_of_release_and_level(
    line: str, level: int | None, issues: set[str]
) -> None:
    cluster = at(line) if level is None else at(line, transaction_version=level)
    assert late(cluster).keys() == issues
    assert found(cluster) == ({TRANSACTION_VERSION} if issues else set())


@pytest.mark.parametrize("line", ["0.10.2.2/zookeeper", "2.8.2/zookeeper", OLD, NEWEST])
def test_a_cluster_in_which_nobody_has_had_a_transaction_has_no_such_finding(line: str) -> None:
    cluster = good(line, transaction_version=0)
    assert not late(cluster)
    assert TRANSACTION_VERSION not in {one.check for one in audited(cluster).unseen}


def test_the_release_and_not_the_check_says_which_release_mends_it() -> None:
    found = late(at("3.4.1/kraft"))
    level = "with transaction.version=2 (after the upgrade: kafka-features.sh upgrade --feature transaction.version=2)"
    assert {issue: one.mend for issue, one in found.items()} == {
        "KAFKA-17754": f"Kafka 4.0 or newer {level}",
        "KIP-890": f"Kafka 4.0 or newer {level}",
        "KIP-1228": f"Kafka 4.2 or newer {level}",
        "KAFKA-14402": "Kafka 3.6 or newer",
    }
    assert {one.command for one in found.values()} == {None}


def test_the_level_is_raised_by_a_command_where_every_broker_supports_it() -> None:
    finding = late(with_late_transactions())["KAFKA-17754"]
    assert finding.mend == "transaction.version=2 (KIP-890)"
    assert str(finding.command).endswith("upgrade --feature transaction.version=2")
    cluster = with_late_transactions()
    assert not isinstance(cluster.brokers[0].speaks, NotSeen)
    older = replace(cluster.brokers[0], speaks=replace(cluster.brokers[0].speaks, supported={TRANSACTION_FEATURE: 1}))
    seen = replace(cluster, brokers=(older, *cluster.brokers[1:]))
    named = audit(Audited(seen, release_seen(seen, line_named(NEWEST))))
    assert {row.finding.command for row in named.rows if row.finding.check == TRANSACTION_VERSION} == {None}


def test_a_record_that_is_lost_is_worse_than_consumers_that_stop() -> None:
    severities = {issue: one.severity.word for issue, one in late(at("3.4.1/kraft")).items()}
    assert severities == {"KAFKA-17754": "high", "KIP-890": "high", "KIP-1228": "high", "KAFKA-14402": "medium"}
    assert "an acknowledged record of a committed transaction is lost" in late(at(OLD))["KAFKA-17754"].harm
    assert "an acknowledged record" not in late(at("3.4.1/kraft"))["KAFKA-14402"].harm


@pytest.mark.parametrize("entry", [entry for one in LATE_REQUESTS for entry in one.entries])
def test_a_script_that_breaks_its_promise_does_so_by_the_rules_that_a_level_takes_away(entry: str) -> None:
    """With the rules of 4.4.0 nothing breaks it; with a rule given to 3.5.2, or taken from 4.4.0, it is otherwise."""
    newest = rules_for("4.4.0", MetadataMode.KRAFT)
    assert broken_by(entry, newest, None) == ()
    assert broken_by(entry, rules_for("3.5.2", MetadataMode.KRAFT), None) != ()
    assert broken_by(entry, rules_for("0.10.2.2", MetadataMode.ZOOKEEPER), None) == ()


def test_a_rule_that_is_taken_away_brings_the_harm_back() -> None:
    hangs, kraft = "TX-06/after-its-abort", MetadataMode.KRAFT
    assert broken_by(hangs, rules_for("3.9.2", kraft), None) == ()
    assert [what for what, _ in broken_by(hangs, rules_for("3.9.2~transaction-is-verified", kraft), None)] == [STUCK]


# What cannot be seen?


def test_whether_somebody_has_had_a_transaction_may_be_hidden() -> None:
    cluster = replace(good(transaction_version=1), hidden={TRANSACTION_STATE: NotSeen("not allowed to see: a topic")})
    (told,) = [one for one in audited(cluster).unseen if one.check == TRANSACTION_VERSION]
    assert (told.why, told.subjects) == ("not allowed to see: a topic", ("cluster",))
    known = replace(cluster, transactional_ids=("a",))
    assert "KAFKA-17754" in late(known)


def test_a_level_that_no_broker_tells_is_not_taken_for_any() -> None:
    for line, why in (
        (NEWEST, "no broker told its features"),
        (None, "the release is not known: name it with --kafka"),
    ):
        cluster = at(NEWEST)
        mute = replace(cluster, brokers=tuple(replace(one, speaks=NotSeen("no answer")) for one in cluster.brokers))
        seen = audit(Audited(mute, release_seen(mute, line and line_named(line))))
        assert [one.why for one in seen.unseen if one.check == TRANSACTION_VERSION] == [why]
    old = audit(Audited(mute, release_seen(mute, line_named(OLD))))
    assert TRANSACTION_VERSION in {row.finding.check for row in old.rows}, "3.9 has no such feature"


# What do unclean elections take from transactions?


def test_an_unclean_election_is_told_with_transactions_where_there_are_any_and_says_what_is_not_shown() -> None:
    unclean = with_topic(own=of_topic(unclean=True))()
    (row,) = audited(with_transactions(unclean, "a", "b")).rows
    assert (row.finding.check, row.subjects) == ("unclean-transactions", ("topic mistaken",))
    assert "KAFKA-20716" in row.finding.harm
    assert "run TX-12" in row.finding.harm
    assert row.finding.evidence[-1].value == "there, with 2 transactional ids"
    assert found(unclean) == {"unclean-election"}


# How is it told?


def test_every_output_says_it() -> None:
    answer = answered(audited(with_late_transactions()))
    harm = "an EndTxn that comes late ends the next transaction"
    lines = " ".join(" ".join(audit_lines(answer, 118)).split())
    for text in (lines, render_audit_page(answer), render_audit_sarif(answer)):
        assert harm in text
        assert "transaction.version" in text
    cases = {one.attrib["name"]: one for one in ET.fromstring(render_audit_junit(answer, "high")).iter("testcase")}
    (case,) = [one for name, one in cases.items() if name.startswith(TRANSACTION_VERSION)]
    assert case.find("failure") is not None
    good_answer = answered(audited(at(NEWEST)))
    assert harm not in render_audit_page(good_answer) + render_audit_sarif(good_answer)


def test_a_baseline_accepts_one_issue_or_all(tmp_path: Path) -> None:
    answer = answered(audited(with_late_transactions()))
    text = baseline_text(answer)
    assert [text.count(f"issue: {one.issue}") for one in LATE_REQUESTS] == [1, 1, 1, 0]
    path = tmp_path / "accepted.yaml"
    path.write_text(text)
    accepted = read_baseline(path, [TRANSACTION_VERSION]).entries
    assert answered(audited(with_late_transactions()), *accepted).findings == ()
    one_less = answered(audited(with_late_transactions()), *accepted[1:])
    assert [one.issue for one in one_less.findings] == [accepted[0].issue]


# How is it demonstrated?


@pytest.mark.parametrize(
    ("line", "level", "as_read", "mended"),
    [
        (OLD, None, f"Kafka {OLD}", f"Kafka {NEWEST}, transaction.version=2"),
        (NEWEST, 1, f"Kafka {NEWEST}, transaction.version=1", f"Kafka {NEWEST}, transaction.version=2"),
        (NEWEST, 0, f"Kafka {NEWEST}, transaction.version=0", f"Kafka {NEWEST}, transaction.version=2"),
        ("0.11.0.3/zookeeper", None, "Kafka 0.11.0.3/zookeeper", f"Kafka {NEWEST}, transaction.version=2"),
    ],
)
def test_a_late_abort_loses_a_record_as_the_cluster_is_and_none_once_mended(
    line: str, level: int | None, as_read: str, mended: str
) -> None:
    cluster = at(line) if level is None else at(line, transaction_version=level)
    shown = found_by(audited(cluster), TRANSACTION_VERSION)
    assert shown.subject == "cluster"
    assert (shown.twins.as_read.settings, shown.twins.mended.settings) == (as_read, mended)
    assert shown.twins.as_read.shows == f"{MISSING.removeprefix(PROMISED)}: a2"
    assert shown.twins.mended.shows.startswith("every acknowledged record of a committed transaction is given")
    for telling, is_broken in ((shown.twins.as_read, True), (shown.twins.mended, False)):
        assert isinstance(telling.entry, Examination)
        told = telling.entry.subject.predict(telling.line.rules)
        assert any(one.value for one in told if one.what.startswith(PROMISED)) is is_broken
        assert (
            telling.entry.subject
            == script_at("TX-05/late-abort", None if telling is not shown.twins.as_read else level).subject
        )


def test_a_late_marker_is_shown_where_nothing_else_is_broken() -> None:
    twins = found_by(audited(at("4.1.2/kraft", transaction_version=2)), TRANSACTION_VERSION).twins
    assert twins.as_read.entry.sources[0] == "TX-07"
    assert twins.mended.line.text == NEWEST


def test_an_example_is_an_upgraded_cluster_where_new_ones_show_nothing() -> None:
    assert example(TRANSACTION_VERSION, line_named(NEWEST)).twins.as_read.settings.endswith("transaction.version=1")
    assert example(TRANSACTION_VERSION, line_named(OLD)).twins.as_read.settings == f"Kafka {OLD}"


@pytest.mark.parametrize(("line", "level"), [(NEWEST, None), ("4.2.2/kraft", None), ("0.10.2.2/zookeeper", None)])
def test_what_shows_nothing_is_refused(line: str, level: int | None) -> None:
    with pytest.raises(NothingToShowError, match="no late request breaks"):
        late_request_twins(line_named(line), level)
    with pytest.raises(NothingToShowError, match="found nothing"):
        found_by(audited(at(NEWEST)), TRANSACTION_VERSION)
