"""What do real coordinators and leaders answer to a script of transactions, and what do consumers read then?

One script, two interpreters: `oracle.transactions.script` has the acts and what is predicted; here each act is sent to
brokers. A request that is late is kept back by the tester, who is its client: it is sent when the script says that it
arrives, as it was when it was kept back.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.catalogue.questions import QuestionAnswer
from conformance.clients.transactional_requests import ProducerEpoch, TransactionalRequests
from conformance.examining.examination_cluster import examination_cluster
from conformance.record.directory import slug
from fault_injection.cluster.spec import ClusterSpec
from oracle.error_codes import ErrorCode
from oracle.rules.release import plain_version
from oracle.transactions.rules import transaction_rules
from oracle.transactions.script import (
    KEPT_BACK,
    PARTITIONS,
    Add,
    Deliver,
    End,
    Initialise,
    Look,
    MarkAgain,
    Send,
    asked,
    predict,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.clients.transactional_requests import Answer
    from conformance.examining.context import ExaminationContext
    from oracle.rules.rule_set import RuleSet
    from oracle.transactions.rules import TransactionRules
    from oracle.transactions.script import Act

FEATURE = "transaction.version"
EVERY_TRANSACTION_ITS_EPOCH = 2
"""The level from which on clients let Produce add its partition, and EndTxn begin the next epoch."""
LEADERS = (1, 2)
"""Of the topic's partitions."""
REPLICAS = ((1, 2, 3), (2, 3, 1))


@dataclass(frozen=True, slots=True)
class TransactionScript:
    """A script, on a cluster with the transaction.version of new clusters unless another is asked for.

    Attributes:
        acts: what happens.
        level: transaction.version; None for what the release's new clusters have.
    """

    acts: tuple[Act, ...]
    level: int | None = None

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        begin = f"create a topic with {PARTITIONS} partitions of three replicas"
        level = () if self.level is None else (f"format a cluster with {FEATURE} {self.level}",)
        return (*level, begin, *(act.text for act in self.acts))

    def rules(self, rules: RuleSet) -> TransactionRules:
        """Return the release's rules of transactions."""
        return transaction_rules(plain_version(rules.version), self.level)

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Play it by the release's rules."""
        return tuple(QuestionAnswer(what, told) for what, told in predict(self.acts, self.rules(rules)))  # type: ignore[arg-type]

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Send it to real brokers."""
        with _performed(context, self) as performance:
            for number, act in enumerate(self.acts, 1):
                context.progress(act.text)
                for what, told in performance.perform(act):
                    yield QuestionAnswer(asked(number, act, what), told)


@contextmanager
def _performed(context: ExaminationContext, script: TransactionScript) -> Iterator[Performance]:
    features = {} if script.level is None else {FEATURE: script.level}
    rules = script.rules(context.rules)
    spec = ClusterSpec(context.release, context.metadata, features=features)
    topic = slug(context.run.path.name)
    with (
        examination_cluster(context, spec) as place,
        place.topic(topic, REPLICAS),
        TransactionalRequests(
            place.cluster.client_address, LEADERS, topic, f"{topic}-id", rules.transaction_version
        ) as requests,
    ):
        yield Performance(requests, has_epochs=rules.transaction_version >= EVERY_TRANSACTION_ITS_EPOCH)


@dataclass(slots=True)
class Sender:
    """A producer as the tester speaks for it: its epoch, its next sequence numbers, what it has added and kept back."""

    known: ProducerEpoch
    sequences: dict[int, int] = field(default_factory=dict)
    added: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Performance:
    """A script on real brokers.

    Attributes:
        requests: sends them.
        has_epochs: whether the cluster's clients end every transaction with its epoch, and add no partition.
        senders: the producers.
        kept: what is kept back, by name.
    """

    requests: TransactionalRequests
    has_epochs: bool
    senders: dict[int, Sender] = field(default_factory=dict)
    kept: dict[str, Callable[[], Answer]] = field(default_factory=dict)

    def perform(self, act: Act) -> Iterator[tuple[str, Any]]:
        """Do one thing, and yield what was answered."""
        if isinstance(act, Initialise):
            yield "answer", self._initialise(act)
        elif isinstance(act, Add) and not self.has_epochs:
            yield "answer", self._add(self.senders[act.producer], act.partition)
        elif isinstance(act, Send):
            yield from self._send(act)
        elif isinstance(act, End):
            yield "answer", self._end(act)
        elif isinstance(act, Deliver):
            yield "answer", _named(*self.requests.until_told(self.kept.pop(act.name)))
        elif isinstance(act, MarkAgain):
            marker = [batch for batch in self.requests.log(act.partition) if batch.coordinator_epoch is not None][-1]
            yield "answer", _named(*self.requests.until_told(lambda: self.requests.write_marker(act.partition, marker)))
        elif isinstance(act, Look):
            yield from self._look()

    def _initialise(self, act: Initialise) -> str:
        former = self.senders.get(act.producer)
        known = former.known if act.goes_on and former is not None else None
        error, given = self.requests.until_told(lambda: self.requests.init_producer_id(known))
        if not error and given is not None:
            self.senders[act.producer] = Sender(given)
        return _named(error, given, tells_epoch=True)

    def _add(self, sender: Sender, partition: int) -> str:
        sender.added.add(partition)
        return _named(*self.requests.until_told(lambda: self.requests.add_partition(sender.known, partition)))

    def _send(self, act: Send) -> Iterator[tuple[str, str]]:
        sender, partition = self.senders[act.producer], act.partition
        if partition not in sender.added and not self.has_epochs:
            yield "answer to AddPartitionsToTxn", self._add(sender, partition)
        following = sender.sequences.get(partition, 0)
        is_sent_again = act.again and partition not in sender.kept
        sequence, known = following - is_sent_again + act.skips, sender.known
        told = self._sent(lambda: self.requests.produce(known, sequence, partition, act.label), act.late)
        if told is None:
            sender.kept.add(partition)
            yield "answer", KEPT_BACK
            return
        if not told[0]:
            sender.sequences[partition] = sequence + 1
        yield "answer", _named(*told)

    def _end(self, act: End) -> str:
        sender = self.senders[act.producer]
        known = sender.known
        told = self._sent(lambda: self._ended(known, commits=act.commits), act.late)
        if told is None:
            return KEPT_BACK
        error, given = told
        if not error:
            is_new = given is not None and given != known
            self.senders[act.producer] = Sender(given, kept=sender.kept) if is_new and given is not None else sender
            self.senders[act.producer].added = set()
        return _named(error, given, tells_epoch=self.has_epochs)

    def _ended(self, known: ProducerEpoch, *, commits: bool) -> Answer:
        """End a transaction, and ask again until its markers are written: until then it is told to wait."""
        told = self.requests.end(known, commits=commits)
        if not told[0]:
            self.requests.until_told(lambda: self.requests.end(known, commits=commits))
        return told

    def _sent(self, ask: Callable[[], Answer], late: str) -> Answer | None:
        if late:
            self.kept[late] = ask
            return None
        return self.requests.until_told(ask)

    def _look(self) -> Iterator[tuple[str, Any]]:
        for partition in range(PARTITIONS):
            of = f"of partition {partition}"
            yield f"log {of}", [batch.what for batch in self.requests.log(partition)]
            yield f"last stable offset {of}", self.requests.last_stable_offset(partition)
            yield f"records {of} to read_committed", self.requests.read_committed(partition)


def _named(error: ErrorCode, given: ProducerEpoch | None, *, tells_epoch: bool = False) -> str:
    if error:
        return error.name
    return f"epoch {given.epoch}" if tells_epoch and given is not None else ErrorCode.NONE.name


# The scripts of the catalogue.

A1 = (Initialise(), Send("a1"))
END = Look("at the end")
LATE, FIRST = "the first one", "the first batch"

TAKEN_OVER = TransactionScript(
    (
        *A1,
        Initialise(1),
        Send("a2"),
        End(commits=True),
        Send("b1", producer=1),
        End(commits=True, producer=1),
        END,
    )
)
GOES_ON = TransactionScript(
    (
        *A1,
        Send("a2", late=FIRST),
        End(commits=False),
        Initialise(goes_on=True),
        Send("a3"),
        Deliver(FIRST),
        End(commits=True),
        END,
    )
)
SENT_AGAIN = TransactionScript(
    (*A1, Send("a2"), Send("a2", again=True), Send("a3"), End(commits=True), END),
)
LEFT_OUT = TransactionScript(
    (*A1, Send("a2", skips=2), Send("b1", 1, skips=3), End(commits=False), END),
)
ALL_OR_NOTHING = TransactionScript(
    (
        *A1,
        Send("b1", 1),
        End(commits=True),
        Send("a2"),
        Send("b2", 1),
        End(commits=False),
        Send("b3", 1),
        End(commits=True),
        END,
    )
)
OPEN = TransactionScript(
    (
        *A1,
        Look("while the first transaction is open"),
        End(commits=True),
        Send("a2"),
        Send("b2", 1),
        Look("while the second transaction is open"),
        End(commits=True),
        END,
    )
)


def _late_end(*, commits: bool) -> tuple[Act, ...]:
    ends = (End(commits=commits, late=LATE), End(commits=commits))
    return (*A1, *ends, Send("a2"), Deliver(LATE), Send("b2", 1), End(commits=not commits), END)


LATE_COMMIT = TransactionScript(_late_end(commits=True))
LATE_ABORT = TransactionScript(_late_end(commits=False))
LATE_COMMIT_VERSION_1 = TransactionScript(_late_end(commits=True), level=1)
HANGS = TransactionScript(
    (
        Initialise(),
        Send("a1", late=FIRST),
        End(commits=False),
        Deliver(FIRST),
        END,
    )
)
JOINS = TransactionScript(
    (
        Initialise(),
        Send("a1", late=FIRST),
        End(commits=False),
        Add(0),
        Deliver(FIRST),
        Send("a2", again=True),
        End(commits=True),
        END,
    )
)
LATE_MARKER = TransactionScript((*A1, End(commits=True), Send("a2"), MarkAgain(), End(commits=False), END))
WRITTEN_TWICE = TransactionScript((*A1, End(commits=True), MarkAgain(), Send("a2"), End(commits=True), END))
