"""How does the model play a script of transactions? Request by request, with all markers written before the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from oracle.error_codes import ErrorCode
from oracle.transactions import coordinator as coordinators
from oracle.transactions import leader as leaders
from oracle.transactions.promised import PromisedRecords
from oracle.transactions.state import (
    Answer,
    Coordinator,
    PartitionLog,
    Record,
    TxnPhase,
    WriteTxnMarker,
)

if TYPE_CHECKING:
    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.state import Request

PARTITIONS = 2
GROUP = PARTITIONS
"""The partition of the group's offsets, behind those of the topic."""
COMMIT, ABORT = "COMMIT", "ABORT"
"""What a marker is called where a log is told."""


Epoch = TypeVar("Epoch")


@dataclass(slots=True)
class ScriptedProducer(Generic[Epoch]):
    """A producer with an epoch, as both interpreters of a script speak for it.

    Attributes:
        epoch: its epoch, alone in the model, with its producer id on brokers.
        sequences: by partition the next sequence number.
        added: partitions that it has added to its transaction.
        kept: partitions of whose last batch it does not know what became.
    """

    epoch: Epoch
    sequences: dict[int, int] = field(default_factory=dict)
    added: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)

    def next_sequence(self, partition: int, *, again: bool) -> int:
        """Return the next sequence number; of a batch that was kept back it is still the next one."""
        following = self.sequences.get(partition, 0)
        return following - 1 if again and partition not in self.kept else following

    def over(self, epoch: Epoch) -> None:
        """End the transaction; a new epoch begins its sequence numbers anew."""
        if epoch != self.epoch:
            self.epoch, self.sequences = epoch, {}
        self.added = set()


@dataclass(slots=True)
class Play:
    """The model while a script is played.

    Attributes:
        rules: the release's.
        coordinator: of the transactional id.
        logs: of the topic's partitions, and of the group's offsets.
        producers: those that have an epoch.
        kept: requests that are kept back, by name.
        markers: the last marker of each partition.
        labels: of the records.
        promised: what producers have sent, asked and been told.
        held: the partition whose markers do not arrive, if any.
    """

    rules: TransactionRules
    coordinator: Coordinator = field(default_factory=Coordinator)
    logs: tuple[PartitionLog, ...] = (PartitionLog(),) * (PARTITIONS + 1)
    producers: dict[int, ScriptedProducer[int]] = field(default_factory=dict)
    kept: dict[str, Request] = field(default_factory=dict)
    markers: dict[int, WriteTxnMarker] = field(default_factory=dict)
    labels: dict[Record, str] = field(default_factory=dict)
    promised: PromisedRecords = field(default_factory=PromisedRecords)
    held: int | None = None

    def record(self, label: str, partition: int) -> Record:
        """Return the record of a label: the same one if it is sent twice."""
        known = next((one for one, name in self.labels.items() if name == label), None)
        record = known or Record(len(self.labels), partition)
        self.labels[record] = label
        return record

    def sent(self, request: Request, late: str) -> Answer | None:
        """Deliver a request, or keep it back: then it has no answer."""
        if late:
            self.kept[late] = request
            return None
        return self.asked(request)

    def asked(self, request: Request) -> Answer:
        """Deliver a request until the answer is not to wait, and have all markers written."""
        answer = self._delivered(request)
        self._settle()
        if answer.error is ErrorCode.CONCURRENT_TRANSACTIONS:
            answer = self._delivered(request)
            self._settle()
        return answer

    def _delivered(self, request: Request) -> Answer:
        self.coordinator, self.logs, answer = leaders.delivered(self.coordinator, self.logs, self.rules, request)
        return answer

    def _settle(self) -> None:
        for marker in coordinators.markers(self.coordinator):
            self.markers[marker.partition] = marker
            if marker.partition == self.held:
                continue
            answer = self._delivered(marker)
            self.coordinator = coordinators.marker_answered(self.coordinator, marker, answer)

    def fail_over(self) -> None:
        """Let another coordinator take over, and have the markers written that it finds missing."""
        self.coordinator = coordinators.fail_over(self.coordinator)
        self._settle()

    def time_out(self) -> None:
        """Have the coordinator abort a transaction that lasts too long."""
        if self.coordinator.phase is TxnPhase.ONGOING:
            self.coordinator = coordinators.fence(self.coordinator, self.rules)
            self._settle()

    def given(self, partition: int) -> list[str]:
        """Return the labels that consumers of committed records are given."""
        return [self.labels[record] for record in leaders.read_committed(self.logs[partition].batches)]

    def worded(self, log: PartitionLog, offset: int) -> str:
        """Return what stands at an offset: a label, or what a marker says."""
        batch = log.batches[offset]
        if batch.record is None:
            return COMMIT if batch.commits else ABORT
        return self.labels[batch.record]


def named(answer: Answer, *, epoch: bool = False) -> str:
    """Return an answer in words: the error's name, or that there was none, and the epoch if it tells one."""
    if answer.error:
        return answer.error.name
    return f"epoch {answer.epoch}" if epoch else "NONE"
