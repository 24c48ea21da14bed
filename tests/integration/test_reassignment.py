"""Does a partition move on real brokers as the model says, and keep what was committed?

The first fetch of the new replica is held, so that one checkpoint stands in the middle of the reassignment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.record.verdict import Conformance, PromiseKept
from oracle.schedule_format import decode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.real_runs import Releases

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(300)]

MOVED: dict[str, Any] = {
    "id": "reassignment/moved",
    "requirement": "A partition that moves to another broker keeps every committed record.",
    "sources": ["KIP-455"],
    "replicas": [2, 1],
    "steps": [
        {"produce": {"records": ["m0"]}},
        {"hold": {"name": "first", "point": "fetch_request", "follower": 3, "leader": 2}},
        {"reassign": [3, 1]},
        {"await_hold": "first"},
        {"produce": {"records": ["m1"]}},
        {"checkpoint": "broker 3 has not fetched yet"},
        {"release": "first"},
        {"await_leader": 3},
        {"produce": {"records": ["m2"]}},
        {"checkpoint": "moved"},
        {"reassign": [1, 3]},
        {"elect": "preferred"},
        {"reassign": [1]},
        {"produce": {"records": ["m3"]}},
        {"checkpoint": "one replica is left"},
    ],
}


@pytest.mark.parametrize("version", ["0.10.2.2", "2.8.2", "4.3.1"])
def test_a_partition_moves_as_predicted(version: str, releases: Releases, tmp_path: Path) -> None:
    schedule = decode(MOVED)
    verdict = releases.pipeline(version, tmp_path).run(Scenario(schedule.id, schedule, schedule.requirement)).verdict
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, PromiseKept.KEPT), verdict.findings
