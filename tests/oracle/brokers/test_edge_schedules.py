"""Does each written schedule visit the edges that it is written for, and do all of them together visit every edge?"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from oracle.brokers.edge_schedule import MOVES_MAX, PRODUCE_TIMEOUT_MS, claims, cover_schedules, shortest_schedule
from oracle.brokers.shrinking import is_determined
from oracle.brokers.visited import require_visits
from oracle.predict import predict
from oracle.schedule_format import decode, encode
from oracle.steps.frames import AwaitHold, Hold
from oracle.steps.produce import Produce
from oracle.steps.waits import Checkpoint
from tests.oracle.brokers.held import KRAFT, LINES, edge_along, held, written
from tests.oracle.differential.comparison import first_difference, said_by_interpreter, said_by_oracle
from tests.oracle.differential.releases import facts_of
from tests.project.documents import ROOT

if TYPE_CHECKING:
    from oracle.brokers.edge_schedule import CoverSchedule
    from oracle.vocabulary import MetadataMode

SENT, ANSWERED = "m0 is sent with acks=all", "the answer reaches broker 2"
REQUESTED = "the request of broker 2 reaches its leader"
BACK = ("broker 2 is killed", "broker 2 starts")
OTHER_PROCESS = """
from oracle.schedule_format import encode
from tests.oracle.brokers.held import KRAFT, written
print([encode(one.schedule) for one in written("4.4.0", KRAFT)])
"""
SCHEDULES = {"0.10.2.2": 317, "2.8.2": 317, "3.9.2": 283, "4.4.0": 301}


def checkpoints(one: CoverSchedule) -> list[str]:
    return [step.name for step in one.schedule.steps if isinstance(step, Checkpoint)]


def shortest(*path: str) -> CoverSchedule:
    graph = held("2.8.2")
    found = shortest_schedule(graph, edge_along(graph.edges, *path).id)
    assert found is not None
    return found


@pytest.mark.parametrize(("version", "metadata"), LINES)
def test_so_many_schedules_claim_every_edge_that_can_be_held(version: str, metadata: MetadataMode) -> None:
    schedules, graph = written(version, metadata), held(version, metadata)
    assert len(schedules) == SCHEDULES[version]
    assert {edge for one in schedules for edge in one.edges} == set(graph.arcs_by_edge())
    assert all(claims(one.schedule) == one.edges for one in schedules)
    assert len({one.schedule.id for one in schedules}) == len(schedules)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("version", "metadata"),
    [pytest.param(*line, marks=[] if line[0] in {"2.8.2", "4.4.0"} else pytest.mark.slow) for line in LINES],
)
def test_each_schedule_holds_what_it_claims_and_is_predicted_without_a_race(
    version: str, metadata: MetadataMode
) -> None:
    graph = held(version, metadata).edges
    for one in written(version, metadata):
        held_ids = [visit.edge.id for visit in require_visits(one.schedule, graph) if visit.is_held]
        assert held_ids[: len(one.edges)] == list(one.edges)
        assert is_determined(predict(one.schedule, graph.model.rules))


def test_a_schedule_probes_before_and_after_every_move_and_awaits_every_hold() -> None:
    one = shortest(*BACK, SENT)
    words = [name.split(": ")[-1] for name in checkpoints(one)]
    assert words == ["0. as created", *BACK, SENT, "end"]
    holds = [step.name for step in one.schedule.steps if isinstance(step, Hold)]
    assert holds == [step.name for step in one.schedule.steps if isinstance(step, AwaitHold)]
    assert one.schedule.id == f"coverage/2.8.2-zookeeper/{one.edges[-1]}"
    assert one.schedule.requirement.endswith(f"{SENT}.")


def test_a_producer_waits_as_long_as_its_record_is_held() -> None:
    (produce,) = [step for step in shortest(*BACK, SENT).schedule.steps if isinstance(step, Produce)]
    assert produce.timeout_ms == PRODUCE_TIMEOUT_MS


def test_a_move_that_holds_no_edge_is_not_claimed() -> None:
    graph = held("2.8.2")
    by_detour = [one for one in written("2.8.2") if any("is caught" in name for name in checkpoints(one))]
    assert by_detour
    assert all(len(one.edges) < len(checkpoints(one)) - 2 for one in by_detour)
    assert all(edge not in graph.why_not for one in by_detour for edge in one.edges)


def test_what_is_done_needs_no_schedule() -> None:
    graph = held("4.4.0", KRAFT)
    last = edge_along(graph.edges, *BACK).id
    (one,) = cover_schedules(graph, done=set(graph.arcs_by_edge()) - {last})
    assert one.edges[-1] == last
    assert list(cover_schedules(graph, done=graph.arcs_by_edge())) == []


def test_a_schedule_has_so_many_moves_at_most_unless_its_edge_is_farther() -> None:
    graph = held("4.4.0", KRAFT)
    longer = [one for one in written("4.4.0", KRAFT) if len(checkpoints(one)) - 2 > MOVES_MAX]
    assert longer
    for one in longer:
        far = shortest_schedule(graph, one.edges[-1])
        assert far is not None
        assert len(checkpoints(far)) == len(checkpoints(one))


def test_an_edge_that_no_schedule_holds_has_none() -> None:
    graph = held("2.8.2")
    assert shortest_schedule(graph, edge_along(graph.edges, SENT).id) is None


def test_every_process_writes_the_same_schedules() -> None:
    command, environment = [sys.executable, "-c", OTHER_PROCESS], {"PYTHONHASHSEED": "12345", "PYTHONPATH": str(ROOT)}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert told.strip() == str([encode(one.schedule) for one in written("4.4.0", KRAFT)])


@pytest.mark.parametrize(("version", "metadata"), LINES)
def test_a_written_schedule_is_read_as_it_was(version: str, metadata: MetadataMode) -> None:
    graph = held(version, metadata)
    for edge in list(graph.arcs_by_edge())[::100]:
        one = shortest_schedule(graph, edge)
        assert one is not None
        assert decode(encode(one.schedule)) == one.schedule


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize(("version", "metadata"), LINES)
def test_the_second_interpreter_says_the_same_of_every_schedule(version: str, metadata: MetadataMode) -> None:
    rules = held(version, metadata).edges.model.rules
    has_elr = rules.election.rule.name == "eligible-leader-replicas"
    facts = facts_of(version, metadata.value, eligible_leader_replicas=has_elr)
    for one in written(version, metadata):
        said = said_by_oracle(one.schedule, rules)
        assert said is not None
        assert first_difference(said, said_by_interpreter(one.schedule, facts)) is None, one.schedule.id
