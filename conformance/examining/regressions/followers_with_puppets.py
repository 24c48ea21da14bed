"""Which defects does a follower show among puppets? Logs that begin late, or end later than the leader's."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.regressions.one_broker import LONG_S, REPLICAS, SHORT_S, OneBroker, expects, log_of
from conformance.puppet_scripts.modelled_broker import ModelledBroker
from fault_injection.puppets.connection import PuppetError
from fault_injection.puppets.records import Batch, batches
from fault_injection.puppets.served_topics import Served
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.views import NONE, FetchPartition
from oracle.error_codes import ErrorCode
from oracle.log import ModelRecord, ReplicaLog
from oracle.state import FetchKind
from oracle.vocabulary import Label, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fault_injection.puppets.leader import LeaderPuppet
    from fault_injection.puppets.run import PuppetRun
    from fault_injection.puppets.served_topics import PuppetTopic
    from oracle.rules.rule_set import RuleSet

REAL, LEADER, NEXT_LEADER = REPLICAS
EPOCH = 5
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
