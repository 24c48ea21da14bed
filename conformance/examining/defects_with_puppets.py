"""Which defects does one broker show among puppets? As a leader with a waiting fetch, and as a follower."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from conformance.catalogue.questions import QuestionAnswer
from conformance.puppet_scripts.modelled_broker import ModelledBroker
from conformance.puppet_scripts.script import LONG_S, REPLICAS, SHORT_S, OneBroker, expects, log_of
from fault_injection.puppets.client import LATEST_TIMESTAMP
from fault_injection.puppets.connection import PuppetError
from fault_injection.puppets.records import Batch, batches
from fault_injection.puppets.served_topics import Served
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.views import NONE, DivergingEpochView, FetchPartition
from oracle.error_codes import ErrorCode
from oracle.log import ModelRecord, ReplicaLog
from oracle.state import FetchKind
from oracle.vocabulary import Label, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.puppet_scripts.replica_requests import FollowerRequest
    from fault_injection.puppets.leader import LeaderPuppet
    from fault_injection.puppets.run import PuppetRun
    from fault_injection.puppets.served_topics import PuppetTopic
    from oracle.rules.rule_set import RuleSet

REAL, LEADER, NEXT_LEADER = REPLICAS
"""Broker 1 is real. The others are puppets, its followers too."""
OLD_EPOCH, MIDDLE_EPOCH, EPOCH = 3, 4, 5
FETCHED = ((LEADER, 0), (NEXT_LEADER, 0), (NEXT_LEADER, 1))
"""Who has fetched where before the fetch that commits."""
MAX_WAIT_MS, COMMITTED_S, AT_ONCE_S = 10_000, 5.0, 1.0
ANSWERED_AT_ONCE = "whether the fetch that only raises the high watermark is answered before there is a record for it"
TOLD = "the high watermark in its answer"


def _answers_at_once(rules: RuleSet) -> tuple[QuestionAnswer, ...]:
    model = ModelledBroker(rules)
    model.decide(REAL, EPOCH, REPLICAS)
    model.append("a")
    for broker, offset in FETCHED:
        model.fetch(broker, offset, EPOCH, NONE, parks=False)
    told = model.fetch(LEADER, 1, EPOCH, NONE, parks=True)
    return QuestionAnswer(ANSWERED_AT_ONCE, told.is_pushed), QuestionAnswer(TOLD, told.high_watermark)


def _fetch_and_raise(run: PuppetRun, topic: PuppetTopic) -> Iterator[QuestionAnswer]:
    run.controller.decide(topic.led_by(REAL, EPOCH, REPLICAS))
    run.client.append(topic, b"a")
    for broker, offset in FETCHED:
        run.follower(broker).fetch(topic, offset, leader_epoch=EPOCH)
    follower = run.follower(LEADER)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(follower.fetch, topic, 1, leader_epoch=EPOCH, max_wait_ms=MAX_WAIT_MS)
        until(lambda: _is_committed(run, topic, 1), deadline_s=COMMITTED_S, what="the first record to be committed")
        wait((waiting,), AT_ONCE_S)  # for a leader that is slow to answer: what counts is what the answer carries
        run.client.append(topic, b"b")
        told = waiting.result()
    yield QuestionAnswer(ANSWERED_AT_ONCE, not told.has_records)
    yield QuestionAnswer(TOLD, told.high_watermark)


def _is_committed(run: PuppetRun, topic: PuppetTopic, offset: int) -> bool:
    return run.client.list_offset(topic, LATEST_TIMESTAMP).offset == offset


HIGH_WATERMARK_PUSHED = OneBroker(
    (
        "broker 1 leads in epoch 5 and appends one record; brokers 2 and 3 fetch it, broker 3 fetches at 1",
        f"broker 2 fetches at 1 and may wait {MAX_WAIT_MS} ms: this commits the record",
        "then broker 1 appends another record, which answers that fetch if nothing has",
    ),
    _answers_at_once,
    _fetch_and_raise,
)


RECORDS = (b"a", b"b", b"c")
LOG_START = 5
DECIDED = "the error with which it takes the leadership, none is 0"
APPENDED = "the error and the offset of the first record that it is sent"
GOES_ON = "whether it fetches at its new leader's log end"
RUNS = "whether its process still runs"
EXIT_S = 15.0
"""How long a process may take to end."""


@dataclass(frozen=True, slots=True)
class _OffsetsOnly(Served):
    """A leader that tells where its log begins and ends, and nothing of what is in it."""

    @override
    def fetch_error_for(self, current_leader_epoch: int) -> int:
        """Return the error code of every fetch, whatever epoch it claims; epoch lookups are answered (up to 2.0)."""
        del current_leader_epoch
        return ErrorCode.OFFSET_OUT_OF_RANGE


def _takes_leadership(rules: RuleSet) -> tuple[QuestionAnswer, ...]:
    model = ModelledBroker(rules)
    model.begin_late(LEADER, EPOCH, log_of((EPOCH, LOG_START + len(RECORDS))), LOG_START)
    decided = model.decide(REAL, EPOCH + 1, isr=(REAL,))
    offset, appended = model.log_end_offset, model.append("d")
    return QuestionAnswer(DECIDED, decided), QuestionAnswer(APPENDED, [appended, NONE if appended else offset])


def _lead_after_full_truncation(run: PuppetRun, topic: PuppetTopic) -> Iterator[QuestionAnswer]:
    leader = run.leader(LEADER)
    leader.serve(topic, _OffsetsOnly((Batch(LOG_START, EPOCH, RECORDS),), LOG_START + len(RECORDS)))
    run.controller.decide(topic.led_by(LEADER, EPOCH))
    leader.await_fetch(topic, LOG_START)
    answer = run.controller.decide(topic.led_by(REAL, EPOCH + 1, isr=(REAL,)))
    yield QuestionAnswer(
        DECIDED, next((error for error in (answer.error, *(p.error for p in answer.partitions)) if error), 0)
    )
    yield QuestionAnswer(APPENDED, list(run.client.append(topic, b"d")))


def _gives_up(rules: RuleSet) -> tuple[QuestionAnswer, ...]:
    model = ModelledBroker(rules)
    model.follow(LEADER, EPOCH, log_of((EPOCH, len(RECORDS))), high_watermark=len(RECORDS))
    log = ReplicaLog((ModelRecord(Label("r0"), LeaderEpoch(EPOCH)),))
    if rules.truncation.checks_on_fetch:  # such a leader knows the epoch that it leads in
        log = log.with_epoch(LeaderEpoch(EPOCH + 1))
    asked = model.follow(NEXT_LEADER, EPOCH + 1, log, high_watermark=1)
    goes_on = any(kind == FetchKind.FETCH and offset == 1 for kind, offset, _ in asked)
    return QuestionAnswer(GOES_ON, goes_on), QuestionAnswer(RUNS, model.replica.alive or model.replica.stuck)


def _follow_a_shorter_log(run: PuppetRun, topic: PuppetTopic) -> Iterator[QuestionAnswer]:
    first, second = run.leader(LEADER), run.leader(NEXT_LEADER)
    first.serve(topic, Served(batches((EPOCH, RECORDS)), high_watermark=len(RECORDS)))
    run.controller.decide(topic.led_by(LEADER, EPOCH))
    first.await_fetch(topic, len(RECORDS))
    second.serve(topic, Served(batches((EPOCH, RECORDS[:1])), high_watermark=1))
    goes_on = expects(run, _gives_up)
    with nullcontext() if goes_on else suppress(PuppetError):  # who gives up may close its connections unanswered
        run.controller.decide(topic.led_by(NEXT_LEADER, EPOCH + 1))
    until(lambda: _has_fetched_at(second, topic, len(RECORDS)), deadline_s=LONG_S, what="a fetch beyond the log end")
    try:
        second.await_fetch(topic, 1, LONG_S if goes_on else SHORT_S)
    except DeadlineExceededError:
        yield QuestionAnswer(GOES_ON, value=False)
        yield QuestionAnswer(RUNS, _runs_on(run))
    else:
        yield QuestionAnswer(GOES_ON, value=True)
        yield QuestionAnswer(RUNS, run.cluster.is_alive(REAL))


def _has_fetched_at(leader: LeaderPuppet, topic: PuppetTopic, offset: int) -> bool:
    """Return whether an offset was ever fetched at: the follower may have gone on before anybody looks."""
    return any(isinstance(one, FetchPartition) and one.fetch_offset == offset for one in leader.asked(topic))


def _runs_on(run: PuppetRun) -> bool:
    try:
        until(lambda: not run.cluster.is_alive(REAL), deadline_s=EXIT_S, what="the broker's end")
    except DeadlineExceededError:
        return True
    return False


LOG_BEGINS_LATE = OneBroker(
    (
        f"broker 1 follows broker 2, whose log begins at {LOG_START}, and begins there too",
        "before it has fetched anything it becomes leader, alone in sync, and is sent a record",
    ),
    _takes_leadership,
    _lead_after_full_truncation,
    spoils_broker=True,
)

LOG_ENDS_LATER = OneBroker(
    (
        "broker 1 follows broker 2 and copies three records, all below the high watermark",
        "then it follows broker 3, whose log ends at 1 and which knows no epochs",
    ),
    _gives_up,
    _follow_a_shorter_log,
    {"unclean.leader.election.enable": "false"},
    spoils_broker=True,
)


LOOKED_UP = (b"a", b"b")
FETCHES = "whether it ever comes to fetch"
FETCHES_LATER = "whether it fetches once the leader epoch has changed again"


def _comes_to_fetch(rules: RuleSet) -> tuple[QuestionAnswer, ...]:
    model = ModelledBroker(rules)
    model.follow(LEADER, OLD_EPOCH, log_of((OLD_EPOCH, 1)), high_watermark=1)
    model.decide(REAL, EPOCH, REPLICAS)
    led = log_of((OLD_EPOCH, 1), (MIDDLE_EPOCH, 1)).with_epoch(LeaderEpoch(EPOCH + 1))
    asked = model.follow(NEXT_LEADER, EPOCH + 1, led, high_watermark=1)
    return (QuestionAnswer(FETCHES, _has_fetch(asked)),)


def _follow_after_an_empty_epoch(run: PuppetRun, topic: PuppetTopic) -> Iterator[QuestionAnswer]:
    first, second = run.leader(LEADER), run.leader(NEXT_LEADER)
    first.serve(topic, Served(batches((OLD_EPOCH, LOOKED_UP[:1])), high_watermark=1))
    run.controller.decide(topic.led_by(LEADER, OLD_EPOCH))
    first.await_fetch(topic, 1)
    run.controller.decide(topic.led_by(REAL, EPOCH))
    second.serve(topic, _with_another_epoch())
    run.controller.decide(topic.led_by(NEXT_LEADER, EPOCH + 1))
    yield QuestionAnswer(FETCHES, _fetches(second, topic, LONG_S if expects(run, _comes_to_fetch) else SHORT_S))


def _asks_again(rules: RuleSet) -> tuple[QuestionAnswer, ...]:
    model, log = ModelledBroker(rules), log_of((OLD_EPOCH, 1))
    model.follow(NEXT_LEADER, OLD_EPOCH, log, high_watermark=1)
    asked = model.follow_on(LEADER, EPOCH, log, high_watermark=1)
    again = model.follow(LEADER, EPOCH + 2, log, high_watermark=1)
    return QuestionAnswer(FETCHES, _has_fetch(asked)), QuestionAnswer(FETCHES_LATER, _has_fetch([*asked, *again]))


def _has_fetch(asked: Iterable[FollowerRequest]) -> bool:
    return any(kind == FetchKind.FETCH for kind, *_ in asked)


def _follow_on_with_a_fenced_lookup(run: PuppetRun, topic: PuppetTopic) -> Iterator[QuestionAnswer]:
    first, leader = run.leader(NEXT_LEADER), run.leader(LEADER)
    first.serve(topic, _with_one_record(OLD_EPOCH))
    run.controller.decide(topic.led_by(NEXT_LEADER, OLD_EPOCH))
    first.await_fetch(topic, 1)
    leader.hold_next()
    leader.serve(topic, _with_one_record(EPOCH))
    run.controller.decide(topic.led_by(LEADER, EPOCH))
    until(lambda: bool(leader.asked(topic)), deadline_s=LONG_S, what="a lookup that is held")
    leader.serve(topic, _with_one_record(EPOCH + 1))
    run.controller.decide(topic.led_by(LEADER, EPOCH + 1))
    leader.release()
    yield QuestionAnswer(FETCHES, _fetches(leader, topic, LONG_S if expects(run, _asks_again) else SHORT_S))
    leader.serve(topic, _with_one_record(EPOCH + 2))
    run.controller.decide(topic.led_by(LEADER, EPOCH + 2))
    yield QuestionAnswer(FETCHES_LATER, _fetches(leader, topic, LONG_S))


def _with_one_record(leader_epoch: int) -> Served:
    """Return a leader with the record that broker 1 has, which serves requests of one leader epoch only."""
    return Served(
        batches((OLD_EPOCH, LOOKED_UP[:1])),
        high_watermark=1,
        end_of_epoch=lambda _: DivergingEpochView(OLD_EPOCH, 1),
        leader_epoch=leader_epoch,
    )


def _fetches(leader: LeaderPuppet, topic: PuppetTopic, deadline_s: float) -> bool:
    """Return whether a fetch ever comes."""
    try:
        leader.await_fetch(topic, deadline_s=deadline_s)
    except DeadlineExceededError:
        return False
    return True


def _with_another_epoch() -> Served:
    """Return a leader with a record of an epoch in between, which broker 1 never had."""

    def end_of(leader_epoch: int) -> DivergingEpochView:
        return DivergingEpochView(MIDDLE_EPOCH, 2) if leader_epoch >= MIDDLE_EPOCH else DivergingEpochView(OLD_EPOCH, 1)

    return Served(
        batches((OLD_EPOCH, LOOKED_UP[:1]), (MIDDLE_EPOCH, LOOKED_UP[1:2])),
        high_watermark=1,
        end_of_epoch=end_of,
        diverging=lambda last, _offset: end_of(last) if last > MIDDLE_EPOCH else None,
    )


EMPTY_EPOCH = OneBroker(
    (
        f"broker 1 follows broker 2 and copies one record of epoch {OLD_EPOCH}",
        f"it leads in epoch {EPOCH} and is sent nothing",
        f"it follows broker 3, which has that record and one of epoch {MIDDLE_EPOCH}, and none of epoch {EPOCH}",
    ),
    _comes_to_fetch,
    _follow_after_an_empty_epoch,
)

FENCED_LATE = OneBroker(
    (
        f"broker 1 follows broker 3 and copies one record of epoch {OLD_EPOCH}",
        f"it follows broker 2 in epoch {EPOCH}; its lookup is held",
        f"broker 2 leads on in epoch {EPOCH + 1}, of which broker 1 hears; then the lookup is answered: fenced",
        f"broker 2 leads on in epoch {EPOCH + 2}",
    ),
    _asks_again,
    _follow_on_with_a_fenced_lookup,
)
