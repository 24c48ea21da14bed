"""When everything is at rest, are all replicas read where brokers have them? And what is read if one stays away?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reconcile.soak_replicas import PartitionLogs, compared
from conformance.soak.brokers import replica_files
from conformance.soak.rest import at_rest, committed_ends
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.waiting import DeadlineExceededError, until
from tests.conformance.soak.soaked_topic import BROKERS, PARTITIONS, Load, Soaked, soaked
from tests.fault_injection.cluster.conftest import new_docker_backend

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(400)]
BACKENDS = [
    pytest.param(ProcessBackend, id="process"),
    pytest.param(new_docker_backend, id="docker", marks=pytest.mark.docker),
]


@pytest.fixture(scope="module", params=BACKENDS)
def brokers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Soaked]:
    with soaked("4.4.0", request.param, tmp_path_factory.mktemp("soaked")) as cluster:
        yield cluster


def test_every_replica_is_read_to_its_end(brokers: Soaked, tmp_path: Path) -> None:
    topic = brokers.topic("read")
    with Load(brokers, topic, "all") as load:
        until(lambda: len(load.acknowledged) > 500, deadline_s=60, what="some records")
        load.stop()
    ends = at_rest(brokers.cluster, topic, PARTITIONS)
    data = replica_files(brokers.cluster, topic, tmp_path)
    assert set(data) == set(BROKERS)
    for number, end in enumerate(ends):
        found = compared(PartitionLogs(number, end, {at: path / f"{topic}-{number}" for at, path in data.items()}))
        assert (found.logs, found.lost_tails, found.diverged, found.rotten, found.unread) == (3, (), {}, 0, ())
        assert found.batches > 0
    (tmp_path / "full").write_text("nothing can be put below a file")
    is_here = brokers.cluster.backend.name == ProcessBackend.name
    assert set(replica_files(brokers.cluster, topic, tmp_path / "full")) == (set(BROKERS) if is_here else set())


def test_what_leaders_have_committed_is_known_though_a_replica_stays_away(brokers: Soaked) -> None:
    topic, away = brokers.topic("away"), BROKERS[-1]
    with Load(brokers, topic, "all") as load:
        until(lambda: len(load.acknowledged) > 500, deadline_s=60, what="some records")
        load.stop()
    ends = at_rest(brokers.cluster, topic, PARTITIONS)
    brokers.cluster.kill(away)
    try:
        with pytest.raises(DeadlineExceededError, match=f"out of sync: {away}"):
            at_rest(brokers.cluster, topic, PARTITIONS, deadline_s=15)
        assert committed_ends(brokers.cluster, topic, PARTITIONS) == ends
    finally:
        brokers.cluster.start_broker(away)
        at_rest(brokers.cluster, topic, PARTITIONS)  # whoever comes next finds brokers that answer
