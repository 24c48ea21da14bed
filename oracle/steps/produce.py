"""Which steps send records? To the leader, and their outcomes are collected then or later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from oracle.steps.step import Step, WireRange, described, listed, step
from oracle.vocabulary import Acks, BrokerId, Expectation, Label

if TYPE_CHECKING:
    from oracle.steps.step import SoFar

PRODUCE_TIMEOUT_MS = WireRange(1, 295_000, "the client's socket times out after 300 s")
"""A client that waits 5 s longer than the broker can wait no longer (librdkafka, ``socket.timeout.ms``)."""


@step("produce", leaves="record_sent")
class Produce(Step):
    """Send records to the current leader: one label is one request is one batch, without retries."""

    records: tuple[Label, ...] = described("labels of the records, sent one after the other")
    acks: Acks = described("0, 1 or all", default=Acks.ALL)
    expect: Expectation = described(
        "acknowledged, refused, indeterminate, pending (collect it with await_outcome) or any",
        default=Expectation.ACKNOWLEDGED,
    )
    error: str | None = described("the error expected with refused or indeterminate", default=None)
    timeout_ms: int = described("how long the producer and the broker wait for acks=all", default=30_000)
    leader: BrokerId | None = described(
        "send to this broker, which believes that it leads; else to the controller's leader", default=None
    )

    @override
    def check(self, so_far: SoFar) -> None:
        if self.leader is not None:
            so_far.require_brokers("leader", self.leader)
        for label in self.records:
            so_far.note_record("records", label)
        if not self.records:
            so_far.refuse("records", "produce needs at least one label")
        so_far.require_within("timeout_ms", self.timeout_ms, PRODUCE_TIMEOUT_MS)

    @override
    def labels(self) -> tuple[Label, ...]:
        return self.records

    @override
    def left_for(self) -> tuple[Label, ...]:
        return self.records

    @override
    def sentence(self) -> str:
        acks = self.acks.word
        to = "" if self.leader is None else f" to broker {self.leader}"
        return f"produce {listed(self.records)}{to} with acks={acks}{self._expected()}"

    @override
    def short(self) -> str:
        return f"produce {listed(self.records)}" + ("" if self.leader is None else f" to {self.leader}")

    def _expected(self) -> str:
        if self.expect is Expectation.PENDING:
            return " and do not wait for the outcome"
        if self.expect is Expectation.ANY:
            return "; any outcome will do"
        error = "" if self.error is None else f" with {self.error}"
        return f"; the producer must see it {self.expect.value}{error}"


@step("await_outcome", short="await {records}")
class AwaitOutcome(Step):
    """Wait until the producer knows the outcome of records that were left pending."""

    records: tuple[Label, ...] = described("labels produced earlier with expect: pending")
    expect: Expectation = described("acknowledged, refused, indeterminate or any", default=Expectation.ANY)
    error: str | None = described("the error expected", default=None)

    @override
    def check(self, so_far: SoFar) -> None:
        so_far.require_known("records", self.records, so_far.records)
        if self.expect is Expectation.PENDING:
            so_far.refuse("expect", "await_outcome waits until the outcome is known: it cannot expect pending")

    @override
    def sentence(self) -> str:
        error = "" if self.error is None else f" with {self.error}"
        must = "" if self.expect is Expectation.ANY else f", which must be {self.expect.value}{error}"
        return f"wait for the outcome of {listed(self.records)}{must}"
