"""Which defects show in what a follower asks, frame by frame? Its fetches, read from the run's wire trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, ScheduleQuestion
from conformance.catalogue.where import Where
from conformance.record.wire import FETCH, FrameEntry
from conformance.scenarios.regressions.defect import regression
from conformance.scenarios.vocabulary import await_isr, checkpoint, kill, produce, start, world_after
from conformance.wire_trace.partition import requests
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from conformance.record.prediction import FrozenPrediction
    from oracle.rules.rule_set import RuleSet

LEADER, FOLLOWER = 1, 2


def last_fetch(run: RunDirectory, follower: int, leader: int) -> FrameEntry:
    """Return what a follower's latest fetch says of the partition.

    Raises:
        NotSeenError: it never fetched.
    """
    asked = [entry for frame, entry in requests(run, source=follower, destination=leader) if frame.api == FETCH]
    if not asked:
        raise NotSeenError(f"no {FETCH} of broker {follower} to broker {leader}")
    return asked[-1]


def _last_epoch_expected(rules: RuleSet, _prediction: FrozenPrediction) -> Value:
    """Return the epoch that the model's follower tells after an answer without records."""
    replica = world_after(FORGOTTEN_EPOCH.schedule, rules).state.replica(BrokerId(FOLLOWER))
    return int(rules.last_epoch_after_empty_answer(replica.log.latest_epoch))


def _last_epoch(run: RunDirectory) -> Value:
    """Return the last fetched epoch in the follower's latest fetch; -1 for none."""
    return last_fetch(run, FOLLOWER, LEADER).last_fetched_epoch


FORGOTTEN_EPOCH = regression(
    "KAFKA-15510",
    requirement="An answer without records does not make a follower forget the epoch of its last record.",
    explanation=(
        "Broker 2 comes back with all there is, and its first answer is empty. From 3.5.1 to 3.6 its next fetches name "
        "no epoch of its last record, so no leader can tell whether its log diverges."
    ),
    sources=("LE-04", "TR-06"),
    where=Where(since="2.8.0", why="fetches name the epoch of the follower's last record"),
    questions=(
        ScheduleQuestion("the last fetched epoch in broker 2's latest fetch", _last_epoch_expected, _last_epoch),
    ),
    steps=(
        produce("m0"),
        kill(2),
        start(2),
        await_isr(1, 2),
        checkpoint("broker 2 is back and had an empty answer"),
    ),
)

SCENARIOS = (FORGOTTEN_EPOCH,)
