"""Do junit.xml and report.json say the same as the page, in their own semantics?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from reports.load import load_runs
from reports.version_matrix import version_matrix

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def junit(report: Path) -> ET.Element:
    return ET.parse(report.parent / "junit.xml").getroot()


def case(junit: ET.Element, suite: str, name: str) -> ET.Element:
    found = junit.find(f"testsuite[@name='{suite}']/testcase[@name='{name}']")
    assert found is not None
    return found


def test_counts_add_up(junit: ET.Element) -> None:
    assert {key: junit.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "8",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    assert sum(int(suite.get("tests", 0)) for suite in junit) == len(junit.findall("testsuite/testcase")) == 8


def test_a_predicted_loss_passes_and_says_so(junit: ET.Element) -> None:
    passed = case(junit, "kafka-0.10.2.2.zookeeper.process", "TR-01/unsafe")
    assert {child.tag for child in passed} == {"properties", "system-out"}
    assert passed.find("properties/property[@value='BROKEN_AS_PREDICTED']") is not None
    assert "lost m1" in (passed.findtext("system-out") or "")


def test_a_deviation_is_a_failure_with_its_findings(junit: ET.Element) -> None:
    failure = case(junit, "kafka-3.9.1.kraft.process", "TR-01/unsafe").find("failure")
    assert failure is not None
    assert failure.get("type") == "DEVIATES"
    assert "predicted 2, measured 1" in (failure.get("message") or "")
    assert "record: m1" in (failure.text or "")


def test_a_harness_error_is_an_error_and_not_run_is_skipped_with_its_reason(junit: ET.Element) -> None:
    error = case(junit, "kafka-2.8.2.zookeeper.process", "TR-02/unsafe").find("error")
    skipped = case(junit, "kafka-0.10.2.2.zookeeper.process", "EL-06").find("skipped")
    assert error is not None
    assert error.get("type") == "HARNESS_ERROR"
    assert skipped is not None
    assert "eligible leader replicas" in (skipped.get("message") or "")


def test_report_json_counts_both_verdicts(report: Path) -> None:
    written = json.loads((report.parent / "report.json").read_text())
    assert written["summary"]["conformance"] == {
        "CONFORMS": 5,
        "DEVIATES": 1,
        "INCONCLUSIVE": 0,
        "HARNESS_ERROR": 1,
        "NOT_RUN": 1,
    }
    assert written["summary"]["promise"]["BROKEN_AS_PREDICTED"] == 3
    first = written["runs"][0]
    assert {"scenario", "kafka", "metadata", "backend", "conformance", "promise", "reason", "seconds", "run"} <= set(
        first
    )
    assert written["runs"][-1]["promise"] is None


def test_the_matrix_has_oldest_versions_first(golden_paths: list[Path]) -> None:
    matrix = version_matrix(load_runs(golden_paths))
    assert matrix is not None
    assert matrix.columns == ("0.10.2.2 ZooKeeper", "2.8.2 ZooKeeper", "3.9.1 KRaft", "4.3.1 KRaft")
    first = matrix.rows[0]
    assert (first.scenario, [len(cell) for cell in first.cells]) == ("TR-01 (unsafe)", [1, 0, 1, 1])


def test_one_version_needs_no_matrix(golden_paths: list[Path]) -> None:
    assert version_matrix(load_runs(golden_paths[:1])) is None
