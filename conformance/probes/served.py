"""Which records does a broker serve to a consumer? Asked by plain fetches, each record decoded."""

from conformance.error_names import error_name
from conformance.probes.connection import BrokerConnection
from conformance.probes.errors import ProbeError
from conformance.probes.messages import FetchRequest, FetchResponse
from conformance.probes.replica import FETCH_VERSION_NEWEST, NO_SESSION
from conformance.probes.segments import LogRecord, records_of

CONSUMER_REPLICA_ID = -1
BYTES_MAX = 16 * 1024 * 1024

_Fetch = FetchRequest.FetchTopic


def served_records(connection: BrokerConnection, topic: str, partition: int, offset: int = 0) -> tuple[LogRecord, ...]:
    """Fetch everything that a partition's leader serves from an offset on, up to its high watermark.

    Raises:
        ProbeError: the broker does not answer, or with an error.
    """
    served: list[LogRecord] = []
    while batch := _fetched(connection, topic, partition, offset):
        served += [record for record in batch if record.offset >= offset]
        offset = batch[-1].offset + 1
    return tuple(served)


def _fetched(connection: BrokerConnection, topic: str, partition: int, offset: int) -> tuple[LogRecord, ...]:
    version = connection.version_of(FetchRequest, FETCH_VERSION_NEWEST)
    if version is None:
        raise ProbeError(connection.address, f"no Fetch up to version {FETCH_VERSION_NEWEST}")
    asked = _Fetch.FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=BYTES_MAX)
    request = FetchRequest(
        replica_id=CONSUMER_REPLICA_ID,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=BYTES_MAX,
        session_id=NO_SESSION[0],
        session_epoch=NO_SESSION[1],
        topics=[_Fetch(topic=topic, partitions=[asked])],
    )
    answer = connection.ask(request, FetchResponse, version).responses[0].partitions[0]
    if answer.error_code:
        name = error_name(answer.error_code)
        raise ProbeError(connection.address, f"Fetch was answered with {name}", name)
    return records_of(bytes(answer.records or b""))
