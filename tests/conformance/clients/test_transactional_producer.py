"""What is left of a transaction whose block failed? It is aborted, and the first failure is the one that is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from confluent_kafka import KafkaException

from conformance.clients.producer import OpenTransaction


@dataclass
class ProducerWithoutCoordinator:
    """A producer whose coordinator is gone as soon as a transaction is to be aborted."""

    aborted: list[float] = field(default_factory=list)

    def init_transactions(self, _deadline_s: float) -> None:
        """Find a coordinator."""

    def begin_transaction(self) -> None:
        """Begin."""

    def commit_transaction(self, _deadline_s: float) -> None:
        """Commit."""

    def abort_transaction(self, deadline_s: float) -> None:
        """Fail."""
        self.aborted.append(deadline_s)
        raise KafkaException("no coordinator")


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> ProducerWithoutCoordinator:
    producer = ProducerWithoutCoordinator()
    monkeypatch.setattr("conformance.clients.producer.Producer", lambda _: cast("Any", producer))
    return producer


def test_an_abort_that_fails_does_not_hide_why_the_block_failed(producer: ProducerWithoutCoordinator) -> None:
    with pytest.raises(AssertionError, match="the first error"), OpenTransaction("nowhere:1", "t"):
        raise AssertionError("the first error")

    assert len(producer.aborted) == 1


def test_an_abort_that_fails_after_a_block_that_did_not_is_told(producer: ProducerWithoutCoordinator) -> None:
    with pytest.raises(KafkaException, match="no coordinator"), OpenTransaction("nowhere:1", "t"):
        assert producer.aborted == []


def test_what_is_committed_is_not_aborted(producer: ProducerWithoutCoordinator) -> None:
    with OpenTransaction("nowhere:1", "t") as transaction:
        transaction.commit()

    assert producer.aborted == []
