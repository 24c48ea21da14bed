"""How is each act of a script of transactions done to real brokers, and what is answered?

A request that is late is held at the gate (``late_requests``).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fault_injection.waiting import DeadlineExceededError, until
from oracle.transactions.play import GROUP, PARTITIONS, ScriptedProducer, named
from oracle.transactions.promised import PromisedRecords
from oracle.transactions.script import (
    KEPT_BACK,
    NO_OFFSET,
    Add,
    CommitOffset,
    Deliver,
    End,
    FailOver,
    Initialise,
    KillLeader,
    MarkAgain,
    ReadOffset,
    ReadPartitions,
    Send,
    TimeOut,
)
from oracle.transactions.state import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.clients.transactional_requests import (
        ProducerAnswer,
        ProducerEpoch,
        ProducerRequest,
        TransactionalRequests,
    )
    from conformance.examining.late_requests import LateRequests
    from conformance.examining.transaction_failures import BrokerFailures
    from oracle.error_codes import ErrorCode
    from oracle.transactions.script import TransactionAct


DEADLINE_S = 30.0
PATIENCE_S = 2.0
"""How long an offset may change after its transaction has ended: up to 3.9 a thread applies the marker later."""


@dataclass(slots=True)
class Performance:
    """A script on real brokers.

    Attributes:
        requests: sends them.
        late: holds those that are late.
        failures: kills brokers.
        senders: the producers.
        ends: the late ones that end a transaction, by name.
        promised: what producers have sent, asked and been told.
    """

    requests: TransactionalRequests
    late: LateRequests
    failures: BrokerFailures
    senders: dict[int, ScriptedProducer[ProducerEpoch]] = field(default_factory=dict)
    ends: dict[str, ProducerRequest] = field(default_factory=dict)
    promised: PromisedRecords = field(default_factory=PromisedRecords)

    def perform(self, act: TransactionAct) -> Iterator[tuple[str, Any]]:  # noqa: C901 - one line an act
        """Do one thing, and yield what was answered."""
        if isinstance(act, Initialise):
            yield "answer", self._initialise(act)
        elif isinstance(act, Add) and not self.requests.has_epochs:
            yield "answer", self._add(self.senders[act.producer], act.partition, act.late)
        elif isinstance(act, Send):
            yield from self._send(act)
        elif isinstance(act, CommitOffset):
            yield from self._commit_offset(act)
        elif isinstance(act, ReadOffset):
            yield "answer", self._group_offset()
        elif isinstance(act, End):
            yield "answer", self._end(act)
        elif isinstance(act, Deliver):
            yield "answer", self._deliver(act.name)
        elif isinstance(act, MarkAgain):
            marker = [batch for batch in self.requests.log(act.partition) if batch.coordinator_epoch is not None][-1]
            yield "answer", _named(*self.requests.until_told(self.requests.write_marker(act.partition, marker)))
        elif isinstance(act, FailOver):
            yield "answer", self.failures.fail_over()
        elif isinstance(act, KillLeader):
            yield "answer", self.failures.kill_leader(act.partition)
        elif isinstance(act, TimeOut):
            yield from self._timed_out()
        elif isinstance(act, ReadPartitions):
            yield from self._look(is_last=act.is_last)

    def _initialise(self, act: Initialise) -> str:
        former = self.senders.get(act.producer)
        known = former.epoch if act.goes_on and former is not None else None
        told = self._sent(self.requests.init_producer_id(known, act.timeout_s), act.late)
        if told is None:
            return KEPT_BACK
        error, given = told
        if not error and given is not None:
            self.senders[act.producer] = ScriptedProducer(given)
            self.promised.began(act.producer)
        return _named(error, given, tells_epoch=True)

    def _add(self, sender: ScriptedProducer[ProducerEpoch], partition: int, late: str = "") -> str:
        known = sender.epoch
        told = self._sent(self.requests.add_partition(known, partition), late)
        if told is None:
            return KEPT_BACK
        sender.added.add(partition)
        return _named(*told)

    def _send(self, act: Send) -> Iterator[tuple[str, str]]:
        sender, partition = self.senders[act.producer], act.partition
        if partition not in sender.added and not self.requests.has_epochs:
            yield "answer to AddPartitionsToTxn", self._add(sender, partition)
        sequence, known = sender.next_sequence(partition, again=act.again) + act.skips, sender.epoch
        told = self._sent(self.requests.produce(known, sequence, partition, act.label), act.late)
        self.promised.sent(act.producer, act.label, is_acknowledged=told is not None and not told[0])
        if told is None:
            sender.kept.add(partition)
            yield "answer", KEPT_BACK
            return
        if not told[0]:
            sender.sequences[partition] = sequence + 1
        yield "answer", _named(*told)

    def _commit_offset(self, act: CommitOffset) -> Iterator[tuple[str, str]]:
        sender = self.senders[act.producer]
        known = sender.epoch
        if GROUP not in sender.added and not self.requests.has_epochs:
            sender.added.add(GROUP)
            added = self.requests.until_told(self.requests.add_offsets(known))
            yield "answer to AddOffsetsToTxn", _named(*added)
        told = self._sent(self.requests.commit_offset(known, act.offset), act.late)
        yield "answer", KEPT_BACK if told is None else _named(*told)

    def _group_offset(self) -> str:
        """Ask for the group's offset; one that may still change is given a moment, as markers are applied in one."""
        with suppress(DeadlineExceededError):
            until(
                lambda: not self.requests.group_offset()[0],
                deadline_s=PATIENCE_S,
                what="an offset that does not change",
            )
        error, offset = self.requests.group_offset()
        if error:
            return error.name
        return NO_OFFSET if offset < 0 else str(offset)

    def _end(self, act: End) -> str:
        sender = self.senders[act.producer]
        known = sender.epoch
        request = self.requests.end(known, commits=act.commits)
        if act.late_marker:
            self.late.hold_marker(act.late_marker, 0)
        told = self._sent(request, act.late)
        if act.late:
            self.ends[act.late] = request
        if act.fails_over:
            self._fail_over_in_between(act.late_marker)
        elif act.late_marker:
            self.late.break_off(act.late_marker)
        if told is not None:
            self._await_markers(request, told)
        self.promised.ended(act.producer, commits=act.commits, is_told=told is not None and not told[0])
        if told is None:
            return KEPT_BACK
        error, given = told
        if not error:
            sender.over(given or known)
        return _named(error, given, tells_epoch=self.requests.has_epochs)

    def _await_markers(self, end: ProducerRequest, told: ProducerAnswer) -> None:
        """Ask again until the markers are written, if a transaction has ended: until then it is told to wait."""
        if not told[0]:
            self.requests.until_told(end)

    def _fail_over_in_between(self, marker: str) -> None:
        """Kill the coordinator when a marker of it is held, and the other ones are written."""
        self.late.await_caught(marker)
        for partition in range(1, PARTITIONS):
            self._await_ended(partition)
        self.failures.fail_over()

    def _timed_out(self) -> Iterator[tuple[str, str]]:
        """Wait for the coordinator to end what is open, and say how."""
        for partition in [one for one in range(PARTITIONS) if not self._has_ended(one)]:
            self._await_ended(partition)
            yield f"end of partition {partition}", self.requests.log(partition)[-1].what

    def _await_ended(self, partition: int) -> None:
        until(lambda: self._has_ended(partition), deadline_s=DEADLINE_S, what=f"the marker of partition {partition}")

    def _has_ended(self, partition: int) -> bool:
        log = self.requests.log(partition)
        return not log or log[-1].coordinator_epoch is not None

    def _deliver(self, name: str) -> str:
        told, end = self.late.deliver(name), self.ends.pop(name, None)
        if end is not None:
            self._await_markers(end, told)
        return _named(*told)

    def _sent(self, request: ProducerRequest, late: str) -> ProducerAnswer | None:
        if late:
            self.late.send(late, request)
            return None
        return self.requests.until_told(request)

    def _look(self, *, is_last: bool) -> Iterator[tuple[str, Any]]:
        given, ends = list[str](), list[tuple[int, int]]()
        for partition in range(PARTITIONS):
            of = f"of partition {partition}"
            yield f"log {of}", (log := [batch.what for batch in self.requests.log(partition)])
            yield f"last stable offset {of}", (stable := self.requests.last_stable_offset(partition))
            yield f"records {of} to read_committed", (read := self.requests.read_committed(partition))
            given += read
            ends.append((stable, len(log)))
        if is_last:
            yield from self.promised.held_against(given, ends)


def _named(error: ErrorCode, given: ProducerEpoch | None, *, tells_epoch: bool = False) -> str:
    if given is None:
        return named(Answer(error))
    return named(Answer(error, given.epoch), epoch=tells_epoch)
