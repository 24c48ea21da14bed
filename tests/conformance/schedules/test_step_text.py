"""Every step reads as one sentence that names whom and what it concerns."""

from __future__ import annotations

import pytest
from hypothesis import given

from conformance.schedules.schedule_format import decode_step
from conformance.schedules.step_text import describe
from oracle.steps import STEP_NAMES, Step
from tests.conformance.example_steps import STEPS

LINK = {"follower": 2, "leader": 1}
SENTENCES: list[tuple[dict[str, object], str]] = [
    ({"produce": {"records": ["m0"]}}, "produce m0 with acks=all, expected acknowledged"),
    ({"produce": {"records": ["m0", "m1"], "acks": 0, "expect": "any"}}, "produce m0, m1 with acks=0"),
    (
        {"produce": {"records": ["m0"], "acks": 1, "expect": "refused", "error": "NOT_ENOUGH_REPLICAS"}},
        "produce m0 with acks=1, expected refused (NOT_ENOUGH_REPLICAS)",
    ),
    (
        {"produce": {"records": ["z0"], "acks": 1, "leader": 2}},
        "produce z0 to broker 2 with acks=1, expected acknowledged",
    ),
    ({"await_outcome": {"records": ["m0", "m1"]}}, "collect the outcome of m0, m1"),
    (
        {"await_outcome": {"records": ["m0"], "expect": "indeterminate", "error": "REQUEST_TIMED_OUT"}},
        "collect the outcome of m0, expected indeterminate (REQUEST_TIMED_OUT)",
    ),
    (
        {"hold": {"name": "gap", "point": "fetch_response", **LINK, "fetch_offset": 2}},
        "hold the next FETCH response of broker 2 at leader 1 at fetch offset 2 as 'gap'",
    ),
    (
        {"hold": {"name": "ask", "point": "offsets_for_leader_epoch_request", **LINK, "nth": 4}},
        "hold the next OffsetsForLeaderEpoch request of broker 2 at leader 1 (the 4th) as 'ask'",
    ),
    (
        {"delay": {"point": "fetch_request", **LINK, "delay_ms": 300}},
        "delay the next FETCH request of broker 2 at leader 1 by 300 ms",
    ),
    (
        {"hold": {"name": "deaf", "point": "leader_and_isr", "broker": 2}},
        "hold the next leader and isr between broker 2 and the controller as 'deaf'",
    ),
    ({"await_hold": "gap"}, "wait until 'gap' has caught its frame"),
    ({"release": "gap"}, "release 'gap'"),
    ({"drop": "gap"}, "drop 'gap'"),
    ({"close": "gap"}, "close the connection of 'gap'"),
    ({"kill": 2}, "kill broker 2 (kill -9)"),
    ({"kill_together": [1, 2]}, "kill broker 1, broker 2 at once (kill -9)"),
    ({"stop": 2}, "stop broker 2 gracefully"),
    ({"start": 2}, "start broker 2"),
    ({"pause": 2}, "pause broker 2 (SIGSTOP)"),
    ({"resume": 2}, "resume broker 2"),
    ({"cut": {"from": 2, "to": 1}}, "cut the link by which broker 2 fetches from broker 1"),
    ({"heal": {"from": 2, "to": 1}}, "heal the link by which broker 2 fetches from broker 1"),
    ({"isolate": 2}, "cut broker 2 off from all other nodes"),
    ({"rejoin": 2}, "let broker 2 rejoin"),
    ({"elect": "preferred"}, "ask for the preferred leader election"),
    ({"reassign": [3, 1]}, "move the partition to broker 3, broker 1"),
    ({"alter": {"min.insync.replicas": 1}}, "set min.insync.replicas to 1"),
    (
        {"alter": {"min.insync.replicas": 2, "unclean.leader.election.enable": False}},
        "set min.insync.replicas to 2 and unclean.leader.election.enable to false",
    ),
    ({"delete_records": 2}, "delete the records before offset 2"),
    ({"add_partitions": 3}, "give the topic 3 partitions"),
    ({"create_topic": "b"}, "create another topic 'b'"),
    ({"delete_topic": "b"}, "delete the other topic 'b'"),
    ({"await_leader": 2}, "wait until broker 2 leads"),
    ({"await_leader": "none"}, "wait until there is no leader"),
    ({"await_isr": [1, 2]}, "wait until the ISR is {1, 2}"),
    ({"await_lag": [2, 3]}, "let the lag time pass without fetches of broker 2, broker 3"),
    ({"await_lag": []}, "let the lag time pass without fetches of nobody"),
    ({"lose_tail": {"broker": 1, "offset": 2}}, "lose the log of broker 1 from offset 2 on"),
    ({"lose_checkpoint": 1}, "lose the high watermark checkpoint of broker 1"),
    ({"checkpoint": "end"}, "checkpoint: end"),
    ({"consume": {}}, "consume from the leader from offset 0 on"),
    ({"consume": {"broker": 2, "offset": 1, "version": 11}}, "consume from broker 2 from offset 1 on (Fetch 11)"),
    ({"list_offsets": {"spec": "latest", "broker": 2}}, "ask broker 2 for the latest offset"),
    (
        {"list_offsets": {"spec": "timestamp", "timestamp_of": "m0", "version": 1}},
        "ask the leader for the first offset not older than m0 (ListOffsets 1)",
    ),
    (
        {"end_offset_of_epoch": {"leadership": 0, "current": 1, "version": 2}},
        "ask the leader where the epoch of leadership 0 ends, claiming leadership 1 (OffsetsForLeaderEpoch 2)",
    ),
    ({"send_to": {"record": "m0", "broker": 2, "acks": 7}}, "send m0 to broker 2 with acks=7"),
]


@pytest.mark.parametrize(("written", "sentence"), SENTENCES)
def test_a_step_reads_as_a_sentence(written: dict[str, object], sentence: str) -> None:
    assert describe(decode_step(0, written)) == sentence


def test_every_kind_of_step_is_tried() -> None:
    assert {next(iter(written)) for written, _ in SENTENCES} == set(STEP_NAMES)


@given(STEPS)
def test_any_step_can_be_said(step: Step) -> None:
    assert describe(step).strip()
