"""Every step reads as one sentence that names whom and what it concerns."""

from __future__ import annotations

import pytest
from hypothesis import given

from oracle.predicting.step_effects import strokes
from oracle.schedule_format import decode_step
from oracle.steps.frames import name_of_delay
from oracle.steps.step import STEP_CLASSES, Step
from oracle.vocabulary import MetadataMode
from tests.conformance.example_steps import STEPS, Unknown

LINK = {"follower": 2, "leader": 1}
SENTENCES: list[tuple[dict[str, object], str, str]] = [
    ({"produce": {"records": ["m0"]}}, "produce m0 with acks=all; the producer must see it acknowledged", "produce m0"),
    (
        {"produce": {"records": ["m0", "m1"], "acks": 0, "expect": "any"}},
        "produce m0, m1 with acks=0; any outcome will do",
        "produce m0, m1",
    ),
    (
        {"produce": {"records": ["m0"], "acks": 1, "expect": "refused", "error": "NOT_ENOUGH_REPLICAS"}},
        "produce m0 with acks=1; the producer must see it refused with NOT_ENOUGH_REPLICAS",
        "produce m0",
    ),
    (
        {"produce": {"records": ["z0"], "acks": 1, "leader": 2}},
        "produce z0 to broker 2 with acks=1; the producer must see it acknowledged",
        "produce z0 to 2",
    ),
    (
        {"produce": {"records": ["m0"], "acks": 1, "expect": "pending"}},
        "produce m0 with acks=1 and do not wait for the outcome",
        "produce m0",
    ),
    ({"await_outcome": {"records": ["m0", "m1"]}}, "wait for the outcome of m0, m1", "await m0, m1"),
    (
        {"await_outcome": {"records": ["m0"], "expect": "indeterminate", "error": "REQUEST_TIMED_OUT"}},
        "wait for the outcome of m0, which must be indeterminate with REQUEST_TIMED_OUT",
        "await m0",
    ),
    (
        {"hold": {"name": "gap", "point": "fetch_response", **LINK, "fetch_offset": 2}},
        "arm the hold 'gap': freeze the next FETCH(2) response between follower 2 and leader 1",
        "hold gap",
    ),
    (
        {"hold": {"name": "ask", "point": "offsets_for_leader_epoch_request", **LINK, "nth": 4}},
        "arm the hold 'ask': freeze the 4th next OffsetsForLeaderEpoch request between follower 2 and leader 1",
        "hold ask",
    ),
    (
        {"delay": {"point": "fetch_request", **LINK, "delay_ms": 300}},
        "delay the next FETCH request between follower 2 and leader 1 by 300 ms",
        "delay 300 ms",
    ),
    (
        {"hold": {"name": "deaf", "point": "leader_and_isr", "broker": 2}},
        "arm the hold 'deaf': freeze the next LeaderAndIsr between broker 2 and the controller",
        "hold deaf",
    ),
    (
        {"hold": {"name": "news", "point": "controller_fetch_response", "broker": 2}},
        "arm the hold 'news': freeze the next metadata FETCH response between broker 2 and the controller",
        "hold news",
    ),
    ({"await_hold": "gap"}, "wait until the hold 'gap' has caught its frame", "await gap"),
    ({"release": "gap"}, "release the frame held by 'gap', unchanged", "release gap"),
    ({"drop": "gap"}, "throw away the frame held by 'gap'", "drop gap"),
    ({"close": "gap"}, "throw away the frame held by 'gap' and abort its connection", "close gap"),
    ({"kill": 2}, "kill broker 2 (kill -9)", "kill 2"),
    ({"kill_together": [1, 2]}, "kill brokers 1 and 2 at once (kill -9)", "kill 1, 2"),
    ({"stop": 2}, "stop broker 2 gracefully", "stop 2"),
    ({"start": 2}, "start broker 2 again with the same files", "start 2"),
    ({"pause": 2}, "pause broker 2 (SIGSTOP): it neither fetches, serves nor hears", "pause 2"),
    ({"resume": 2}, "let broker 2 go on (SIGCONT)", "resume 2"),
    ({"cut": {"from": 2, "to": 1}}, "cut the link by which broker 2 fetches from broker 1", "cut 2 from 1"),
    ({"heal": {"from": 2, "to": 1}}, "heal the link by which broker 2 fetches from broker 1", "heal 2 to 1"),
    ({"isolate": 2}, "cut broker 2 off from all other nodes; clients still reach it", "isolate 2"),
    ({"rejoin": 2}, "let the links of broker 2 work again", "rejoin 2"),
    (
        {"elect": "preferred"},
        "ask the controller for the preferred leader election: the first assigned replica",
        "elect preferred",
    ),
    ({"reassign": [3, 1]}, "move the partition to brokers 3 and 1", "reassign to 3, 1"),
    ({"alter": {"min.insync.replicas": 1}}, "set min.insync.replicas to 1", "set min.insync.replicas to 1"),
    (
        {"alter": {"min.insync.replicas": 2, "unclean.leader.election.enable": False}},
        "set min.insync.replicas to 2 and unclean.leader.election.enable to false",
        "set min.insync.replicas to 2 and unclean.leader.election.enable to false",
    ),
    ({"delete_records": 2}, "delete the records before offset 2", "delete before 2"),
    ({"add_partitions": 3}, "give the topic 3 partitions; the new ones stay empty", "3 partitions"),
    ({"create_topic": "b"}, "create another topic, b", "create b"),
    ({"delete_topic": "b"}, "delete the other topic, b", "delete b"),
    ({"await_leader": 2}, "wait until broker 2 leads", "await leader 2"),
    ({"await_leader": "none"}, "wait until the partition has no leader", "await leader none"),
    ({"await_isr": [1, 2]}, "wait until the in-sync replicas are 1, 2", "await ISR 1, 2"),
    ({"await_lag": [2, 3]}, "let the lag time pass without a fetch of brokers 2 and 3", "lag of 2, 3"),
    ({"await_lag": [2]}, "let the lag time pass without a fetch of broker 2", "lag of 2"),
    ({"await_lag": []}, "let the lag time pass while everybody fetches", "lag of none"),
    (
        {"lose_tail": {"broker": 1, "offset": 2}},
        "the disk of broker 1 forgets offset 2 and beyond",
        "lose 2 on, broker 1",
    ),
    ({"lose_checkpoint": 1}, "the disk of broker 1 forgets the high watermark", "lose HW, broker 1"),
    ({"checkpoint": "end"}, "checkpoint: end", "checkpoint"),
    ({"consume": {}}, "consume from the leader from offset 0 on", "consume leader"),
    (
        {"consume": {"broker": 2, "offset": 1, "version": 11}},
        "consume from broker 2 from offset 1 on, in Fetch 11",
        "consume 2",
    ),
    ({"list_offsets": {"spec": "latest", "broker": 2}}, "ask broker 2 for the latest offset", "latest offset?"),
    (
        {"list_offsets": {"spec": "timestamp", "timestamp_of": "m0", "version": 1}},
        "ask the leader for the first offset not older than m0, in ListOffsets 1",
        "timestamp offset?",
    ),
    (
        {"end_offset_of_epoch": {"leadership": 0, "current": 1, "version": 2}},
        (
            "ask the leader where the epoch of leadership 0 ends, claiming that leadership 1 is the current one, "
            "in OffsetsForLeaderEpoch 2"
        ),
        "end of epoch 0?",
    ),
    ({"send_to": {"record": "m0", "broker": 2, "acks": 7}}, "send m0 to broker 2 with acks=7", "m0 to 2"),
]


@pytest.mark.parametrize(("written", "sentence", "short"), SENTENCES)
def test_a_step_reads_as_a_sentence_and_in_short(written: dict[str, object], sentence: str, short: str) -> None:
    step = decode_step(0, written)

    assert (step.sentence(), step.short()) == (sentence, short)


def test_every_kind_of_step_is_tried() -> None:
    assert {next(iter(written)) for written, *_ in SENTENCES} == set(STEP_CLASSES)


@given(STEPS)
def test_any_step_can_be_said(step: Step) -> None:
    assert step.sentence().strip()
    assert step.short().strip()


@pytest.mark.parametrize("written", [written for written, *_ in SENTENCES])
def test_the_model_takes_every_step(written: dict[str, object]) -> None:
    assert strokes(decode_step(0, written))


def test_a_step_that_the_model_was_not_taught_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="the model does not take 'explode'"):
        strokes(Unknown())


ON_LINKS = {MetadataMode.ZOOKEEPER: 1, MetadataMode.KRAFT: 2}
"""An isolated broker is also cut off from a KRaft controller, which is another process."""
LEFT: list[tuple[dict[str, object], tuple[str | None, ...], dict[MetadataMode, int]]] = [
    ({"kill": [1, 2]}, ("1", "2"), dict.fromkeys(MetadataMode, 1)),
    ({"kill": 1}, ("1",), dict.fromkeys(MetadataMode, 1)),
    ({"isolate": 2}, ("2",), ON_LINKS),
    ({"start": 2}, ("2",), dict.fromkeys(MetadataMode, 0)),
    ({"produce": {"records": ["m0", "m1"]}}, ("m0", "m1"), dict.fromkeys(MetadataMode, 0)),
    ({"alter": {"min.insync.replicas": 2}}, (None,), dict.fromkeys(MetadataMode, 0)),
    ({"add_partitions": 2}, (None,), dict.fromkeys(MetadataMode, 0)),
]


@pytest.mark.parametrize(("document", "whom", "faults"), LEFT, ids=lambda value: str(value) if value else None)
def test_a_step_says_of_whom_its_events_are_and_how_many_faults_it_injects(
    document: dict[str, object], whom: tuple[str | None, ...], faults: dict[MetadataMode, int]
) -> None:
    step = decode_step("step", document)

    assert step.left_for() == whom
    assert {mode: step.faults(mode) for mode in MetadataMode} == faults


def test_what_an_alter_is_about_are_its_settings() -> None:
    step = decode_step("step", {"alter": {"min.insync.replicas": 2, "unclean.leader.election.enable": True}})

    assert step.subject() == "min.insync.replicas to 2 and unclean.leader.election.enable to true"


def test_the_frame_of_a_delay_has_a_name_that_no_hold_may_have() -> None:
    assert name_of_delay(3) == "delay 3"
