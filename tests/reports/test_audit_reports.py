"""Do page, SARIF and JUnit of an audit say what was found, what is accepted, what was not seen, and no more?"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from conformance.audit.audit import CHECKS
from conformance.audit.cluster import NotSeen
from conformance.audit.finding import Severity
from conformance.record.audit_answer import SEVERITIES
from oracle.vocabulary import Acks
from reports.audit_junit import render_audit_junit
from reports.audit_page import MEANINGS, SHOWN_SUBJECTS, headline, render_audit_page
from reports.audit_sarif import LEVELS, render_audit_sarif
from tests.conformance.audit.answers import answered, entry
from tests.conformance.audit.made_clusters import audited, good, of_topic, partition, topic
from tests.reports.browser import objections

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.audit.cluster import ClusterSeen
    from conformance.record.audit_answer import AuditAnswer

HOSTILE = "<script>alert('&')</script>"


def mixed(line: str = "3.6.2/kraft") -> ClusterSeen:
    """Return a cluster with findings of every severity, topics that cannot be seen, and defects of its release."""
    own = [topic(f"many-{number}", of_topic(1)) for number in range(SHOWN_SUBJECTS + 3)]
    own += [topic("full", of_topic(3)), topic("unclean", of_topic(unclean=True))]
    own += [topic("lone", of_topic(1), partition((1,))), topic("hidden", NotSeen("refused"))]
    return replace(good(line), topics=(*good().topics, *own))


def of_mixed() -> AuditAnswer:
    return answered(audited(mixed()), entry("min-isr-1", "topic many-0", date(2027, 6, 30)), entry("one-rack", "x"))


def sarif(answer: AuditAnswer) -> tuple[list[dict[str, object]], list[str]]:
    """Return results and the ids of the rules."""
    (run,) = json.loads(render_audit_sarif(answer))["runs"]
    return run["results"], [rule["id"] for rule in run["tool"]["driver"]["rules"]]


def case_of(answer: AuditAnswer, check: str, fail_on: str | None = None) -> ET.Element:
    root = ET.fromstring(render_audit_junit(answer, fail_on))
    (case,) = [case for case in root.iter("testcase") if case.get("name") == check]
    return case


def test_severities_have_one_order_and_a_meaning_each() -> None:
    assert [one.word for one in sorted(Severity, reverse=True)] == [*SEVERITIES]
    assert [*MEANINGS] == [*SEVERITIES]
    assert {*LEVELS} == {*SEVERITIES}


def test_the_page_has_all_that_was_found_and_nothing_from_elsewhere() -> None:
    answer = of_mixed()
    page = render_audit_page(answer)
    assert headline(answer) == "1 critical, 8 high, 1 medium and 1 low findings"
    assert f"<h1>{headline(answer)}</h1>" in page
    assert all(f'<th scope="row" class="mono">{check.id}</th>' in page for check in CHECKS)
    order = re.findall(r'<article class="found (\w+)"', page)
    assert order == [one.severity for one in answer.findings]
    assert order == sorted(order, key=SEVERITIES.index)
    for text in (
        "topic hidden",
        "KAFKA-15510",
        "It can be made again.",
        "2027-06-30",
        "(one-rack, x)",
        "--entity-name",
    ):
        assert text in page
    assert "<script" not in page
    assert set(re.findall(r'(?:src|href)="([^#"][^"]*)"', page)) == set()
    assert "url(" not in page


def test_every_link_of_the_page_has_its_anchor() -> None:
    page = render_audit_page(of_mixed())
    assert set(re.findall(r'href="#([^"]+)"', page)) - set(re.findall(r'id="([^"]+)"', page)) == set()


def test_a_long_list_is_folded_and_a_short_one_is_not() -> None:
    page = render_audit_page(answered(audited(mixed())))
    assert "<summary>and 3 more</summary>" in page
    assert f"<li>topic many-{SHOWN_SUBJECTS + 2}</li>" in page
    assert f"--entity-name many-{SHOWN_SUBJECTS + 2} " in page
    assert render_audit_page(answered(audited(good()))).count("<summary>") == 0


def test_topics_that_differ_in_case_alone_have_a_command_each() -> None:
    topics = (topic("Orders", of_topic(1)), topic("orders", of_topic(1)))
    page = render_audit_page(answered(audited(replace(good(), topics=topics))))
    assert ("--entity-name Orders " in page, "--entity-name orders " in page) == (True, True)


def test_what_is_not_there_has_no_section() -> None:
    page = render_audit_page(answered(audited(good())))
    assert "<h1>Nothing found</h1>" in page
    assert not re.search(r'id="(unseen|accepted|defects)"', page)
    hidden = replace(good(), topics=(topic("hidden", NotSeen("refused")),))
    assert "<h1>Nothing found in what can be seen</h1>" in render_audit_page(answered(audited(hidden)))


def test_every_text_of_the_cluster_and_of_the_baseline_is_escaped() -> None:
    named = topic(HOSTILE, of_topic(1))
    answer = answered(audited(replace(good(), id=HOSTILE, topics=(*good().topics, named))))
    (finding,) = answer.findings
    told = replace(
        answer,
        servers=HOSTILE,
        findings=(replace(finding, harm=HOSTILE, mend=HOSTILE, evidence=(*finding.evidence,)),),
    )
    page = render_audit_page(told)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 6
    assert HOSTILE in (case_of(told, "min-isr-1").findtext("failure") or "")
    assert HOSTILE in json.dumps(sarif(told)[0])


def test_a_sarif_log_has_the_structure_that_its_standard_asks_for() -> None:
    log = json.loads(render_audit_sarif(of_mixed()))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    driver = log["runs"][0]["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("kafka-conformance", "1.2.3")
    assert [rule["id"] for rule in driver["rules"]] == [one.id for one in CHECKS]
    assert all(rule["shortDescription"]["text"].endswith("?") for rule in driver["rules"])
    assert not any("helpUri" in rule for rule in driver["rules"])
    for result in log["runs"][0]["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        (place,) = result["locations"][0]["logicalLocations"]
        assert place["fullyQualifiedName"].split() == [place["kind"], place["name"]]
    (invocation,) = log["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is True
    assert {one["associatedRule"]["id"] for one in invocation["toolExecutionNotifications"]} >= {"min-isr-1"}


def test_accepted_findings_are_suppressed_in_sarif_and_no_others() -> None:
    results, _ = sarif(of_mixed())
    suppressed = [one for one in results if one["suppressions"]]
    assert [one["suppressions"] for one in suppressed] == [
        [{"kind": "external", "status": "accepted", "justification": "It can be made again."}]
    ]
    assert "topic many-0" in str(suppressed[0]["locations"])
    assert all("suppressions" not in one for one in sarif(answered(audited(mixed())))[0])


def fingerprints(answer: AuditAnswer) -> list[str]:
    return [str(one["partialFingerprints"]) for one in sarif(answer)[0]]


def test_a_fingerprint_stays_when_a_value_moves_and_differs_for_each_finding() -> None:
    def of(partitions_in_sync: tuple[int, ...], name: str = "a") -> list[str]:
        mistaken = topic(name, of_topic(3), partition(isr=partitions_in_sync))
        return fingerprints(answered(audited(replace(good(), topics=(*good().topics, mistaken)))))

    assert of((1, 2)) == of((2, 3))
    assert not set(of((1, 2))) & set(of((1, 2), "b"))
    several = fingerprints(answered(audited(mixed("2.8.2/zookeeper"), Acks.LEADER, Acks.NONE)))
    assert len(several) == len(set(several))


def test_a_known_defect_keeps_its_fingerprint_when_another_one_is_gone() -> None:
    answer = answered(audited(mixed("2.8.2/zookeeper")))
    first, *others = (one for one in answer.findings if one.check == "known-defect")
    assert others
    assert set(fingerprints(replace(answer, findings=tuple(others)))) < set(fingerprints(answer))
    assert {*fingerprints(replace(answer, findings=(first,)))}.isdisjoint(
        fingerprints(replace(answer, findings=tuple(others)))
    )


def test_a_fingerprint_does_not_change_by_being_accepted() -> None:
    assert sorted(fingerprints(of_mixed())) == sorted(fingerprints(answered(audited(mixed()))))


@pytest.mark.parametrize(
    ("check", "fail_on", "result"),
    [
        ("min-isr-1", None, "failure"),
        ("min-isr-1", "high", "failure"),
        ("min-isr-1", "critical", None),
        ("replication-factor-1", "critical", "failure"),
        ("unclean-election", None, "failure"),
        ("unclean-election", "medium", None),
        ("two-replicas", None, "skipped"),
        ("mixed-versions", None, None),
    ],
)
def test_a_check_fails_as_fail_on_says_and_is_skipped_where_it_could_not_see(
    check: str, fail_on: str | None, result: str | None
) -> None:
    case = case_of(of_mixed(), check, fail_on)
    assert [one.tag for one in case if one.tag in {"failure", "skipped", "error"}] == ([result] if result else [])


def test_what_a_check_accepts_or_finds_below_the_severity_stands_in_its_output() -> None:
    output = case_of(of_mixed(), "min-isr-1", "critical").findtext("system-out") or ""
    assert "accepted until 2027-06-30, by accepted.yaml: topic many-0: It can be made again." in output
    assert "high: topic many-1" in output
    assert "cannot be seen: topic hidden: refused" in output
    skipped = case_of(of_mixed(), "two-replicas").find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "cannot be seen: topic hidden: refused"


def test_junit_has_a_case_for_each_check_and_is_xml_whatever_brokers_say() -> None:
    (first, *others) = of_mixed().findings
    told = replace(of_mixed(), findings=(replace(first, harm="a\x00b"), *others))
    root = ET.fromstring(render_audit_junit(told, None))
    assert [case.get("name") for case in root.iter("testcase")] == [one.id for one in CHECKS]
    assert "a\N{REPLACEMENT CHARACTER}b" in ET.tostring(root, encoding="unicode")


@pytest.mark.browser
def test_nothing_can_be_objected_to_in_a_browser(tmp_path: Path) -> None:
    (tmp_path / "audit.html").write_text(render_audit_page(of_mixed()), encoding="utf-8")
    assert objections(tmp_path / "audit.html") == []
