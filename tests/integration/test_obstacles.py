"""Do real brokers that are paused, cut off from one another, isolated or told to delete do what the model says?"""

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


def document(name: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"obstacles/{name}",
        "requirement": "A broker that comes back keeps nothing that was not committed, and loses nothing that was.",
        "replicas": [1, 2, 3],
        "settings": {"min.insync.replicas": 2, "unclean.leader.election.enable": False},
        "steps": list(steps),
    }


PAUSED = document(
    "paused-leader",
    {"produce": {"records": ["m0"]}},
    {"cut": {"from": 2, "to": 1}},
    {"cut": {"from": 3, "to": 1}},
    {"produce": {"records": ["z0"], "expect": "pending"}},
    {"checkpoint": "nobody fetches the record"},
    {"pause": 1},
    {"await_leader": 2},
    {"produce": {"records": ["m1"]}},
    {"checkpoint": "the old leader stands still"},
    {"resume": 1},
    {"await_isr": [1, 2, 3]},
    {"await_outcome": {"records": ["z0"], "expect": "indeterminate"}},
    {"checkpoint": "it has heard of its successor"},
    {"heal": {"from": 2, "to": 1}},
    {"heal": {"from": 3, "to": 1}},
)
FENCED = document(
    "isolated-leader-is-fenced",
    {"produce": {"records": ["m0"]}},
    {"isolate": 1},
    {"await_leader": 2},
    {"produce": {"records": ["z0"], "acks": 1, "leader": 1}},
    {"produce": {"records": ["m1"]}},
    {"checkpoint": "two leaders"},
    {"rejoin": 1},
    {"await_isr": [1, 2, 3]},
    {"checkpoint": "the end"},
)
REGISTERED = document(
    "isolated-leader-stays",
    {"produce": {"records": ["m0"]}},
    {"isolate": 1},
    {"produce": {"records": ["m1"], "expect": "pending"}},
    {"checkpoint": "nobody fetches from the leader"},
    {"rejoin": 1},
    {"await_outcome": {"records": ["m1"], "expect": "acknowledged"}},
    {"checkpoint": "the end"},
)
DELETED = document(
    "deleted-records",
    {"produce": {"records": ["m0", "m1"]}},
    {"delete_records": 1},
    {"checkpoint": "deleted on all"},
    {"kill": 2},
    {"checkpoint": "broker 2 has not written it down"},
    {"start": 2},
    {"await_isr": [1, 2, 3]},
    {"checkpoint": "broker 2 has heard of it again"},
)


@pytest.mark.parametrize(("version", "others"), [("2.8.2", (REGISTERED,)), ("4.3.1", (FENCED, DELETED))])
def test_brokers_in_the_way_of_each_other_do_as_predicted(
    version: str, others: tuple[dict[str, Any], ...], releases: Releases, tmp_path: Path
) -> None:
    promises = {"isolated-leader-is-fenced": PromiseKept.ALLOWED_BY_SETTINGS}
    running = releases.pipeline(version, tmp_path)
    for written in (PAUSED, *others):
        schedule = decode(written)
        verdict = running.run(Scenario(schedule.id, schedule, schedule.requirement)).verdict
        promise = promises.get(schedule.id.split("/")[1], PromiseKept.KEPT)
        assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, promise), verdict.findings
