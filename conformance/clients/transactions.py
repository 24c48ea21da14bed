"""How is a transaction kept open for as long as a test looks at it? One transactional producer, ended explicitly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from confluent_kafka import KafkaException, Producer

from conformance.clients.configuration import quiet_configuration
from conformance.clients.records import key_of, value_of

if TYPE_CHECKING:
    from types import TracebackType

DEADLINE_S = 30.0
TRANSACTION_TIMEOUT_MS = 120_000


class OpenTransaction:
    """A transaction that begins with the block; one that is not committed by its end is aborted.

    Args:
        address: ``host:port`` of a broker.
        transactional_id: of the producer.
    """

    def __init__(self, address: str, transactional_id: str) -> None:
        settings = {"transactional.id": transactional_id, "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS}
        self._producer = Producer({**quiet_configuration(address), **settings})
        self._is_open = False

    def __enter__(self) -> Self:
        self._producer.init_transactions(DEADLINE_S)
        self._producer.begin_transaction()
        self._is_open = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_open:
            return
        try:
            self._producer.abort_transaction(DEADLINE_S)
        except KafkaException:
            if error is None:
                raise  # else the first error says more

    def produce(self, topic: str, record_id: int) -> None:
        """Have the leader append a record of the transaction to partition 0."""
        self._producer.produce(topic, partition=0, key=key_of(record_id), value=value_of(record_id))
        left = self._producer.flush(DEADLINE_S)
        assert left == 0, f"record {record_id} was not appended in {DEADLINE_S:g} s"

    def commit(self) -> None:
        """Commit; returns when the coordinator says so."""
        self._producer.commit_transaction(DEADLINE_S)
        self._is_open = False
