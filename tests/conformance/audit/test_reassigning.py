"""Does a mend that moves replicas say where to, leave in place what is well, and spread over racks?"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

from conformance.audit.mends import PLACE
from conformance.audit.reassigning import placement, reassign
from tests.conformance.audit.made_clusters import audited, good, of_topic, partition, topic, with_topic

BROKERS = good().brokers


@pytest.mark.parametrize(
    ("replicas", "wanted", "placed"),
    [
        ((2,), 3, [2, 1, 3]),
        ((3, 1), 3, [3, 1, 2]),
        ((1, 2, 9), 3, [1, 2, 3]),
        ((1, 2, 3), 3, [1, 2, 3]),
        ((1,), 4, [1, 2, 3]),
    ],
)
def test_what_is_well_stays_and_what_is_missing_is_put_elsewhere(
    replicas: tuple[int, ...], wanted: int, placed: list[int]
) -> None:
    assert placement(partition(replicas), wanted, BROKERS) == placed


def test_replicas_in_one_rack_are_spread_by_one() -> None:
    brokers = tuple(replace(BROKERS[0], id=one, rack="near" if one < 4 else "far") for one in (1, 2, 3, 4, 5))
    assert placement(partition((3, 2, 1)), 3, brokers) == [3, 2, 4]
    assert placement(replace(partition((1, 2, 3)), number=4), 3, brokers) == [1, 2, 5]


def test_replicas_of_several_partitions_are_not_all_put_on_the_same_broker() -> None:
    added = [placement(replace(partition((1,)), number=number), 2, BROKERS)[1] for number in range(3)]
    assert set(added) == {2, 3}


def test_the_command_writes_the_file_that_it_reads() -> None:
    command = reassign(topic("orders", of_topic(), partition((2,)), replace(partition((1,)), number=1)), 3, BROKERS)
    assert command is not None
    echo, content, into, file, both, tool, *options = shlex.split(command)
    assert (echo, into, both, tool) == ("echo", ">", "&&", "kafka-reassign-partitions.sh")
    assert options == ["--bootstrap-server", PLACE, "--execute", "--reassignment-json-file", file]
    assert json.loads(content) == {
        "version": 1,
        "partitions": [
            {"topic": "orders", "partition": 0, "replicas": [2, 1, 3]},
            {"topic": "orders", "partition": 1, "replicas": [1, 2, 3]},
        ],
    }


def test_what_there_are_too_few_brokers_for_no_command_mends() -> None:
    cluster = with_topic(own=of_topic(1), parts=(partition((1,)),))()
    lonely = replace(cluster, brokers=cluster.brokers[:2])
    commands = [row.finding.command for row in audited(lonely).rows if row.finding.check == "replication-factor-1"]
    assert commands == [None]
