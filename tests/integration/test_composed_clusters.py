"""Do the clusters of compose/ start, replicate what is produced, and show themselves to the tester's probes?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from conformance.clients import quiet_configuration
from conformance.clients.topics import create_topic
from conformance.probes.replica_probe import ReplicaProbe
from fault_injection.releases import MetadataMode
from fault_injection.waiting import until
from tests.integration.composition import BROKERS, composed

if TYPE_CHECKING:
    from tests.integration.composition import Composed

CLUSTERS = [("kraft", "4.4.0", MetadataMode.KRAFT), ("zookeeper", "3.9.2", MetadataMode.ZOOKEEPER)]


@pytest.mark.docker
@pytest.mark.broker
@pytest.mark.parametrize(("folder", "version", "mode"), CLUSTERS, ids=[folder for folder, *_ in CLUSTERS])
def test_a_record_reaches_every_replica_and_the_testers_probes_see_it(
    folder: str, version: str, mode: MetadataMode
) -> None:
    with composed(folder, version, mode) as cluster:
        create_topic(cluster.addresses, "seen", BROKERS, {"min.insync.replicas": "3"})
        offset = produced(cluster, "seen", b"m0")
        with ReplicaProbe(cluster, "seen") as probe:

            def is_everywhere() -> bool:
                numbers = [probe.live_numbers(broker) for broker in BROKERS]
                return all((one.log_end_offset, one.high_watermark) == (offset + 1, offset + 1) for one in numbers)

            until(is_everywhere, deadline_s=20.0, what="the record to be committed on every replica")
            view = probe.controller_view(BROKERS)
            assert view is not None
            assert (view.leader, sorted(view.isr)) == (1, [1, 2, 3])
            assert [probe.log(broker).log_end_offset for broker in BROKERS] == [offset + 1] * 3


def produced(cluster: Composed, topic: str, value: bytes) -> int:
    """Produce one record with acks=all and return its offset."""
    acknowledged: list[int] = []

    def note(error: object, message: object) -> None:
        assert error is None, error
        acknowledged.append(message.offset())  # type: ignore[attr-defined] # an untyped library's message

    producer = Producer(quiet_configuration(cluster.addresses[0]) | {"acks": "all"})
    producer.produce(topic, value, on_delivery=note)
    assert producer.flush(20.0) == 0
    return acknowledged[0]
