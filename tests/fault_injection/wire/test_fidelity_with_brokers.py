"""Can brokers tell whether a gate that holds nothing stands between them?

The same small load on two clusters, one without a relay; asked are the brokers' own logs, with a line for every
request that they answered.
"""

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from fault_injection.cluster import launches
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import find_release, jars_of, schema_jar
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.cluster.topics import await_isr, create_topic, produce

pytestmark = pytest.mark.broker

RELEASE = find_release("4.3.1")
TOPIC, RECORDS = "same", 300
FETCH = 1
LOGGING = launches.logging_config
ANSWERED = re.compile(r"Completed request:(\{.*\}) \(kafka\.request\.logger\)")
LOUD = re.compile(r"^\[[^]]*\] (WARN|ERROR|FATAL) (.*)$", re.MULTILINE)
PROTOCOL = re.compile(
    r"InvalidRequest|InvalidReceive|UnsupportedVersion|SchemaException|EOF|Correlation|Corrupt|FETCH_SESSION|"
    r"Unexpected error|Error sending fetch request|Error in response|Error processing|Request timed out",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Heard:
    """What the brokers of one cluster wrote down.

    Attributes:
        versions: of each api, as brokers asked each other.
        sessions: of each follower and leader the fetch session epochs, in order.
        errors: lines about the protocol, without what differs from run to run.
    """

    versions: dict[int, set[int]]
    sessions: dict[tuple[str, int], list[int]]
    errors: set[str]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Heard, Heard, Path]:
    directory = tmp_path_factory.mktemp("fidelity")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launches, "logging_config", with_answered_requests)
        direct = run(None, directory / "direct")
        with GateProxy(schemas=schema_jar()) as proxy:
            proxy.trace_to(directory / "wire.ndjson")
            proxied = run(proxy, directory / "proxied")
            proxy.end_trace()
            assert (proxy.undecodable, proxy.failures) == (0, ())
    return direct, proxied, directory / "wire.ndjson"


def with_answered_requests(*arguments: object) -> str:
    text: str = LOGGING(*arguments)  # type: ignore[arg-type]
    quiet = "logger.requests.level=WARN"
    assert quiet in text
    return text.replace(quiet, "logger.requests.level=DEBUG")


def run(proxy: GateProxy | None, directory: Path) -> Heard:
    spec = ClusterSpec(RELEASE, RELEASE.default_metadata_mode, broker_ids=(1, 2))
    backend = ProcessBackend()
    try:
        with Cluster.start(spec, jars_of(RELEASE), backend, proxy or DirectRelay(), directory) as cluster:
            for topic in (TOPIC, "other"):
                create_topic(cluster, topic, [1, 2])
                await_isr(cluster, topic, {1, 2})
                produce(cluster, topic, *(b"m%d" % number for number in range(RECORDS)))
            return heard({broker: cluster.log_text(broker) for broker in (1, 2)})
    finally:
        backend.close()


def heard(logs: dict[int, str]) -> Heard:
    versions: dict[int, set[int]] = defaultdict(set)
    sessions: dict[tuple[str, int], list[int]] = defaultdict(list)
    errors = set()
    for broker, log in logs.items():
        for answered in map(json.loads, ANSWERED.findall(log)):
            header = answered["requestHeader"]
            if not header["clientId"].startswith(("broker-", "raft-")):
                continue
            versions[header["requestApiKey"]].add(header["requestApiVersion"])
            if header["requestApiKey"] == FETCH:
                sessions[header["clientId"], broker].append(answered["request"]["sessionEpoch"])
        lines = (re.sub(r"\d+", "N", text) for _, text in LOUD.findall(log))
        errors |= {line for line in lines if PROTOCOL.search(line)}
    return Heard(dict(versions), dict(sessions), errors)


def test_brokers_settle_on_the_same_versions(runs: tuple[Heard, Heard, Path]) -> None:
    direct, proxied, _ = runs
    assert FETCH in direct.versions
    assert proxied.versions.keys() >= {FETCH}
    common = direct.versions.keys() & proxied.versions.keys()
    assert {api: proxied.versions[api] for api in common} == {api: direct.versions[api] for api in common}


def test_followers_keep_incremental_sessions(runs: tuple[Heard, Heard, Path]) -> None:
    for sessions in (runs[0].sessions, runs[1].sessions):
        *earlier, last = in_sessions(sessions["broker-2-fetcher-0", 1])
        assert len(last) >= 3
        assert all(len(epochs) <= 2 for epochs in earlier)  # a follower that was faster than its new leader
        assert all(epochs == list(range(len(epochs))) for epochs in (*earlier, last))
    assert runs[0].sessions.keys() == runs[1].sessions.keys()


def in_sessions(epochs: list[int]) -> list[list[int]]:
    """Split fetch session epochs where a new session begins."""
    begins = [index for index, epoch in enumerate(epochs) if epoch == 0]
    return [epochs[begin:end] for begin, end in zip(begins, [*begins[1:], len(epochs)], strict=True)]


def test_the_trace_shows_a_full_fetch_and_then_incremental_ones(runs: tuple[Heard, Heard, Path]) -> None:
    lines = [json.loads(line) for line in runs[2].read_text().splitlines()]
    fetches = [
        line for line in lines if (line.get("api"), line.get("source"), line.get("destination")) == ("Fetch", 2, 1)
    ]
    asked = [line["decoded"] for line in fetches if line["direction"] == "request"]
    given = [line["decoded"] for line in fetches if line["direction"] == "response"]
    assert {one["error"] for one in given} == {0}
    session = None
    for request, answer in zip(asked, given, strict=False):
        # The leader ends a session (id 0) only when nothing is asked in it, as before it knows that it leads.
        assert request["session_epoch"] == 0 if session in {None, 0} else request["session_id"] == session
        assert answer["session_id"] != 0 or not request["partitions"]
        session = answer["session_id"]
    assert any(not entry.get("is_listed", True) for one in asked for entry in one["partitions"])


def test_brokers_complain_of_nothing_more(runs: tuple[Heard, Heard, Path]) -> None:
    direct, proxied, _ = runs
    assert proxied.errors - direct.errors == set()


def test_a_complaint_is_found() -> None:
    complaint = "[2026-01-01 00:00:00,000] ERROR Exception from /127.0.0.1: InvalidReceiveException 12 (kafka)"
    assert heard({1: complaint}).errors
