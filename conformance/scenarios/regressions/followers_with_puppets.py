"""Which defects does a follower show among puppets? Logs that begin late or end later, and an epoch without records."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from conformance.catalogue.examination import Examination
from conformance.catalogue.questions import Answer
from conformance.puppet_stage.where import WITH_PUPPETS
from conformance.scenarios.regressions.defect import FAMILY
from conformance.scenarios.regressions.one_broker import REPLICAS, OneBroker
from fault_injection.puppets.connection import PuppetError
from fault_injection.puppets.records import Batch, batches
from fault_injection.puppets.served import OFFSET_OUT_OF_RANGE, Served
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.views import NONE, EpochEnd, FetchPartition
from oracle.rules.ahead_of_leader import WhenAhead
from oracle.rules.by_version import rules_for
from oracle.rules.release import parse_version
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fault_injection.puppets.leader import LeaderPuppet
    from fault_injection.puppets.run import PuppetRun
    from fault_injection.puppets.topic import PuppetTopic
    from oracle.rules.rule_set import RuleSet

REAL, LEADER, NEXT_LEADER = REPLICAS
EPOCH = 5
RECORDS = (b"a", b"b", b"c")
LOG_START = 5
DECIDED = "the error with which it takes the leadership, none is 0"
APPENDED = "the error and the offset of the first record that it is sent"
GOES_ON = "whether it fetches at its new leader's log end"
RUNS = "whether its process still runs"
FETCHES = "whether it ever comes to fetch"
LONG_S, SHORT_S, EXIT_S = 30.0, 5.0, 15.0
"""How long a fetch that is expected may take, how long none must come, and how long a process may take to end."""
OLD_EPOCH, MIDDLE_EPOCH = 3, 4
LOOPS_SINCE, ENDS_SINCE = (2, 0, 1), (2, 6, 1)


@dataclass(frozen=True, slots=True)
class _OffsetsOnly(Served):
    """A leader that tells where its log begins and ends, and nothing of what is in it."""

    @override
    def error_for(self, current_leader_epoch: int) -> int:
        """Give the error code of every fetch, whatever epoch it claims."""
        del current_leader_epoch
        return OFFSET_OUT_OF_RANGE


def _takes_leadership(rules: RuleSet) -> tuple[Answer, ...]:
    is_broken = parse_version(rules.version) == (2, 4, 0)
    return (
        Answer(DECIDED, OFFSET_OUT_OF_RANGE if is_broken else 0),
        Answer(APPENDED, [OFFSET_OUT_OF_RANGE, NONE] if is_broken else [0, LOG_START]),
    )


def _lead_after_full_truncation(run: PuppetRun, topic: PuppetTopic) -> Iterator[Answer]:
    leader = run.leader(LEADER)
    leader.serve(topic, _OffsetsOnly((Batch(LOG_START, EPOCH, RECORDS),), LOG_START + len(RECORDS)))
    run.controller.decide(topic.led_by(LEADER, EPOCH))
    leader.await_fetch(topic, LOG_START)
    answer = run.controller.decide(topic.led_by(REAL, EPOCH + 1, isr=(REAL,)))
    yield Answer(DECIDED, next((error for error in (answer.error, *(p.error for p in answer.partitions)) if error), 0))
    yield Answer(APPENDED, list(run.client.append(topic, b"d")))


def _gives_up(rules: RuleSet) -> tuple[Answer, ...]:
    ends = rules.when_ahead is WhenAhead.BROKER_ENDS
    return Answer(GOES_ON, rules.when_ahead is WhenAhead.CUTS), Answer(RUNS, not ends)


def _follow_a_shorter_log(run: PuppetRun, topic: PuppetTopic) -> Iterator[Answer]:
    first, second = run.leader(LEADER), run.leader(NEXT_LEADER)
    first.serve(topic, Served(batches((EPOCH, RECORDS)), high_watermark=len(RECORDS)))
    run.controller.decide(topic.led_by(LEADER, EPOCH))
    first.await_fetch(topic, len(RECORDS))
    second.serve(topic, Served(batches((EPOCH, RECORDS[:1])), high_watermark=1))
    goes_on = _expects(run, _gives_up)
    with nullcontext() if goes_on else suppress(PuppetError):  # who gives up may close its connections unanswered
        run.controller.decide(topic.led_by(NEXT_LEADER, EPOCH + 1))
    until(lambda: _has_fetched_at(second, topic, len(RECORDS)), deadline_s=LONG_S, what="a fetch beyond the log end")
    try:
        second.await_fetch(topic, 1, LONG_S if goes_on else SHORT_S)
    except DeadlineExceededError:
        yield Answer(GOES_ON, value=False)
        yield Answer(RUNS, _runs_on(run))
    else:
        yield Answer(GOES_ON, value=True)
        yield Answer(RUNS, run.cluster.is_alive(REAL))


def _has_fetched_at(leader: LeaderPuppet, topic: PuppetTopic, offset: int) -> bool:
    """Tell whether an offset was ever fetched at: the follower may have gone on before anybody looks."""
    return any(isinstance(one, FetchPartition) and one.fetch_offset == offset for one in leader.asked(topic))


def _expects(run: PuppetRun, predict: Callable[[RuleSet], tuple[Answer, ...]]) -> bool:
    """Tell whether the first answer is predicted to be yes: that decides only for how long it is waited for."""
    return predict(rules_for(run.cluster.spec.release.version, MetadataMode.ZOOKEEPER))[0].value is True


def _runs_on(run: PuppetRun) -> bool:
    try:
        until(lambda: not run.cluster.is_alive(REAL), deadline_s=EXIT_S, what="the broker's end")
    except DeadlineExceededError:
        return True
    return False


def _comes_to_fetch(rules: RuleSet) -> tuple[Answer, ...]:
    return (Answer(FETCHES, not LOOPS_SINCE <= parse_version(rules.version) < ENDS_SINCE),)


def _follow_after_an_empty_epoch(run: PuppetRun, topic: PuppetTopic) -> Iterator[Answer]:
    first, second = run.leader(LEADER), run.leader(NEXT_LEADER)
    first.serve(topic, Served(batches((OLD_EPOCH, RECORDS[:1])), high_watermark=1))
    run.controller.decide(topic.led_by(LEADER, OLD_EPOCH))
    first.await_fetch(topic, 1)
    run.controller.decide(topic.led_by(REAL, EPOCH))
    second.serve(topic, _with_another_epoch())
    run.controller.decide(topic.led_by(NEXT_LEADER, EPOCH + 1))
    try:
        second.await_fetch(topic, deadline_s=LONG_S if _expects(run, _comes_to_fetch) else SHORT_S)
    except DeadlineExceededError:
        yield Answer(FETCHES, value=False)
    else:
        yield Answer(FETCHES, value=True)


def _with_another_epoch() -> Served:
    """Give a leader with a record of an epoch in between, which broker 1 never had."""

    def end_of(leader_epoch: int) -> EpochEnd:
        return EpochEnd(MIDDLE_EPOCH, 2) if leader_epoch >= MIDDLE_EPOCH else EpochEnd(OLD_EPOCH, 1)

    return Served(
        batches((OLD_EPOCH, RECORDS[:1]), (MIDDLE_EPOCH, RECORDS[1:2])),
        high_watermark=1,
        end_of_epoch=end_of,
        diverging=lambda last, _offset: end_of(last) if last > MIDDLE_EPOCH else None,
    )


LOG_BEGINS_LATE = Examination(
    name=f"{FAMILY}/KAFKA-9491",
    id=f"{FAMILY}/kafka-9491",
    requirement="A replica whose log was emptied and begins anew at a later offset can lead.",
    sources=("TR-09", "HW-13", "KAFKA-9491"),
    explanation=(
        "The leader's log begins at 5, so broker 1 throws its own away and begins there. In 2.4.0 its high watermark "
        "stays at 0, where there is nothing: becoming leader ends with out of range, and so does every produce to it."
    ),
    subject=OneBroker(
        (
            f"broker 1 follows broker 2, whose log begins at {LOG_START}, and begins there too",
            "before it has fetched anything it becomes leader, alone in sync, and is sent a record",
        ),
        _takes_leadership,
        _lead_after_full_truncation,
        spoils_broker=True,
    ),
    where=WITH_PUPPETS,
)

LOG_ENDS_LATER = Examination(
    name=f"{FAMILY}/KAFKA-7414",
    id=f"{FAMILY}/kafka-7414",
    requirement="A follower whose log ends after its leader's cuts it and goes on.",
    sources=("TR-06", "TR-05", "KAFKA-7414"),
    explanation=(
        "Broker 1 has three records, all committed, and its new leader one; where broker 1's epoch ends that leader "
        "cannot tell. Up to 2.0.0 the fetch out of range ends the broker's process, in 0.10.2 only its fetcher, since "
        "unclean election is off; later ones cut to the leader's end."
    ),
    subject=OneBroker(
        (
            "broker 1 follows broker 2 and copies three records, all below the high watermark",
            "then it follows broker 3, whose log ends at 1 and which knows no epochs",
        ),
        _gives_up,
        _follow_a_shorter_log,
        {"unclean.leader.election.enable": "false"},
        spoils_broker=True,
    ),
    where=WITH_PUPPETS,
)

EMPTY_EPOCH = Examination(
    name=f"{FAMILY}/KAFKA-10706",
    id=f"{FAMILY}/kafka-10706",
    requirement="A former leader whose last epoch has no record finishes its truncation and fetches.",
    sources=("TR-06", "LE-01", "LE-04", "KAFKA-10706"),
    explanation=(
        "Broker 1 led without writing; its new leader has an earlier epoch instead, which broker 1 never had. Up to "
        "2.6.0 broker 1 has nothing to cut, keeps the empty epoch, and asks about it for ever; later ones forget it."
    ),
    subject=OneBroker(
        (
            f"broker 1 follows broker 2 and copies one record of epoch {OLD_EPOCH}",
            f"it leads in epoch {EPOCH} and is sent nothing",
            f"it follows broker 3, which has that record and one of epoch {MIDDLE_EPOCH}, and none of epoch {EPOCH}",
        ),
        _comes_to_fetch,
        _follow_after_an_empty_epoch,
    ),
    where=WITH_PUPPETS,
)

SCENARIOS = (LOG_BEGINS_LATE, LOG_ENDS_LATER, EMPTY_EPOCH)
