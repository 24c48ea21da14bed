"""Do real brokers that do not hear their controller, or are not heard by it, do what the model says?

The zombie leader: the frame that tells broker 2 of its successor is held; it goes on, alone. The pending join: the
leader's request to add a replica, or the answer, is held; what counts as in sync is then not what is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.record.verdict import Conformance, PromiseKept
from oracle.schedule_format import decode

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.pipeline import Pipeline
    from tests.integration.real_runs import Releases

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(300)]


def document(name: str, minimum: int, *steps: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"controller/{name}",
        "requirement": "What the controller has not decided, or a broker has not heard, is not committed.",
        "replicas": [1, 2, 3],
        "settings": {"min.insync.replicas": minimum, "unclean.leader.election.enable": False},
        "steps": list(steps),
    }


def zombie_leader(point: str) -> dict[str, Any]:
    return document(
        "zombie-leader",
        2,
        {"kill": 1},
        {"start": 1},
        {"await_isr": [1, 2, 3]},
        {"hold": {"name": "deaf", "point": point, "broker": 2}},
        {"elect": "preferred"},
        {"await_hold": "deaf"},
        {"await_leader": 1},
        {"produce": {"records": ["z0"], "acks": 1, "leader": 2}},
        {"checkpoint": "broker 2 still leads"},
        {"produce": {"records": ["m0"], "expect": "pending"}},
        {"release": "deaf"},
        {"await_outcome": {"records": ["m0"], "expect": "acknowledged"}},
        {"checkpoint": "broker 2 has cut"},
    )


JOIN_REQUESTED = document(
    "join-requested",
    1,
    {"produce": {"records": ["m0"]}},
    {"kill": 3},
    {"await_isr": [1, 2]},
    {"hold": {"name": "wish", "point": "alter_partition_request", "broker": 1}},
    {"start": 3},
    {"await_hold": "wish"},
    {"await_isr": [1, 2]},
    {"hold": {"name": "gap", "point": "fetch_request", "follower": 3, "leader": 1, "fetch_offset": 1}},
    {"await_hold": "gap"},
    {"produce": {"records": ["m1"], "expect": "pending"}},
    {"checkpoint": "the leader waits for broker 3, the controller does not"},
    {"release": "wish"},
    {"await_isr": [1, 2, 3]},
    {"release": "gap"},
    {"await_outcome": {"records": ["m1"], "expect": "acknowledged"}},
    {"checkpoint": "the end"},
)
JOIN_ANSWERED = document(
    "join-answered",
    3,
    {"kill": 3},
    {"await_isr": [1, 2]},
    {"hold": {"name": "answer", "point": "alter_partition_response", "broker": 1}},
    {"start": 3},
    {"await_hold": "answer"},
    {"await_isr": [1, 2, 3]},
    {"produce": {"records": ["m0"], "expect": "refused", "error": "NOT_ENOUGH_REPLICAS"}},
    {"release": "answer"},
    {"produce": {"records": ["m1"]}},
    {"checkpoint": "the end"},
)


def check(document: dict[str, Any], running: Pipeline, promise: PromiseKept) -> None:
    schedule = decode(document)
    verdict = running.run(Scenario(schedule.id, schedule, schedule.requirement)).verdict
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, promise), verdict.findings


@pytest.mark.parametrize(("version", "point"), [("2.8.2", "leader_and_isr"), ("4.3.1", "controller_fetch_response")])
def test_a_leader_that_does_not_hear_of_its_successor(
    version: str, point: str, releases: Releases, tmp_path: Path
) -> None:
    check(zombie_leader(point), releases.pipeline(version, tmp_path), PromiseKept.ALLOWED_BY_SETTINGS)


@pytest.mark.parametrize("version", ["2.8.2", "4.3.1"])
def test_a_join_that_the_controller_has_not_heard_of_counts_already(
    version: str, releases: Releases, tmp_path: Path
) -> None:
    check(JOIN_REQUESTED, releases.pipeline(version, tmp_path), PromiseKept.KEPT)


def test_a_join_whose_answer_is_held_is_not_obeyed(releases: Releases, tmp_path: Path) -> None:
    check(JOIN_ANSWERED, releases.pipeline("2.8.2", tmp_path), PromiseKept.KEPT)
