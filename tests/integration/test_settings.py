"""Do real brokers obey new durability settings when the model says they do?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.judgement.verdicts import Conformance, PromiseKept
from conformance.schedules.schedule_format import decode

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.pipeline import Pipeline
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


def check(document: dict[str, Any], running: Pipeline, promise: PromiseKept) -> None:
    schedule = decode(document)
    verdict = running.run(Scenario(schedule.id, schedule, schedule.requirement)).verdict
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, promise), verdict.findings


@pytest.mark.parametrize("version", ["0.10.2.2", "2.8.2", "4.3.1"])
def test_a_new_minimum_is_obeyed(version: str, releases: Releases, tmp_path: Path) -> None:
    check(MINIMUM, releases.pipeline(version, tmp_path), PromiseKept.KEPT)


@pytest.mark.parametrize("version", ["2.8.2", "4.3.1"])
def test_a_leader_is_elected_once_it_may_be_unclean(version: str, releases: Releases, tmp_path: Path) -> None:
    check(UNCLEAN, releases.pipeline(version, tmp_path), PromiseKept.ALLOWED_BY_SETTINGS)
