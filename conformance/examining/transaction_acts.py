"""How is each act of a script of transactions done to real brokers, and what is answered?

A request that is late is kept back by the tester, who is its client: it is sent when the script says that it arrives,
as it was when it was kept back.
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
    Initialise,
    MarkAgain,
    ReadOffset,
    ReadPartitions,
    Send,
)
from oracle.transactions.state import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.clients.transactional_requests import ProducerAnswer, ProducerEpoch, TransactionalRequests
    from oracle.error_codes import ErrorCode
    from oracle.transactions.script import TransactionAct


PATIENCE_S = 2.0
"""How long an offset may change after its transaction has ended: up to 3.9 a thread applies the marker later."""


@dataclass(slots=True)
class Performance:
    """A script on real brokers.

    Attributes:
        requests: sends them.
        senders: the producers.
        kept: what is kept back, by name.
        promised: what producers have sent, asked and been told.
    """

    requests: TransactionalRequests
    senders: dict[int, ScriptedProducer[ProducerEpoch]] = field(default_factory=dict)
    kept: dict[str, Callable[[], ProducerAnswer]] = field(default_factory=dict)
    promised: PromisedRecords = field(default_factory=PromisedRecords)

    def perform(self, act: TransactionAct) -> Iterator[tuple[str, Any]]:
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
            yield "answer", _named(*self.requests.until_told(self.kept.pop(act.name)))
        elif isinstance(act, MarkAgain):
            marker = [batch for batch in self.requests.log(act.partition) if batch.coordinator_epoch is not None][-1]
            yield "answer", _named(*self.requests.until_told(lambda: self.requests.write_marker(act.partition, marker)))
        elif isinstance(act, ReadPartitions):
            yield from self._look(is_last=act.is_last)

    def _initialise(self, act: Initialise) -> str:
        former = self.senders.get(act.producer)
        known = former.epoch if act.goes_on and former is not None else None
        told = self._sent(lambda: self.requests.init_producer_id(known), act.late)
        if told is None:
            return KEPT_BACK
        error, given = told
        if not error and given is not None:
            self.senders[act.producer] = ScriptedProducer(given)
            self.promised.began(act.producer)
        return _named(error, given, tells_epoch=True)

    def _add(self, sender: ScriptedProducer[ProducerEpoch], partition: int, late: str = "") -> str:
        known = sender.epoch
        told = self._sent(lambda: self.requests.add_partition(known, partition), late)
        if told is None:
            return KEPT_BACK
        sender.added.add(partition)
        return _named(*told)

    def _send(self, act: Send) -> Iterator[tuple[str, str]]:
        sender, partition = self.senders[act.producer], act.partition
        if partition not in sender.added and not self.requests.has_epochs:
            yield "answer to AddPartitionsToTxn", self._add(sender, partition)
        sequence, known = sender.next_sequence(partition, again=act.again) + act.skips, sender.epoch
        told = self._sent(lambda: self.requests.produce(known, sequence, partition, act.label), act.late)
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
            added = self.requests.until_told(lambda: self.requests.add_offsets(known))
            yield "answer to AddOffsetsToTxn", _named(*added)
        told = self._sent(lambda: self.requests.commit_offset(known, act.offset), act.late)
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
        told = self._sent(lambda: self._ended(known, commits=act.commits), act.late)
        self.promised.ended(act.producer, commits=act.commits, is_told=told is not None and not told[0])
        if told is None:
            return KEPT_BACK
        error, given = told
        if not error:
            sender.over(given or known)
        return _named(error, given, tells_epoch=self.requests.has_epochs)

    def _ended(self, known: ProducerEpoch, *, commits: bool) -> ProducerAnswer:
        """End a transaction, and ask again until its markers are written: until then it is told to wait."""
        told = self.requests.end(known, commits=commits)
        if not told[0]:
            self.requests.until_told(lambda: self.requests.end(known, commits=commits))
        return told

    def _sent(self, ask: Callable[[], ProducerAnswer], late: str) -> ProducerAnswer | None:
        if late:
            self.kept[late] = ask
            return None
        return self.requests.until_told(ask)

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
