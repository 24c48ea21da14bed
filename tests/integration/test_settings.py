"""Do real brokers obey new durability settings when the model says they do?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.record.verdict import Conformance, PromiseKept
from oracle.schedule_format import decode
from tests.conformance.run_files import read_json

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.pipeline import Pipeline
    from conformance.record.directory import RunDirectory
    from tests.integration.real_runs import Releases

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(300)]


def document(name: str, minimum: int, *steps: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"settings/{name}",
        "requirement": "New settings hold from the next step on.",
        "replicas": [1, 2],
        "settings": {"min.insync.replicas": minimum, "unclean.leader.election.enable": False},
        "steps": list(steps),
    }


MINIMUM = document(
    "minimum",
    2,
    {"produce": {"records": ["m0"]}},
    {"kill": 2},
    {"produce": {"records": ["m1"], "expect": "refused"}},
    {"alter": {"min.insync.replicas": 1}},
    {"produce": {"records": ["m2"]}},
    {"checkpoint": "one replica is enough"},
    {"alter": {"min.insync.replicas": 2}},
    {"produce": {"records": ["m3"], "expect": "refused"}},
    {"start": 2},
    {"await_isr": [1, 2]},
    {"checkpoint": "the end"},
)
UNCLEAN = document(
    "unclean",
    1,
    {"kill": 2},
    {"produce": {"records": ["m0"]}},
    {"kill": 1},
    {"start": 2},
    {"await_leader": "none"},
    {"alter": {"unclean.leader.election.enable": True}},
    {"await_leader": 2},
    {"produce": {"records": ["m1"]}},
    {"start": 1},
    {"await_isr": [1, 2]},
    {"checkpoint": "the end"},
)


def check(document: dict[str, Any], running: Pipeline, promise: PromiseKept) -> RunDirectory:
    schedule = decode(document)
    finished = running.run(Scenario(schedule.id, schedule, schedule.requirement))
    verdict = finished.verdict
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, promise), verdict.reason
    return finished.run


def test_a_new_minimum_is_obeyed(releases: Releases, tmp_path: Path) -> None:
    check(MINIMUM, releases.pipeline("0.10.2.2", tmp_path), PromiseKept.KEPT)


@pytest.mark.parametrize(("version", "spoils"), [("2.8.2", False), ("4.3.1", True)])
def test_new_settings_are_obeyed_one_after_another(
    version: str, releases: Releases, tmp_path: Path, *, spoils: bool
) -> None:
    """The minimum clears who is eligible on 4.3.1, whose controller cannot register broker 2 again afterwards."""
    running = releases.pipeline(version, tmp_path)
    first = check(MINIMUM, running, PromiseKept.KEPT)
    second = check(UNCLEAN, running, PromiseKept.ALLOWED_BY_SETTINGS)
    assert read_json(second, "run.json")["cluster_runs"][-1:] == ([] if spoils else [first.path.name])
