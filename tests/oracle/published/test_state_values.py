"""Can a person read a state, and a program? Shown on counterexamples."""

from __future__ import annotations

import json

from oracle.explorer.search import explore
from oracle.published.catalogue import subject
from tests.oracle.published.searching import constants_of


def test_a_replication_counterexample_is_told() -> None:
    told = subject("Kip101", constants_of("2/2/2/2"))
    path = explore(told.model, told.invariants).path

    assert [*told.lines(path[0].state)] == [
        "quorum    leader -  epoch -  ISR {1, 2}",
        "broker 1  HW 0  LEO 0  epoch -  leader -  ISR {}          log empty",
        "broker 2  HW 0  LEO 0  epoch -  leader -  ISR {}          log empty",
    ]
    assert [str(step.label) for step in path[-3:]] == [
        "BecomeLeader (broker 2)",
        "LeaderWrite (broker 2)",
        "BecomeFollower (broker 2, leader 1)",
    ]
    assert [*told.lines(path[-1].state)] == [
        "quorum    leader 1  epoch 2  ISR {1, 2}",
        "broker 1  HW 1  LEO 1  epoch 0  leads     ISR {1, 2}      log m0/0",
        "broker 2  HW 0  LEO 0  epoch 2  leader 1  ISR {1, 2}      log empty",
    ]


def test_a_replication_state_has_values() -> None:
    told = subject("Kip101", constants_of("2/2/2/2"))
    path = explore(told.model, told.invariants).path

    value = json.loads(json.dumps(told.value(path[-1].state)))
    assert value["quorum"] == {"leader": 1, "leader_epoch": 2, "isr": [1, 2]}
    assert value["requests"][1] == {"leader": 2, "leader_epoch": 1, "isr": [1, 2]}
    assert value["next_record"] == 2
    assert value["replicas"][0] == {
        "broker": 1,
        "high_watermark": 1,
        "log_end_offset": 1,
        "leader_epoch": 0,
        "leader": 1,
        "isr": [1, 2],
        "log": [{"label": "m0", "leader_epoch": 0}],
    }
    assert told.value(path[0].state)["requests"] == [None, None, None]  # type: ignore[index]


def test_an_async_isr_counterexample_is_told() -> None:
    told = subject("AsyncIsr/without-maximal-isr", constants_of("2/2/1/2"))
    path = explore(told.model, told.invariants).path

    assert [*told.lines(path[0].state)] == [
        "controller  version 0  ISR {1, 2}",
        "leader      version 0  ISR {1, 2}  nothing pending",
        "LEO by broker  0 0",
        "requests    none",
    ]
    assert [*told.lines(path[-1].state)] == [
        "controller  version 2  ISR {1, 2}",
        "leader      version 1  ISR {1}  pending ISR {1, 2}",
        "LEO by broker  1 0",
        "requests    ISR {1, 2} at version 1",
    ]
    assert told.value(path[-1].state) == {
        "controller": {"isr": [1, 2], "version": 2},
        "leader": {"isr": [1], "version": 1, "pending_isr": [1, 2], "pending_version": 1},
        "requests": [{"isr": [1, 2], "version": 1}],
        "log_end_offsets": [1, 0],
    }
