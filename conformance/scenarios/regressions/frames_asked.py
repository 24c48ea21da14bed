"""Which defects show in what a follower asks, frame by frame? Lookups and fetches, read from the run's wire trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.catalogue.questions import NotSeenError, Question
from conformance.catalogue.where import Where
from conformance.puppet_stage.speech import forgets_last_epoch
from conformance.scenarios.regressions.defect import regression
from conformance.scenarios.regressions.rarer_steps import hold_lookup_answer
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    checkpoint,
    hold_request,
    kill,
    produce,
    release,
    start,
)
from conformance.wire_trace.frame import EPOCH_LOOKUP, FETCH
from conformance.wire_trace.partition import requests
from fault_injection.wire.views import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.catalogue.questions import Value
    from conformance.run_directory import RunDirectory
    from oracle.rules.rule_set import RuleSet

LEADER, FOLLOWER = 1, 2
FIRST_EPOCH = 0


def _lookups_expected(rules: RuleSet, _prediction: Mapping[str, Any]) -> Value:
    return 2 if rules.drops_stale_lookups else 1


def _lookups(run: RunDirectory) -> Value:
    """Return in how many leader epochs the follower asked where its last epoch ends."""
    asked = requests(run, source=FOLLOWER, destination=LEADER)
    epochs = {entry["current_leader_epoch"] for frame, entry in asked if frame.api == EPOCH_LOOKUP}
    if not epochs:
        raise NotSeenError(f"no {EPOCH_LOOKUP} of broker {FOLLOWER} to broker {LEADER}")
    return len(epochs)


def _last_epoch_expected(rules: RuleSet, _prediction: Mapping[str, Any]) -> Value:
    return NONE if forgets_last_epoch(rules.version) else FIRST_EPOCH


def _last_epoch(run: RunDirectory) -> Value:
    """Return the last fetched epoch in the follower's latest fetch; -1 for none."""
    asked = [entry for frame, entry in requests(run, source=FOLLOWER, destination=LEADER) if frame.api == FETCH]
    if not asked:
        raise NotSeenError(f"no {FETCH} of broker {FOLLOWER} to broker {LEADER}")
    epoch: int = asked[-1].get("last_fetched_epoch", NONE)
    return epoch


STALE_LOOKUP = regression(
    "KAFKA-7786",
    requirement="A follower does not truncate by the answer to a lookup of an earlier leader epoch.",
    explanation=(
        "The answer to broker 2's lookup is on its way when broker 3 dies and broker 1 leads on in a new epoch. 2.1.0 "
        "uses it, and fetches; from 2.1.1 the follower drops it and asks again in the new epoch."
    ),
    sources=("LE-04", "FE-04", "KIP-320"),
    replicas=(1, 2, 3),
    where=Where(since="2.1.0", before="2.8.0", why="followers ask OffsetsForLeaderEpoch and name their leader's epoch"),
    questions=(
        Question("in how many leader epochs broker 2 asked where its last epoch ends", _lookups_expected, _lookups),
    ),
    steps=(
        produce("m0"),
        kill(2),
        produce("m1"),
        hold_lookup_answer("answer", follower=2, leader=1),
        start(2),
        await_hold("answer"),
        kill(3),
        hold_request("first fetch", follower=2, leader=1),
        release("answer"),
        await_hold("first fetch"),
        checkpoint("broker 2 has an answer and fetches"),
        release("first fetch"),
        await_isr(1, 2),
        checkpoint("end"),
    ),
)

FORGOTTEN_EPOCH = regression(
    "KAFKA-15510",
    requirement="An answer without records does not make a follower forget the epoch of its last record.",
    explanation=(
        "Broker 2 comes back with all there is, and its first answer is empty. From 3.5.1 to 3.6 its next fetches name "
        "no epoch of its last record, so no leader can tell whether its log diverges."
    ),
    sources=("LE-04", "TR-06"),
    where=Where(since="2.8.0", why="fetches name the epoch of the follower's last record"),
    questions=(Question("the last fetched epoch in broker 2's latest fetch", _last_epoch_expected, _last_epoch),),
    steps=(
        produce("m0"),
        kill(2),
        start(2),
        await_isr(1, 2),
        checkpoint("broker 2 is back and had an empty answer"),
    ),
)

SCENARIOS = (STALE_LOOKUP, FORGOTTEN_EPOCH)
