"""How do records get into the log of a broker that a puppet has made a leader? By Produce requests of one batch."""

from fault_injection.puppets.connection import PuppetConnection
from fault_injection.puppets.records import RECORD_BATCH_MAGIC, Batch
from fault_injection.puppets.schema import PRODUCE
from fault_injection.puppets.topic import PuppetTopic

BATCHES_SINCE = 3
VERSION_MAX = 12  # later versions name topics by id


def append(
    connection: PuppetConnection, topic: PuppetTopic, *values: bytes, acks: int = 1, timeout_ms: int = 1_000
) -> tuple[int, int]:
    """Send records as one batch and give the error code and the offset of the first one.

    Args:
        connection: to the broker.
        topic: whose partition.
        values: of the records; they have no keys.
        acks: 1 is answered once the leader has appended; -1 once all in-sync replicas have.
        timeout_ms: how long the broker waits for these.

    Raises:
        PuppetError: the broker does not answer.
    """
    version = min(connection.newest_version(PRODUCE), VERSION_MAX)
    magic = RECORD_BATCH_MAGIC if version >= BATCHES_SINCE else 1
    records = Batch(0, -1, values).encoded(magic)
    part = {"index": 0, "records": records}
    request = {
        "transactional_id": None,
        "acks": acks,
        "timeout_ms": timeout_ms,
        "topic_data": [{"name": topic.name, "partition_data": [part]}],
    }
    answer = connection.ask(PRODUCE, request, version)
    given = answer.responses[0].partition_responses[0]
    return int(given.error_code), int(given.base_offset)
