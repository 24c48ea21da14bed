"""What does one broker answer to one client's request? Errors by name, numbers as they came, -1 as None.

Every question goes to the broker that is named, whether it leads or not, on a connection of its own, and is asked
once. Whoever asks is a consumer (replica id -1), so that nothing counts as replication.

Sources: the message schemas of Fetch, ListOffsets and OffsetsForLeaderEpoch.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.probes.connection import ProbeError
from conformance.probes.segments import records_of
from fault_injection.puppets.connection import (
    FETCH,
    LIST_OFFSETS,
    OFFSETS_FOR_LEADER_EPOCH,
    PuppetConnection,
    PuppetError,
)
from oracle.asking import newest_asked
from oracle.error_codes import error_name
from oracle.vocabulary import ClientRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fault_injection.puppets.connection import Values

FETCH_BYTES_MAX = 1 << 20
CLIENT_ID = "kafka-conformance-question"
CONSUMER, NOTHING, NO_EPOCH = -1, -1, -1
API_KEYS = {
    ClientRequest.FETCH: FETCH,
    ClientRequest.LIST_OFFSETS: LIST_OFFSETS,
    ClientRequest.OFFSETS_FOR_LEADER_EPOCH: OFFSETS_FOR_LEADER_EPOCH,
}


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What a Fetch asks for beside the offset.

    Attributes:
        max_wait_ms: how long the broker may wait for ``min_bytes`` to be there.
        min_bytes: see there.
        max_bytes: how much the answer may hold; the first batch comes whole whatever its size (KIP-74).
        partition_max_bytes: likewise of the partition.
        reads_committed: whether records of open transactions are left out, and what follows them (KIP-98).
        rack: the consumer's (Fetch 11 on, KIP-392); the empty one is none.
    """

    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = FETCH_BYTES_MAX
    partition_max_bytes: int = FETCH_BYTES_MAX
    reads_committed: bool = False
    rack: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a consumer's Fetch brought.

    Attributes:
        record_ids: of the whole records; None for one that is none of ours, as control records are.
        last_stable_offset: the first offset of an open transaction, or the high watermark (0.11 on).
        bytes: how much came in all.
        preferred_read_replica: the broker that is to be asked instead (Fetch 11 on, KIP-392).
    """

    error: str | None
    record_ids: tuple[int | None, ...]
    high_watermark: int | None
    last_stable_offset: int | None = None
    bytes: int = 0
    preferred_read_replica: int | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """What ListOffsets brought."""

    error: str | None
    offset: int | None


@dataclass(frozen=True, slots=True)
class EpochEndAnswer:
    """What OffsetsForLeaderEpoch brought."""

    error: str | None
    leader_epoch: int | None
    end_offset: int | None


class Questioner:
    """Asks one broker about one topic's partition 0, in a version of choice or the newest that matters.

    Args:
        address: ``host:port`` of its client listener.
        topic: the topic.
        version: of the request; None for the newest that broker and tester have.
    """

    def __init__(self, address: str, topic: str, version: int | None = None) -> None:
        host, _, port = address.rpartition(":")
        self._address, self._host, self._port = address, host, int(port)
        self._topic, self._version = topic, version

    def fetch(self, offset: int, limits: FetchLimits | None = None) -> Fetched:
        """Fetch once from an offset on, as a read_uncommitted consumer that waits for nothing unless told otherwise.

        Raises:
            ProbeError: the broker does not answer.
        """
        limits = limits or FetchLimits()
        part = {
            "partition": 0,
            "current_leader_epoch": NO_EPOCH,
            "fetch_offset": offset,
            "last_fetched_epoch": NO_EPOCH,
            "log_start_offset": NOTHING,
            "partition_max_bytes": limits.partition_max_bytes,
        }
        values = {
            "replica_id": CONSUMER,
            "max_wait_ms": limits.max_wait_ms,
            "min_bytes": limits.min_bytes,
            "max_bytes": limits.max_bytes,
            "isolation_level": int(limits.reads_committed),
            "session_epoch": -1,
            "rack_id": limits.rack,
            "topics": [{"topic": self._topic, "partitions": [part]}],
        }
        told = self._ask(ClientRequest.FETCH, values).responses[0].partitions[0]
        content = bytes(told.records or b"")
        found = (record for record in records_of(content) if record.offset >= offset)
        ids = tuple(record.record_id for record in found)
        stable = _number(told.last_stable_offset)
        return Fetched(
            _name(told.error_code),
            ids,
            _number(told.high_watermark),
            stable,
            len(content),
            _number(told.preferred_read_replica),
        )

    def list_offset(self, timestamp: int, *, reads_committed: bool = False) -> Listed:
        """Ask for the earliest (-2) or latest (-1) offset, or the first one with at least a timestamp.

        Raises:
            ProbeError: the broker does not answer.
        """
        part = {"partition_index": 0, "current_leader_epoch": NO_EPOCH, "timestamp": timestamp}
        values = {
            "replica_id": CONSUMER,
            "isolation_level": int(reads_committed),
            "topics": [{"name": self._topic, "partitions": [part]}],
        }
        told = self._ask(ClientRequest.LIST_OFFSETS, values).topics[0].partitions[0]
        return Listed(_name(told.error_code), _number(told.offset))

    def epoch_end(self, leader_epoch: int, current_leader_epoch: int | None) -> EpochEndAnswer:
        """Ask where a leader epoch ends, claiming another one to be the current one if the version has room for it.

        Raises:
            ProbeError: the broker does not answer.
        """
        claimed = NO_EPOCH if current_leader_epoch is None else current_leader_epoch
        part = {"partition": 0, "current_leader_epoch": claimed, "leader_epoch": leader_epoch}
        values = {"replica_id": CONSUMER, "topics": [{"topic": self._topic, "partitions": [part]}]}
        told = self._ask(ClientRequest.OFFSETS_FOR_LEADER_EPOCH, values).topics[0].partitions[0]
        return EpochEndAnswer(_name(told.error_code), _number(told.leader_epoch), _number(told.end_offset))

    def _ask(self, request: ClientRequest, values: Values) -> Any:  # noqa: ANN401 - kafka-python is untyped
        key = API_KEYS[request]
        with self._connected() as connection:
            newest = min(connection.newest_version(key), newest_asked(request))
            return connection.ask(key, values, newest if self._version is None else self._version)

    @contextmanager
    def _connected(self) -> Iterator[PuppetConnection]:
        connection = PuppetConnection((self._host, self._port), CLIENT_ID)
        try:
            yield connection
        except PuppetError as unanswered:
            raise ProbeError(self._address, str(unanswered)) from unanswered
        finally:
            connection.close()


def _name(code: int) -> str | None:
    return error_name(code) if code else None


def _number(value: int | None) -> int | None:
    return None if value is None or value < 0 else int(value)
