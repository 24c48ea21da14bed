"""Which defects does a follower show among puppets while it looks epochs up? One without records, one that has gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.regressions.one_broker import LONG_S, REPLICAS, SHORT_S, OneBroker, expects, log_of
from conformance.puppet_scripts.modelled_broker import ModelledBroker
from fault_injection.puppets.records import batches
from fault_injection.puppets.served_topics import Served
from fault_injection.waiting import DeadlineExceededError, until
from fault_injection.wire.views import DivergingEpochView
from oracle.state import FetchKind
from oracle.vocabulary import LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.puppet_scripts.replica_requests import FollowerRequest
    from fault_injection.puppets.leader import LeaderPuppet
    from fault_injection.puppets.run import PuppetRun
    from fault_injection.puppets.served_topics import PuppetTopic
    from oracle.rules.rule_set import RuleSet

REAL, LEADER, NEXT_LEADER = REPLICAS
OLD_EPOCH, MIDDLE_EPOCH, EPOCH = 3, 4, 5
RECORDS = (b"a", b"b")
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
    first.serve(topic, Served(batches((OLD_EPOCH, RECORDS[:1])), high_watermark=1))
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
        batches((OLD_EPOCH, RECORDS[:1])),
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
        batches((OLD_EPOCH, RECORDS[:1]), (MIDDLE_EPOCH, RECORDS[1:2])),
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
