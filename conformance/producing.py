"""How do a schedule's records reach the leader? The attempt is in the ledger before the send.

One label is one request is one batch. A record left pending keeps its producer until its outcome is
collected, or until the run ends and gives it up.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from conformance.clients.producer import Delivery, Sending, send
from conformance.interruption import GIVEN_UP, HarnessError, missed
from conformance.ledger.entry import Attempt, OutcomeEntry
from fault_injection.waiting import DeadlineExceededError, until
from oracle.steps import Produce
from oracle.vocabulary import BrokerId, Expectation, Label, Outcome

if TYPE_CHECKING:
    from conformance.ledger.writer import LedgerWriter
    from conformance.probes.replica_probe import ReplicaProbe
    from conformance.recorder import Recorder
    from conformance.rest import Rest
    from fault_injection.cluster.lifecycle import Cluster
    from oracle.schedule import Schedule

AWAIT_DEADLINE_S = 30.0
VALUE_BYTES = 100
PURGED_IN_FLIGHT = "_PURGE_INFLIGHT"
"""librdkafka's word for a record that was given up while its request was under way: nothing that a broker said."""


class Producing:
    """Sends the records of one run and collects their outcomes."""

    def __init__(  # noqa: PLR0913 - a run has this many collaborators, each with a name
        self,
        schedule: Schedule,
        *,
        cluster: Cluster,
        probe: ReplicaProbe,
        rest: Rest,
        ledger: LedgerWriter,
        recorder: Recorder,
        topic: str,
        record_id_base: int,
    ) -> None:
        self._schedule = schedule
        self._cluster = cluster
        self._probe = probe
        self._rest = rest
        self._ledger = ledger
        self._recorder = recorder
        self._topic = topic
        self._ids = {label: record_id_base + index for index, label in enumerate(schedule.labels())}
        self._sendings: dict[Label, Sending] = {}

    def produce(self, step: Produce) -> None:
        """Send a step's records one after the other, each collected unless it is left pending.

        Raises:
            RunInterruption: a record neither reached the leader nor was answered.
        """
        for label in step.records:
            self._send(label, step)
            if step.expect is Expectation.PENDING or step.expect is Expectation.ANY:
                continue
            self.collect(label, step.expect)

    def _send(self, label: Label, step: Produce) -> None:
        leader = step.leader if step.leader is not None else self._rest.view().leader
        address = self._cluster.client_address(leader if leader is not None else self._a_live_broker())
        before = self._log_end_offset(leader)
        index = self._recorder.step or 0
        record_id = self._ids[label]
        self._ledger.record_attempts(
            [Attempt(record_id, label, self._topic, 0, step.acks, index, VALUE_BYTES, time.monotonic_ns())]
        )
        sending = send(
            address,
            self._topic,
            0,
            record_id,
            step.acks,
            timeout_ms=step.timeout_ms,
            value_length=VALUE_BYTES,
            queue_timeout_ms=min(step.timeout_ms, 3_000) if leader is None else step.timeout_ms,
        )
        self._sendings[label] = sending
        self._recorder.mark("record_sent", label, f"{label} sent with acks={_acks(step)}")

        def has_arrived() -> object:
            if sending.poll():
                return True
            if leader is not None and (self._log_end_offset(leader) or 0) > (before or 0):
                sending.appended()
                return True
            return False

        try:
            until(has_arrived, deadline_s=AWAIT_DEADLINE_S, what=f"{label} to reach the leader or be answered")
        except DeadlineExceededError as late:
            self._cluster.check_alive(*(broker for broker, alive in self._rest.alive().items() if alive))
            raise missed(late) from late

    def _log_end_offset(self, leader: int | None) -> int | None:
        return None if leader is None else self._probe.live_numbers(BrokerId(leader)).log_end_offset

    def _a_live_broker(self) -> int:
        live: list[int] = [b for b, answers in self._rest.answering().items() if answers]
        return (live or list(self._cluster.live_brokers))[0]

    def collect(self, label: Label, expect: Expectation) -> None:
        """Wait for a record's outcome and write it down; nothing to do if that has been done.

        Raises:
            HarnessError: there is none before the deadline, although the client gives one before that.
        """
        sending = self._sendings.pop(label, None)
        if sending is None:
            return
        deadline_s = AWAIT_DEADLINE_S + self._timeout_s(label)
        try:
            delivery = sending.await_delivery(deadline_s)
        except DeadlineExceededError as late:
            raise HarnessError(f"{label}: no outcome, {expect.value} was expected: {late}") from late
        finally:
            sending.close()
        self._record_outcome(label, delivery)

    def _timeout_s(self, label: Label) -> float:
        steps = (s for s in self._schedule.steps if isinstance(s, Produce) and label in s.records)
        return next(steps).timeout_ms / 1000

    def _record_outcome(self, label: Label, delivery: Delivery) -> None:
        entry = OutcomeEntry(self._ids[label], delivery.outcome, delivery.error, delivery.offset, time.monotonic_ns())
        self._ledger.record_outcomes([entry])
        self._recorder.observe(
            "outcome",
            label=label,
            outcome=delivery.outcome.value,
            error=delivery.error,
            offset=delivery.offset,
        )

    def give_up_pending(self) -> None:
        """Write down what is known of records nobody collected."""
        for label, sending in list(self._sendings.items()):
            delivery = sending.poll()
            sending.close()
            delivery = delivery or sending.poll()
            if delivery is None or delivery.error == PURGED_IN_FLIGHT:
                delivery = Delivery(Outcome.INDETERMINATE, GIVEN_UP, None)
            self._record_outcome(label, delivery)
        self._sendings.clear()


def _acks(step: Produce) -> str:
    return "all" if step.acks < 0 else str(int(step.acks))
