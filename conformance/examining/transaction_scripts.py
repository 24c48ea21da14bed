"""Which scripts of transactions are in the catalogue, and what do real coordinators and leaders answer to them?

One script, two interpreters: `oracle.transactions.script` has the acts and what is predicted, `transaction_acts` what
is done to brokers.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, QuestionAnswer
from conformance.clients.transactional_requests import TransactionalRequests
from conformance.examining.examination_cluster import examination_cluster
from conformance.examining.late_requests import LateRequests
from conformance.examining.transaction_acts import Performance
from conformance.examining.transaction_course import course_of
from conformance.examining.transaction_failures import BROKERS, BrokerFailures, have_coordinators_replicated
from conformance.record.directory import slug
from fault_injection.cluster.client_links import relayed_client_address
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.waiting import DeadlineExceededError
from oracle.rules.transactions import TRANSACTION_FEATURE, swaps_of, transaction_rules
from oracle.transactions.courses import check_possible
from oracle.transactions.play import PARTITIONS
from oracle.transactions.script import (
    Add,
    CommitOffset,
    Deliver,
    ElectUncleanly,
    End,
    FailOver,
    Initialise,
    KillLeader,
    LoseFollower,
    ReadOffset,
    ReadPartitions,
    Send,
    TimeOut,
    asked,
    predict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.record.transaction_course import TransactionCourse
    from oracle.rules.rule_set import RuleSet
    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.script import TransactionAct


@dataclass(frozen=True, slots=True)
class TransactionScript:
    """A script, on a cluster with the transaction.version of new clusters unless another is asked for.

    Attributes:
        acts: what happens.
        level: transaction.version; None for what the release's new clusters have.
    """

    acts: tuple[TransactionAct, ...]
    level: int | None = None

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        begin = f"create a topic with {PARTITIONS} partitions of three replicas"
        level = () if self.level is None else (f"format a cluster with {TRANSACTION_FEATURE} {self.level}",)
        return (*level, begin, *(act.text for act in self.acts))

    def at_level(self, level: int | None) -> TransactionScript:
        """Return the same acts on a cluster with another transaction.version."""
        return replace(self, level=level)

    def rules(self, rules: RuleSet) -> TransactionRules:
        """Return the release's rules of transactions."""
        return transaction_rules(swaps_of(rules.version), self.level)

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Play it by the release's rules.

        Raises:
            ActError: an act is impossible by these rules.
        """
        check_possible(self.acts, own := self.rules(rules))
        return tuple(QuestionAnswer(what, told) for what, told in predict(self.acts, own))  # type: ignore[arg-type]

    def course(self, rules: RuleSet) -> TransactionCourse:
        """Play it by the release's rules, and keep what each request does."""
        is_replayed = not any(isinstance(act, ElectUncleanly) for act in self.acts)
        return replace(course_of(self.acts, self.rules(rules)), level=self.level, is_replayed=is_replayed)

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Send it to real brokers.

        Raises:
            NotSeenError: an act did not come to its end.
        """
        with _performed(context, self) as performance:
            for number, act in enumerate(self.acts, 1):
                context.progress(act.text)
                try:
                    for what, told in performance.perform(act):
                        yield QuestionAnswer(asked(number, act, what), told)
                except DeadlineExceededError as waited:
                    raise NotSeenError(f"{act.text}: {waited}") from waited


@contextmanager
def _performed(context: ExaminationContext, script: TransactionScript) -> Iterator[Performance]:
    features = {} if script.level is None else {TRANSACTION_FEATURE: script.level}
    rules = script.rules(context.rules)
    spec = ClusterSpec(context.release, context.metadata, features=features, client_links=True)
    topic = slug(context.run.path.name)
    with examination_cluster(context, spec) as place:
        have_coordinators_replicated(place)
        with TransactionalRequests(
            lambda broker: relayed_client_address(place.cluster, broker),
            BROKERS[:PARTITIONS],
            topic,
            f"{topic}-id",
            rules.transaction_version,
        ) as requests:
            leaders = _apart_from_coordinator(requests)
            with (
                place.topic(topic, *_replicas(script, leaders)),
                closing(BrokerFailures(place, requests, topic)) as failures,
                closing(LateRequests(requests, place.gate, topic)) as late,
            ):
                yield Performance(requests, late, failures)


def _replicas(
    script: TransactionScript, leaders: tuple[int, ...]
) -> tuple[list[tuple[int, ...]], dict[str, str] | None]:
    """Return who has each partition, and the topic's settings: two brokers each where one is to be led uncleanly."""
    spread = [(leader, *(one for one in BROKERS if one != leader)) for leader in leaders]
    if not any(isinstance(act, LoseFollower) for act in script.acts):
        return spread, None
    coordinator = next(broker for broker in BROKERS if broker not in leaders)
    return [leaders, (*leaders[1:], coordinator)], {"unclean.leader.election.enable": "true"}


def _apart_from_coordinator(requests: TransactionalRequests) -> tuple[int, ...]:
    """Have the partitions led by those who do not coordinate, so that each can die without the other."""
    leaders = tuple(broker for broker in BROKERS if broker != requests.coordinator())[:PARTITIONS]
    for partition, leader in enumerate(leaders):
        requests.moved(partition, leader)
    return leaders


# The scripts of the catalogue.

A1 = (Initialise(), Send("a1"))
END = ReadPartitions("at the end", is_last=True)
LATE, FIRST, FIRST_OFFSET = "the first one", "the first batch", "the first offset"
MARKER = "the first marker"

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
        ReadPartitions("while the first transaction is open"),
        End(commits=True),
        Send("a2"),
        Send("b2", 1),
        ReadPartitions("while the second transaction is open"),
        End(commits=True),
        END,
    )
)


def _late_end(*, commits: bool) -> tuple[TransactionAct, ...]:
    ends = (End(commits=commits, late=LATE), End(commits=commits))
    return (*A1, *ends, Send("a2"), Deliver(LATE), Send("b2", 1), End(commits=not commits), END)


LATE_COMMIT = TransactionScript(_late_end(commits=True))
LATE_ABORT = TransactionScript(_late_end(commits=False))
LATE_COMMIT_VERSION_1 = TransactionScript(_late_end(commits=True), level=1)
LATE_ABORT_VERSION_1 = TransactionScript(_late_end(commits=False), level=1)
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
JOINS_VERSION_1 = TransactionScript(JOINS.acts, level=1)
COMMITS = End(commits=True, late_marker=MARKER)
LATE_MARKER = TransactionScript((*A1, COMMITS, Send("a2"), Deliver(MARKER), End(commits=False), END))
WRITTEN_TWICE = TransactionScript((*A1, COMMITS, Deliver(MARKER), Send("a2"), End(commits=True), END))
OFFSETS = TransactionScript(
    (
        *A1,
        CommitOffset(1),
        ReadOffset("while the first transaction is open"),
        End(commits=True),
        ReadOffset("once it has committed"),
        Send("a2"),
        CommitOffset(2),
        End(commits=False),
        ReadOffset("once the second one has aborted"),
        END,
    )
)
LATE_OFFSET = TransactionScript(
    (
        *A1,
        CommitOffset(1, late=FIRST_OFFSET),
        End(commits=False),
        Deliver(FIRST_OFFSET),
        ReadOffset("once it has arrived"),
        END,
    )
)

# Somebody dies, or takes too long.

LOST_WHILE_OPEN = TransactionScript((*A1, FailOver(), Send("b1", 1), End(commits=True), END))
LOST_WHILE_ENDING = TransactionScript(
    (
        *A1,
        Send("b1", 1),
        End(commits=True, late_marker=MARKER, fails_over=True),
        Send("a2"),
        Deliver(MARKER),
        End(commits=False),
        END,
    )
)
TOO_LONG = TransactionScript(
    (
        Initialise(timeout_s=2),
        Send("a1"),
        Send("b1", 1),
        TimeOut(),
        Send("a2"),
        End(commits=True),
        Initialise(goes_on=True),
        Initialise(),
        Send("a3"),
        End(commits=True),
        END,
    )
)
ANOTHER_LEADS = TransactionScript(
    (*A1, Send("a2"), KillLeader(), Send("a2", again=True), Send("a3"), End(commits=True), END)
)
MARKER_LOST = TransactionScript(
    (
        *A1,
        LoseFollower(),
        End(commits=True),
        ReadPartitions("once it has committed"),
        ElectUncleanly(),
        END,
    )
)
