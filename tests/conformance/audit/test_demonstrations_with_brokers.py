"""Do real brokers lose, or refuse, what a demonstration says that they do, and nothing of it once mended?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.audit.demonstrated_defects import late_request_twins
from conformance.audit.demonstrated_topics import example
from conformance.audit.demonstrations import DEMONSTRATIONS, NothingToShowError, Telling, has_eligible_feature
from conformance.cli import main
from conformance.clients.topics import create_topic
from conformance.line import line_named
from conformance.record.verdict import Conformance, PromiseKept
from conformance.run_options import RunOptions
from conformance.session import Session, Task, session_on
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import find_release, jars_of, schema_jar
from fault_injection.wire.proxy import GateProxy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.pipeline import Finished

pytestmark = [pytest.mark.broker, pytest.mark.spark]

WITH_THE_FEATURE = [name for name, one in DEMONSTRATIONS.items() if one.needs_eligible]


def _silent(_text: str) -> None:
    pass


@pytest.fixture(scope="module")
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    line = line_named(request.param)
    with session_on(line, RunOptions(backend="process"), 7, _silent, "a test.") as running:
        yield running


def _run(session: Session, telling: Telling, runs: Path) -> Finished:
    session.cluster_pool.line = telling.line
    session.cluster_pool.features = telling.features
    (finished,) = session.run_all([Task(telling.entry, runs, telling.entry.name)])
    return finished


def _check(session: Session, check: str, runs: Path) -> None:
    twins = example(check, line_named(session.cluster_pool.line.text)).twins
    for telling in (twins.as_read, twins.mended):
        finished = _run(session, telling, runs)
        assert finished.verdict.conformance is Conformance.CONFORMS, (telling.shows, finished.verdict.reason)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("check", DEMONSTRATIONS)
@pytest.mark.parametrize("session", ["2.8.2/zookeeper", "4.4.0/kraft"], indirect=True)
def test_brokers_do_the_harm_and_do_none_once_mended(session: Session, check: str, tmp_path: Path) -> None:
    if check in WITH_THE_FEATURE and not has_eligible_feature(session.cluster_pool.line):
        with pytest.raises(NothingToShowError, match="has no eligible leader replicas"):
            example(check, session.cluster_pool.line)
        return
    _check(session, check, tmp_path)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("check", WITH_THE_FEATURE)
@pytest.mark.parametrize("session", ["4.0.2/kraft"], indirect=True)
def test_brokers_do_the_harm_where_the_feature_is_off_by_default(session: Session, check: str, tmp_path: Path) -> None:
    _check(session, check, tmp_path)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("session", "level", "row"), [("4.4.0/kraft", 0, "TX-05"), ("4.1.2/kraft", None, "TX-07")], indirect=["session"]
)
def test_a_late_request_breaks_its_promise_at_the_level_that_a_cluster_has(
    session: Session, level: int | None, row: str, tmp_path: Path
) -> None:
    telling = late_request_twins(session.cluster_pool.line, level).as_read
    verdict = _run(session, telling, tmp_path).verdict
    assert telling.entry.sources[0] == row
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, PromiseKept.BROKEN_AS_PREDICTED)


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("check", "kafka"),
    [
        ("unclean-election", "4.4.0"),
        ("known-defect", "2.8.2"),
        ("known-defect", "2.0.0"),
        ("transaction-version", "0.11.0.3"),
        ("transaction-version", "4.4.0"),
    ],
)
def test_the_command_tells_both_with_a_report_of_each(
    check: str, kafka: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--demonstrate", check, "--kafka", kafka, "--backend", "process", "--runs-dir", str(tmp_path)]
    assert main(["audit", *options, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["check"], shown["subject"]) == (check, "an example")
    assert [one["conformance"] for one in shown["runs"]] == ["CONFORMS", "CONFORMS"]
    assert [one["promise"] for one in shown["runs"]][1] == "KEPT"
    if check == "transaction-version":
        assert shown["runs"][0]["promise"] == "BROKEN_AS_PREDICTED"
    for one, place in zip(shown["runs"], ("as-read", "mended"), strict=True):
        assert one["report"] == str(tmp_path / check / place / "report.html")
        assert Path(one["run"]).name in Path(one["report"]).read_text()


@pytest.mark.timeout(500)
def test_a_topic_of_a_cluster_is_demonstrated_and_the_cluster_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = find_release("3.9.2")
    backend = ProcessBackend()
    try:
        with (
            GateProxy(backend.host, backend.peers, schemas=schema_jar()) as gate,
            Cluster.start(
                ClusterSpec(release, release.default_metadata_mode),
                jars_of(release),
                backend,
                gate,
                tmp_path / "theirs",
            ) as cluster,
        ):
            addresses = [cluster.client_address(broker) for broker in cluster.spec.broker_ids]
            create_topic(addresses, "orders", [1, 2, 3], {"min.insync.replicas": "3"})
            read = ["--bootstrap-server", cluster.bootstrap, "--topic", "orders"]
            ours = ["--demonstrate", "min-isr-equals-replicas", "--backend", "process", "--runs-dir", str(tmp_path)]
            assert main(["audit", *read, *ours]) == 0
            assert all(cluster.is_alive(broker) for broker in cluster.spec.broker_ids)
            logs = {log.parent.name: log.stat().st_size for log in (tmp_path / "theirs").rglob("[!_]*-0/*.log")}
            assert logs == {"orders-0": 0}, "no topic of ours, and no record of ours in theirs"
    finally:
        backend.close()
    told = " ".join(capsys.readouterr().out.split())
    assert f"topic orders: shown on brokers of the tester's own, Kafka 3.9.2; {cluster.bootstrap} was only read" in told
    assert "as it is, with replication factor 3, min.insync.replicas=3: m1 is refused (NOT_ENOUGH_REPLICAS)" in told
    assert "mended, with min.insync.replicas=2: m0 and m1 are acknowledged and kept" in told
