"""Which defects does a leader show by what it answers to followers that are puppets? Waiting fetches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.examining.regressions.one_broker import REPLICAS, OneBroker
from conformance.puppet_scripts.modelled_broker import ModelledBroker
from fault_injection.puppets.client import LATEST_TIMESTAMP
from fault_injection.waiting import until
from fault_injection.wire.views import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fault_injection.puppets.run import PuppetRun
    from fault_injection.puppets.served_topics import PuppetTopic
    from oracle.rules.rule_set import RuleSet

REAL, PUPPET, OTHER = REPLICAS
EPOCH = 5
FETCHED = ((PUPPET, 0), (OTHER, 0), (OTHER, 1))
"""Who has fetched where before the fetch that commits."""
MAX_WAIT_MS, COMMITTED_S, AT_ONCE_S = 10_000, 5.0, 1.0
ANSWERED_AT_ONCE = "whether the fetch that only raises the high watermark is answered before there is a record for it"
TOLD = "the high watermark in its answer"


def _lead(run: PuppetRun, topic: PuppetTopic, isr: tuple[int, ...]) -> None:
    run.controller.decide(topic.led_by(REAL, EPOCH, isr))


def _answers_at_once(rules: RuleSet) -> tuple[QuestionAnswer, ...]:
    model = ModelledBroker(rules)
    model.decide(REAL, EPOCH, REPLICAS)
    model.append("a")
    for broker, offset in FETCHED:
        model.fetch(broker, offset, EPOCH, NONE, parks=False)
    told = model.fetch(PUPPET, 1, EPOCH, NONE, parks=True)
    return QuestionAnswer(ANSWERED_AT_ONCE, told.is_pushed), QuestionAnswer(TOLD, told.high_watermark)


def _fetch_and_raise(run: PuppetRun, topic: PuppetTopic) -> Iterator[QuestionAnswer]:
    _lead(run, topic, isr=REPLICAS)
    run.client.append(topic, b"a")
    for broker, offset in FETCHED:
        run.follower(broker).fetch(topic, offset, leader_epoch=EPOCH)
    follower = run.follower(PUPPET)
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
