"""Do real brokers that restart from a lossy disk do what the model says, in every way it can end?

The last replica standing (KIP-966): whoever left the ISR last is down with its tail lost. Without eligible leader
replicas it is elected again, and acknowledged records are gone; with them the partition waits for one that has all.
The lost checkpoint: a follower's high watermark begins at 0, and 0.10.2 cuts its log to that.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from conformance import laboratory, pipeline
from conformance.catalogue.scenario import Scenario
from conformance.record.verdict import Conformance, PromiseKept
from fault_injection.cluster.spec import ClusterSpec
from oracle.rules.by_version import rules_for
from oracle.schedule_format import decode
from tests.conformance.example_steps import FOLLOWER_AHEAD

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.pipeline import Pipeline
    from tests.integration.real_runs import Releases

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(300)]
LOST, KEPT = PromiseKept.BROKEN_AS_PREDICTED, PromiseKept.KEPT
ACKNOWLEDGED = {"acks": "all", "expect": "acknowledged"}
LAST_REPLICA: dict[str, Any] = {
    "id": "lossy/last-replica-standing",
    "requirement": "A partition waits for a replica that still has every committed record.",
    "replicas": [1, 2, 3],
    "settings": {"min.insync.replicas": 2, "unclean.leader.election.enable": False},
    "steps": [
        {"produce": {"records": ["m0", "m1", "m2"], **ACKNOWLEDGED}},
        {"stop": 3},
        {"await_isr": [1, 2]},
        {"stop": 2},
        {"await_isr": [1]},
        {"kill": 1},
        {"lose_tail": {"broker": 1, "offset": 1}},
        {"checkpoint": "broker 1 has lost m1 and m2"},
        {"start": 1},
        {"checkpoint": "broker 1 is back"},
        {"start": 2},
        {"start": 3},
        {"await_isr": [1, 2, 3]},
        {"checkpoint": "the end"},
    ],
}
NO_LONGER_ELIGIBLE: dict[str, Any] = {
    "id": "lossy/eligible-replica-lost-its-tail",
    "requirement": "An eligible replica that lost its tail is not eligible any more, however orderly it shut down.",
    "replicas": [1, 2, 3],
    "settings": {"min.insync.replicas": 2, "unclean.leader.election.enable": False},
    "steps": [
        {"produce": {"records": ["m0", "m1", "m2"], **ACKNOWLEDGED}},
        {"stop": 3},
        {"await_isr": [1, 2]},
        {"stop": 2},
        {"await_isr": [1]},
        {"lose_tail": {"broker": 2, "offset": 1}},
        {"kill": 1},
        {"start": 2},
        {"await_leader": "none"},
        {"checkpoint": "broker 2 is back and does not lead"},
        {"start": 1},
        {"start": 3},
        {"await_isr": [1, 2, 3]},
        {"checkpoint": "the end"},
    ],
}
LOST_CHECKPOINT: dict[str, Any] = {
    "id": "lossy/lost-checkpoint",
    "requirement": "A follower without a high watermark checkpoint keeps every record its leader had committed.",
    "replicas": [1, 2],
    "settings": {"min.insync.replicas": 1, "unclean.leader.election.enable": True},
    "steps": [
        {"produce": {"records": ["m0", "m1"], **ACKNOWLEDGED}},
        {"kill": 2},
        {"await_isr": [1]},
        {"lose_checkpoint": 2},
        {"checkpoint": "broker 2 has lost its checkpoint"},
        {"hold": {"name": "refetch", "point": "fetch_request", "follower": 2, "leader": 1}},
        {"start": 2},
        {"await_hold": "refetch"},
        {"checkpoint": "broker 2 is back and has not fetched"},
        {"kill": 1},
        {"await_leader": 2},
        {"produce": {"records": ["m2"], **ACKNOWLEDGED}},
        {"start": 1},
        {"await_isr": [1, 2]},
        {"checkpoint": "the end"},
    ],
}


AHEAD_OF_LEADER: dict[str, Any] = {
    "id": "lossy/follower-ahead-of-its-leader",
    "requirement": "A broker that does not go on is told from one that does, even if its process stays.",
    "replicas": [1, 2],
    "settings": {"min.insync.replicas": 1, "unclean.leader.election.enable": False},
    "steps": [*FOLLOWER_AHEAD, {"checkpoint": "broker 1 leads without records"}],
}


def check(document: dict[str, Any], running: Pipeline, promise: PromiseKept, *lost: str) -> None:
    schedule = decode(document)
    verdict = running.run(Scenario(schedule.id, schedule, schedule.requirement)).verdict
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, promise), verdict.findings
    assert tuple(loss.label for loss in verdict.losses) == lost


@pytest.mark.parametrize(("version", "promise", "lost"), [("3.9.2", LOST, ("m1", "m2")), ("4.3.1", KEPT, ())])
def test_the_last_replica_standing(
    version: str, promise: PromiseKept, lost: tuple[str, ...], releases: Releases, tmp_path: Path
) -> None:
    check(LAST_REPLICA, releases.pipeline(version, tmp_path), promise, *lost)


def test_the_last_replica_standing_without_eligible_leader_replicas(
    monkeypatch: pytest.MonkeyPatch, releases: Releases, tmp_path: Path
) -> None:
    features = {"eligible.leader.replicas.version": 0}
    monkeypatch.setattr(laboratory, "ClusterSpec", partial(ClusterSpec, features=features))
    monkeypatch.setattr(pipeline, "rules_for", partial(rules_for, eligible_leader_replicas=False))
    check(LAST_REPLICA, releases.pipeline("4.3.1", tmp_path), LOST, "m1", "m2")


def test_an_eligible_replica_that_lost_its_tail_does_not_lead(releases: Releases, tmp_path: Path) -> None:
    check(NO_LONGER_ELIGIBLE, releases.pipeline("4.3.1", tmp_path), KEPT)


@pytest.mark.parametrize(("version", "promise", "lost"), [("0.10.2.2", LOST, ("m0", "m1")), ("4.3.1", KEPT, ())])
def test_a_lost_checkpoint(
    version: str, promise: PromiseKept, lost: tuple[str, ...], releases: Releases, tmp_path: Path
) -> None:
    check(LOST_CHECKPOINT, releases.pipeline(version, tmp_path), promise, *lost)


def test_a_broker_ahead_of_its_leader_hangs_in_its_end(releases: Releases, tmp_path: Path) -> None:
    """To 2.0.0 it ends itself, and on 0.10.2 its shutdown gets no further than the closed port (KAFKA-7414)."""
    check(AHEAD_OF_LEADER, releases.pipeline("0.10.2.2", tmp_path), LOST, "m0", "m1")
