"""How long does an audit of many topics take, and how much memory? ``python -m benchmarks.audit_at_scale``.

Three brokers of a release, as child processes on this machine, with so many topics of ten partitions and three
replicas; the command is run as a user does, in a process of its own, and its peak memory is what the system says of it.
An audit that sees another number of topics or partitions than were created fails: its figures are of something else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka.admin import AdminClient, NewTopic
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from conformance.line import NEWEST, line_named
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import ask
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, jars_of
from fault_injection.waiting import NotYetError, until

if TYPE_CHECKING:
    from collections.abc import Mapping

AT_ONCE, PARTITIONS, REPLICAS = 20, 10, 3
KNOWN_S, METADATA_VERSION = 400.0, 1
SETTINGS = ({"min.insync.replicas": "2"}, {"min.insync.replicas": "1"}, {"unclean.leader.election.enable": "true"})


def main() -> None:
    """Create the topics, audit them some times, and print the seconds and the memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kafka", default=NEWEST, metavar="V")
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    line = line_named(asked.kafka)
    controller = 100 if line.metadata is MetadataMode.KRAFT else None
    spec = ClusterSpec(line.release, line.metadata, controller_id=controller, overrides={"min.insync.replicas": "2"})
    with (
        tempfile.TemporaryDirectory() as directory,
        closing(ProcessBackend()) as backend,
        Cluster.start(spec, jars_of(line.release), backend, DirectRelay(), Path(directory)) as cluster,
    ):
        _create(cluster.bootstrap, asked.topics)
        _await_known(cluster, asked.topics)
        for _ in range(asked.rounds):
            print(_audited(cluster.bootstrap, asked.topics))  # noqa: T201


def _create(bootstrap: str, topics: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for at in range(0, topics, AT_ONCE):
        wanted = [
            NewTopic(f"topic-{number}", PARTITIONS, REPLICAS, config=SETTINGS[number % len(SETTINGS)])
            for number in range(at, min(at + AT_ONCE, topics))
        ]
        for created in admin.create_topics(wanted, request_timeout=120).values():
            created.result()


def _await_known(cluster: Cluster, topics: int) -> None:
    """Wait until every broker knows every topic: a controller creates them sooner than a broker makes their logs."""
    for address in cluster.bootstrap.split(","):

        def knows_all(address: str = address) -> bool:
            answer = ask(address, MetadataRequest[METADATA_VERSION](topics=None), MetadataResponse, KNOWN_S)
            if len(answer.topics) < topics:
                raise NotYetError(f"{len(answer.topics)} of {topics} topics")
            return True

        until(knows_all, deadline_s=KNOWN_S, what=f"{address} knows every topic", interval_s=1)


def _audited(bootstrap: str, topics: int) -> str:
    command = [sys.executable, "-m", "conformance", "audit", "--bootstrap-server", bootstrap, "--json"]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        answer = json.loads(process.stdout.read() if process.stdout else "")
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    check_whole(answer, topics)
    told = f"{answer['topics']} topics, {answer['partitions']} partitions, {len(answer['findings'])} rows"
    return f"{told}: {time.monotonic() - began:.1f} s, {used.ru_maxrss / 1024:.0f} MB"


def check_whole(answer: Mapping[str, Any], topics: int) -> None:
    """Make sure that an audit saw what was created.

    Raises:
        SystemExit: it did not.
    """
    seen, created = (answer["topics"], answer["partitions"]), (topics, topics * PARTITIONS)
    if seen != created:
        raise SystemExit(
            f"{seen[0]} topics with {seen[1]} partitions were seen; {created[0]} with {created[1]} are there"
        )


if __name__ == "__main__":
    main()
