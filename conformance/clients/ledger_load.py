"""What does a ledger's producer send, and with which settings of librdkafka?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.clients import BACKOFF_MS_MAX, QUIET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.vocabulary import Acks

ATTEMPTS_AT_ONCE = 50_000
"""So many records are written as attempts, in one file, before they are sent."""
QUEUED_MAX = 20_000
"""So many records may wait in the client: what comes faster waits for the brokers."""
DELIVERY_TIMEOUT_S = 120.0
"""As long as Kafka's own producer tries (``delivery.timeout.ms``)."""


@dataclass(frozen=True, slots=True)
class LedgerLoad:
    """What is to be sent.

    Attributes:
        base: the first record id; record ``base + n`` goes to partition n modulo ``partitions``.
        records: how many; None until it is told to stop.
        rate: records a second; None as fast as brokers take them.
        is_idempotent: whether the producer is (KIP-98).
        delivery_timeout_s: how long the client tries to send a record.
        attempts_s: for how long the records last, at their rate, that are written as attempts at once.
        linger_ms: how long the client waits for more records of a partition before it sends them.
        in_flight_max: how many requests of a connection may be unanswered; None as many as librdkafka likes.
    """

    topic: str
    partitions: int
    acks: Acks
    is_idempotent: bool
    base: int
    value_length: int
    records: int | None = None
    rate: int | None = None
    delivery_timeout_s: float = DELIVERY_TIMEOUT_S
    attempts_s: float = 0.5
    linger_ms: int = 5
    in_flight_max: int | None = None

    @property
    def at_once(self) -> int:
        """Return how many records are written as attempts at once."""
        if self.rate is None:
            return ATTEMPTS_AT_ONCE
        return min(ATTEMPTS_AT_ONCE, max(1, int(self.rate * self.attempts_s)))


def producer_settings(connection: Mapping[str, str], load: LedgerLoad) -> dict[str, str | int | bool]:
    """Return the producer's settings: what reaches the cluster, and what the load asks for."""
    in_flight = {} if load.in_flight_max is None else {"max.in.flight.requests.per.connection": load.in_flight_max}
    return {
        **connection,
        **QUIET,
        "acks": int(load.acks),
        "enable.idempotence": load.is_idempotent,
        "queue.buffering.max.messages": QUEUED_MAX,
        "linger.ms": load.linger_ms,
        **in_flight,
        "message.timeout.ms": int(load.delivery_timeout_s * 1000),
        "topic.metadata.refresh.fast.interval.ms": BACKOFF_MS_MAX,
    }
