"""How do a schedule's records reach the leader? The attempt is in the ledger before the send.

One label is one request is one batch. A record left pending keeps its producer until its outcome is
collected, or until the run ends and gives it up.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from conformance.clients.one_produce import DirectSending, OneRecord, produce_once
from conformance.clients.producer import LEADERLESS_TIMEOUT_MS, DeliveryReport, RecordInFlight, send
from conformance.interruption import GIVEN_UP, HarnessError, missed
from conformance.record.ledger import Attempt, OutcomeEntry
from conformance.record.observations import OutcomeSeen
from conformance.record.timeline import Event
from fault_injection.waiting import DeadlineExceededError, until
from oracle.steps.produce import Produce
from oracle.vocabulary import Acks, BrokerId, Expectation, Label, ProduceOutcome

if TYPE_CHECKING:
    from conformance.clients.one_produce import ProduceAnswer
    from conformance.probes.replica_probe import ReplicaProbe
    from conformance.record.ledger import LedgerWriter
    from conformance.running.recorder import Recorder
    from conformance.running.rest import Rest
    from fault_injection.cluster.lifecycle import Cluster
    from oracle.schedule import Schedule
    from oracle.steps.questions import SendTo

AWAIT_DEADLINE_S = 30.0
VALUE_BYTES = 100
PURGED_IN_FLIGHT = "_PURGE_INFLIGHT"
"""librdkafka's word for a record that was given up while its request was under way: nothing that a broker said."""


class RecordSender:
    """Sends the records of one run and collects their outcomes.

    Attributes:
        topic: the topic that it sends them to.
    """

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
        self.topic = topic
        self._ids = {label: record_id_base + index for index, label in enumerate(schedule.labels())}
        self._sendings: dict[Label, RecordInFlight | DirectSending] = {}
        self._timestamps_ms: dict[Label, int] = {}
        self._sent_at: dict[Label, float] = {}

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
        self._attempt(label, step.acks, index)
        record = OneRecord(record_id, step.acks, step.timeout_ms, self._stamp(label), VALUE_BYTES)
        self._sent_at[label] = time.monotonic()
        sending = self._sendings[label] = self._sending(address, record, leader, is_named=step.leader is not None)
        self._recorder.mark(Event.RECORD_SENT, label, f"{label} sent with acks={_acks(step)}", leader=step.leader)

        def has_arrived() -> object:
            self._cluster.check_alive()
            if sending.poll():
                return True
            if leader is not None and (self._log_end_offset(leader) or 0) > (before or 0):
                sending.appended()
                return True
            return False

        try:
            until(has_arrived, deadline_s=AWAIT_DEADLINE_S, what=f"{label} to reach the leader or be answered")
        except DeadlineExceededError as late:
            raise missed(late) from late

    def _sending(
        self, address: str, record: OneRecord, leader: int | None, *, is_named: bool
    ) -> RecordInFlight | DirectSending:
        """Send a record as a client does that looks for the leader.

        One that is sent to a broker by name goes there. So does one that is sent while a broker does not hear the
        controller: a client may ask any broker who leads, and that one names the leader of before.
        """
        if leader is not None and (is_named or self._rest.unreachable()):
            return DirectSending(address, self.topic, record)
        return send(
            address,
            self.topic,
            0,
            record.record_id,
            Acks(record.acks),
            timeout_ms=record.timeout_ms,
            value_length=VALUE_BYTES,
            timestamp_ms=record.timestamp_ms,
            queue_timeout_ms=min(record.timeout_ms, LEADERLESS_TIMEOUT_MS) if leader is None else record.timeout_ms,
        )

    def _log_end_offset(self, leader: int | None) -> int | None:
        return None if leader is None else self._probe.live_numbers(BrokerId(leader)).log_end_offset

    def _a_live_broker(self) -> int:
        live: list[int] = [b for b, answers in self._rest.answering().items() if answers]
        return (live or list(self._cluster.live_brokers))[0]

    def address_of(self, broker: BrokerId) -> str:
        """Return the address at which clients reach a broker."""
        return self._cluster.client_address(broker)

    def label_of(self, record_id: int | None) -> Label | None:
        """Return the label of a record of this run, or None if it is none."""
        return next((label for label, known in self._ids.items() if known == record_id), None)

    def timestamp_ms_of(self, label: Label) -> int:
        """Return the timestamp that a record was sent with."""
        return self._timestamps_ms[label]

    def _stamp(self, label: Label) -> int:
        """Give a record a timestamp: the time of day, and later than that of the record before."""
        now_ms = int(datetime.now(UTC).timestamp() * 1000)
        stamp = max(now_ms, max(self._timestamps_ms.values(), default=0) + 1)
        self._timestamps_ms[label] = stamp
        return stamp

    def send_to(self, step: SendTo) -> tuple[ProduceAnswer, bool]:
        """Send one record to a broker, whatever it is, and say what it told and whether its log grew.

        Raises:
            ProbeError: the broker neither answers nor closes the connection.
        """
        before = self._log_end_offset(step.broker)
        record_id, index = self._ids[step.record], self._recorder.step or 0
        self._attempt(step.record, step.acks, index)
        record = OneRecord(record_id, step.acks, step.timeout_ms, self._stamp(step.record), VALUE_BYTES)
        told = produce_once(self._cluster.client_address(step.broker), self.topic, record)
        is_written = (self._log_end_offset(step.broker) or 0) > (before or 0)
        self._record_outcome(step.record, DeliveryReport(_outcome_of(told, is_written), told.error, told.offset))
        return told, is_written

    def _attempt(self, label: Label, acks: int, index: int) -> None:
        self._ledger.record_attempts(
            [Attempt(self._ids[label], label, self.topic, 0, acks, index, VALUE_BYTES, time.monotonic_ns())]
        )

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

    def _record_outcome(self, label: Label, delivery: DeliveryReport) -> None:
        entry = OutcomeEntry(self._ids[label], delivery.outcome, delivery.error, delivery.offset, time.monotonic_ns())
        self._ledger.record_outcomes([entry])
        self._recorder.observe(
            OutcomeSeen(label=label, outcome=delivery.outcome.value, error=delivery.error, offset=delivery.offset)
        )

    def note_answered(self) -> None:
        """Write down, as seen by the step that is being taken, every outcome that is known and not collected yet.

        Of a run that ends early only what its steps saw counts, and a record whose outcome a schedule leaves open
        need not be collected by any.
        """
        for label, sending in list(self._sendings.items()):
            delivery = sending.poll()
            if delivery is not None:
                del self._sendings[label]
                sending.close()
                self._record_outcome(label, delivery)

    def given_up_at(self) -> dict[Label, float]:
        """Return when, in monotonic seconds, records that wait for their answers are given up."""
        return {label: self._sent_at[label] + self._timeout_s(label) for label in self._sendings}

    def give_up_pending(self) -> None:
        """Write down what is known of records nobody collected."""
        for label, sending in list(self._sendings.items()):
            delivery = sending.poll()
            sending.close()
            delivery = delivery or sending.poll()
            if delivery is None or delivery.error == PURGED_IN_FLIGHT:
                delivery = DeliveryReport(ProduceOutcome.INDETERMINATE, GIVEN_UP, None)
            self._record_outcome(label, delivery)
        self._sendings.clear()


def _outcome_of(told: ProduceAnswer, is_written: bool) -> ProduceOutcome:  # noqa: FBT001 - measured
    """Return what the producer knows; an error is a refusal if the log that it was sent to did not grow."""
    if not told.is_answered or (told.error is not None and is_written):
        return ProduceOutcome.INDETERMINATE
    return ProduceOutcome.ACKNOWLEDGED if told.error is None else ProduceOutcome.REFUSED


def _acks(step: Produce) -> str:
    return "all" if step.acks < 0 else str(int(step.acks))
