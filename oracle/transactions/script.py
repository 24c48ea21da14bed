"""What happens when producers do one thing after the other? Acts, and what a release's brokers answer to each.

A script is one course of what the model of `oracle.transactions.model` searches in every order: requests of a
transactional id's producers, some of them late, and looks at what is there. Where a producer would be told to wait
(CONCURRENT_TRANSACTIONS), it asks until it is told something else, as clients do; markers are written before the next
act.

Choices: a producer adds a partition itself, before its first batch there, where the release has it so; that request
is no act of its own unless it is late, or no batch follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from oracle.transactions import leader as leaders
from oracle.transactions.play import GROUP, PARTITIONS, Play, ScriptedProducer, named
from oracle.transactions.producers import name_of
from oracle.transactions.promised import PROMISED
from oracle.transactions.state import NO_SEQUENCE, AddPartitionToTxn, EndTxn, InitProducerId, ProduceBatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.rules.transactions import TransactionRules

NO_OFFSET, UNSTABLE = "no offset", "UNSTABLE_OFFSET_COMMIT"
KEPT_BACK = "kept back"
"""What a producer is told that does not wait for the answer."""

TAKEN_OVER = "another broker takes over"

Told = tuple[str, object]
"""A question and its answer."""


class TransactionAct(Protocol):
    """One thing that happens."""

    @property
    def text(self) -> str:
        """Return it in words."""

    def play(self, play: Play) -> Iterator[Told]:
        """Let it happen in the model, and say what is answered."""


@dataclass(frozen=True, slots=True)
class Initialise:
    """A producer asks for its epoch: the first one, a new one with the same id, or one that goes on (KIP-360).

    Attributes:
        producer: which of them.
        goes_on: whether it has one already.
        timeout_s: for how long its transactions may last, in seconds; 0 for longer than any script.
        late: what the request is called that is kept back.
    """

    producer: int = 0
    goes_on: bool = False
    timeout_s: int = 0
    late: str = ""

    @property
    def text(self) -> str:
        """Return it in words."""
        timeout = f"; its transactions may last {self.timeout_s} seconds" if self.timeout_s else ""
        asks = f"{name_of(self.producer)} asks for {'its next' if self.goes_on else 'an'} epoch"
        return f"{asks}{timeout}{_kept(self.late)}"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer the error, or the epoch."""
        known = play.producers.get(self.producer)
        expected = known.epoch if self.goes_on and known is not None else None
        answer = play.sent(InitProducerId(expected), self.late)
        if answer is not None and not answer.error:
            play.producers[self.producer] = ScriptedProducer(answer.epoch)
            play.promised.began(self.producer)
        yield "answer", KEPT_BACK if answer is None else named(answer, epoch=True)


@dataclass(frozen=True, slots=True)
class Add:
    """A producer tells the coordinator that it will write to a partition: of no use where its leader does that."""

    partition: int
    producer: int = 0
    late: str = ""

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"{name_of(self.producer)} adds partition {self.partition} to its transaction{_kept(self.late)}"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer the error, where producers do this; one that was not answered adds it again before it writes."""
        if not play.rules.adds_by_produce:
            sender = play.producers[self.producer]
            answer = play.sent(AddPartitionToTxn(sender.epoch, self.partition), self.late)
            if answer is not None:
                sender.added.add(self.partition)
            yield "answer", KEPT_BACK if answer is None else named(answer)


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
            yield "answer to AddPartitionsToTxn", named(play.asked(AddPartitionToTxn(sender.epoch, self.partition)))
        sequence = sender.next_sequence(self.partition, again=self.again) + self.skips
        record = play.record(self.label, self.partition)
        answer = play.sent(ProduceBatch(sender.epoch, sequence, record), self.late)
        if answer is not None and not answer.error:
            sender.sequences[self.partition] = sequence + 1
        elif answer is None:
            sender.kept.add(self.partition)
        play.promised.sent(self.producer, self.label, is_acknowledged=answer is not None and not answer.error)
        yield "answer", KEPT_BACK if answer is None else named(answer)


@dataclass(frozen=True, slots=True)
class CommitOffset:
    """A producer commits a group's offset in its transaction.

    Attributes:
        offset: of partition 0, up to which the group has read.
        late: what the request is called that is kept back.
    """

    offset: int
    producer: int = 0
    late: str = ""

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"{name_of(self.producer)} commits the group's offset {self.offset}{_kept(self.late)}"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer the error of each request: the group is added first, where its coordinator does not do that."""
        sender = play.producers[self.producer]
        if GROUP not in sender.added and not play.rules.adds_by_produce:
            sender.added.add(GROUP)
            yield "answer to AddOffsetsToTxn", named(play.asked(AddPartitionToTxn(sender.epoch, GROUP)))
        record = play.record(str(self.offset), GROUP)
        answer = play.sent(ProduceBatch(sender.epoch, NO_SEQUENCE, record), self.late)
        yield "answer", KEPT_BACK if answer is None else named(answer)


@dataclass(frozen=True, slots=True)
class ReadOffset:
    """The group's offset is asked for, as a consumer does that does not go on from one that may still change (KIP-447).

    Attributes:
        when: what has happened, to tell one look from the other.
    """

    when: str

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"the group's offset is asked for: {self.when}"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer the offset that was committed last, that there is none, or that one may still change."""
        committed = play.given(GROUP)
        is_stable = not (play.rules.tells_unstable_offsets and play.logs[GROUP].producer.is_open)
        yield "answer", (committed[-1] if committed else NO_OFFSET) if is_stable else UNSTABLE


@dataclass(frozen=True, slots=True)
class End:
    """A producer commits, or aborts.

    Attributes:
        commits: which of them.
        late: what the request is called that is kept back.
        late_marker: what the marker for partition 0 is called that is kept back on its way; its coordinator, which has
            no answer to it, has another one written.
        fails_over: the coordinator is killed while it waits for that answer, and another one takes over.
    """

    commits: bool
    producer: int = 0
    late: str = ""
    late_marker: str = ""
    fails_over: bool = False

    @property
    def text(self) -> str:
        """Return it in words."""
        then = "its coordinator is killed, and another one takes over" if self.fails_over else "another one is sent"
        marker = f"; its marker for partition 0 is kept back as {self.late_marker!r}; {then}"
        ended = f"{name_of(self.producer)} {'commits' if self.commits else 'aborts'}{_kept(self.late)}"
        return f"{ended}{marker if self.late_marker else ''}"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer the error, or the epoch that is the producer's now."""
        sender = play.producers[self.producer]
        play.held = 0 if self.fails_over else None
        answer = play.sent(EndTxn(sender.epoch, self.commits), self.late)
        play.held = None
        is_told = answer is not None and not answer.error
        play.promised.ended(self.producer, commits=self.commits, is_told=is_told)
        if answer is not None and not answer.error:
            sender.over(answer.epoch)
        if self.late_marker and 0 in play.markers:
            play.kept[self.late_marker] = play.markers[0]
        if self.fails_over:
            play.fail_over()
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
class FailOver:
    """The broker that coordinates dies, and another one takes over: it reads the transaction log."""

    @property
    def text(self) -> str:
        """Return it in words."""
        return "the broker that coordinates is killed"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer that another one coordinates."""
        play.fail_over()
        yield "answer", TAKEN_OVER


@dataclass(frozen=True, slots=True)
class KillLeader:
    """The leader of a partition dies, and a follower is elected that has the same log, and knows from it who wrote."""

    partition: int = 0

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"the leader of partition {self.partition} is killed"

    def play(self, play: Play) -> Iterator[Told]:  # noqa: ARG002 - nothing that the model knows is lost
        """Answer that another one leads."""
        yield "answer", TAKEN_OVER


@dataclass(frozen=True, slots=True)
class TimeOut:
    """The coordinator aborts a transaction that has lasted too long; see ``Initialise``."""

    @property
    def text(self) -> str:
        """Return it in words."""
        return "the transaction has lasted too long"

    def play(self, play: Play) -> Iterator[Told]:
        """Answer what its partitions end with."""
        open_logs = [log.producer.is_open for log in play.logs[:PARTITIONS]]
        play.time_out()
        for partition, log in enumerate(play.logs[:PARTITIONS]):
            if open_logs[partition]:
                yield f"end of partition {partition}", play.worded(log, len(log.batches) - 1)


@dataclass(frozen=True, slots=True)
class ReadPartitions:
    """Consumers read both partitions.

    Attributes:
        when: what has happened, to tell one look from the other.
        is_last: nothing happens afterwards: what was promised is held against what they are given.
    """

    when: str
    is_last: bool = False

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"both partitions are read: {self.when}"

    def play(self, play: Play) -> Iterator[Told]:
        """Say what is in the logs, how far read_committed reads, and what it is given."""
        for partition, log in enumerate(play.logs[:PARTITIONS]):
            of = f"of partition {partition}"
            yield f"log {of}", [play.worded(log, offset) for offset in range(len(log.batches))]
            yield f"last stable offset {of}", leaders.last_stable_offset(log.batches)
            yield f"records {of} to read_committed", play.given(partition)
        if self.is_last:
            given = [label for partition in range(PARTITIONS) for label in play.given(partition)]
            ends = [(leaders.last_stable_offset(log.batches), len(log.batches)) for log in play.logs[:PARTITIONS]]
            yield from play.promised.held_against(given, ends)


def predict(acts: Sequence[TransactionAct], rules: TransactionRules) -> tuple[Told, ...]:
    """Play a script, and return every question with its answer; each question begins with its act's number."""
    play = Play(rules)
    return tuple(
        (asked(number, act, what), told) for number, act in enumerate(acts, 1) for what, told in act.play(play)
    )


def asked(number: int, act: TransactionAct, what: str) -> str:
    """Return a question about an act, as predictions and measurements call it; a promise is about the whole script."""
    return what if what.startswith(PROMISED) else f"{number}. {act.text}: {what}"


def _kept(late: str) -> str:
    return f", which is kept back as {late!r}" if late else ""
