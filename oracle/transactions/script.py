"""What happens when producers do one thing after the other? Acts, and what a release's brokers answer to each.

A script is one course of what the model of `oracle.transactions.model` searches in every order: requests of a
transactional id's producers, some of them late, and looks at what is there. Where a producer would be told to wait
(CONCURRENT_TRANSACTIONS), it asks until it is told something else, as clients do; markers are written before the next
act.

Choices: a producer adds a partition itself, before its first batch there, where the release has it so; that request
is no act of its own unless it is late, or no batch follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from oracle.error_codes import ErrorCode
from oracle.transactions import coordinator as coordinators
from oracle.transactions import leader as leaders
from oracle.transactions.state import (
    AddPartition,
    Answer,
    Coordinator,
    EndTransaction,
    InitProducerId,
    PartitionLog,
    Produce,
    Record,
    WriteMarker,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.transactions.rules import TransactionRules
    from oracle.transactions.state import Request

PARTITIONS = 2
KEPT_BACK = "kept back"
"""What a producer is told that does not wait for the answer."""
COMMIT, ABORT = "COMMIT", "ABORT"
"""What a marker is called where a log is told."""

Told = tuple[str, object]
"""A question and its answer."""


class Act(Protocol):
    """One thing that happens."""

    @property
    def text(self) -> str:
        """Return it in words."""

    def play(self, play: Play) -> Iterator[Told]:
        """Let it happen in the model, and say what is answered."""


@dataclass(frozen=True, slots=True)
class Initialise:
    """A producer asks for its epoch: the first one, a new one with the same id, or one that goes on (KIP-360)."""

    producer: int = 0
    goes_on: bool = False

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"{name_of(self.producer)} asks for {'its next' if self.goes_on else 'an'} epoch"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer the error, or the epoch."""
        known = play.producers.get(self.producer)
        answer = play.asked(InitProducerId(known.epoch if self.goes_on and known is not None else None))
        if not answer.error:
            play.producers[self.producer] = Sender(answer.epoch)
        yield "answer", named(answer, epoch=True)


@dataclass(frozen=True, slots=True)
class Add:
    """A producer tells the coordinator that it will write to a partition: of no use where its leader does that."""

    partition: int
    producer: int = 0

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"{name_of(self.producer)} adds partition {self.partition} to its transaction"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer the error, where producers do this."""
        if not play.rules.adds_by_produce:
            sender = play.producers[self.producer]
            sender.added.add(self.partition)
            yield "answer", named(play.asked(AddPartition(sender.epoch, self.partition)))


@dataclass(frozen=True, slots=True)
class Send:
    """A producer sends a record.

    Attributes:
        label: the record.
        partition: where to.
        late: what a request is called that is kept back; its producer does not wait for it.
        again: the record has the sequence number of the one before it, as it is the same, or that one was given up.
        skips: sequence numbers that are left out.
    """

    label: str
    partition: int = 0
    producer: int = 0
    late: str = ""
    again: bool = False
    skips: int = 0

    @property
    def text(self) -> str:
        """Return it in words."""
        how = " with the sequence number of the last one" if self.again else ""
        left_out = f", leaving out {self.skips} sequence numbers" if self.skips else ""
        sent = f"{name_of(self.producer)} sends {self.label} to partition {self.partition}"
        return f"{sent}{how}{left_out}{_kept(self.late)}"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer the error, or that it was appended."""
        sender = play.producers[self.producer]
        if self.partition not in sender.added and not play.rules.adds_by_produce:
            sender.added.add(self.partition)
            yield "answer to AddPartitionsToTxn", named(play.asked(AddPartition(sender.epoch, self.partition)))
        sequence = sender.next_sequence(self.partition, again=self.again) + self.skips
        record = play.record(self.label, self.partition)
        answer = play.sent(Produce(sender.epoch, sequence, record), self.late)
        if answer is not None and not answer.error:
            sender.sequences[self.partition] = sequence + 1
        elif answer is None:
            sender.kept.add(self.partition)
        yield "answer", KEPT_BACK if answer is None else named(answer)


@dataclass(frozen=True, slots=True)
class End:
    """A producer commits, or aborts."""

    commits: bool
    producer: int = 0
    late: str = ""

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"{name_of(self.producer)} {'commits' if self.commits else 'aborts'}{_kept(self.late)}"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer the error, or the epoch that is the producer's now."""
        sender = play.producers[self.producer]
        answer = play.sent(EndTransaction(sender.epoch, self.commits), self.late)
        if answer is not None and not answer.error:
            sender.over(answer.epoch)
        yield "answer", KEPT_BACK if answer is None else named(answer, epoch=play.rules.bumps_at_end)


@dataclass(frozen=True, slots=True)
class Deliver:
    """A request is delivered that was kept back."""

    name: str

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"what was kept back as {self.name!r} arrives"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer what nobody waits for any more."""
        yield "answer", named(play.asked(play.kept.pop(self.name)))


@dataclass(frozen=True, slots=True)
class MarkAgain:
    """The last marker of a partition arrives a second time, as one does whose answer its coordinator did not get."""

    partition: int = 0

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"the last marker of partition {self.partition} arrives again"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer the error."""
        yield "answer", named(play.asked(play.markers[self.partition]))


@dataclass(frozen=True, slots=True)
class Look:
    """Consumers read both partitions.

    Attributes:
        when: what has happened, to tell one look from the other.
    """

    when: str

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"both partitions are read: {self.when}"

    def play(self, play: Play) -> Iterator[Told]:
        """Say what is in the logs, how far read_committed reads, and what it is given."""
        for partition, log in enumerate(play.logs):
            of = f"of partition {partition}"
            yield f"log {of}", [play.worded(log, offset) for offset in range(len(log.batches))]
            yield f"last stable offset {of}", leaders.last_stable_offset(log.batches)
            yield f"records {of} to read_committed", [play.labels[one] for one in leaders.read_committed(log.batches)]


@dataclass(slots=True)
class Sender:
    """A producer with an epoch.

    Attributes:
        epoch: its epoch.
        sequences: by partition the next sequence number.
        added: partitions that it has added to its transaction.
        kept: partitions of whose last batch it does not know what became.
    """

    epoch: int
    sequences: dict[int, int] = field(default_factory=dict)
    added: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)

    def next_sequence(self, partition: int, *, again: bool) -> int:
        """Return the next sequence number; of a batch that was kept back it is still the next one."""
        following = self.sequences.get(partition, 0)
        return following - 1 if again and partition not in self.kept else following

    def over(self, epoch: int) -> None:
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
        logs: of the partitions.
        producers: those that have an epoch.
        kept: requests that are kept back, by name.
        markers: the last marker of each partition.
        labels: of the records.
    """

    rules: TransactionRules
    coordinator: Coordinator = field(default_factory=Coordinator)
    logs: list[PartitionLog] = field(default_factory=lambda: [PartitionLog()] * PARTITIONS)
    producers: dict[int, Sender] = field(default_factory=dict)
    kept: dict[str, Request] = field(default_factory=dict)
    markers: dict[int, WriteMarker] = field(default_factory=dict)
    labels: dict[Record, str] = field(default_factory=dict)

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
        if isinstance(request, InitProducerId):
            self.coordinator, answer = coordinators.init_producer_id(self.coordinator, self.rules, request)
        elif isinstance(request, AddPartition):
            self.coordinator, answer = coordinators.add_partition(self.coordinator, self.rules, request)
        elif isinstance(request, EndTransaction):
            self.coordinator, answer = coordinators.end(self.coordinator, self.rules, request)
        elif isinstance(request, WriteMarker):
            answer = self._marked(request)
        else:
            partition = request.record.partition
            self.logs[partition], self.coordinator, answer = leaders.produce(
                self.logs[partition], self.coordinator, self.rules, request
            )
        return answer

    def _marked(self, marker: WriteMarker) -> Answer:
        self.logs[marker.partition], answer = leaders.write_marker(self.logs[marker.partition], self.rules, marker)
        return answer

    def _settle(self) -> None:
        for marker in coordinators.markers(self.coordinator):
            self.markers[marker.partition] = marker
            self.coordinator = coordinators.marker_answered(self.coordinator, marker, self._marked(marker))

    def worded(self, log: PartitionLog, offset: int) -> str:
        """Return what stands at an offset: a label, or what a marker says."""
        batch = log.batches[offset]
        if batch.record is None:
            return COMMIT if batch.commits else ABORT
        return self.labels[batch.record]


def predict(acts: Sequence[Act], rules: TransactionRules) -> tuple[Told, ...]:
    """Play a script, and return every question with its answer; each question begins with its act's number."""
    play = Play(rules)
    return tuple(
        (asked(number, act, what), told) for number, act in enumerate(acts, 1) for what, told in act.play(play)
    )


def asked(number: int, act: Act, what: str) -> str:
    """Return a question about an act, as predictions and measurements call it."""
    return f"{number}. {act.text}: {what}"


def named(answer: Answer, *, epoch: bool = False) -> str:
    """Return an answer in words: the error's name, or that there was none, and the epoch if it tells one."""
    if answer.error:
        return answer.error.name
    return f"epoch {answer.epoch}" if epoch else "NONE"


def name_of(producer: int) -> str:
    """Return what a producer is called."""
    return "the producer" if producer == 0 else f"producer {producer + 1}"


def _kept(late: str) -> str:
    return f", which is kept back as {late!r}" if late else ""
