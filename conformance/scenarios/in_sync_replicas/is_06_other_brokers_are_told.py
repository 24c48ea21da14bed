"""How do the other brokers learn that a leader has changed the ISR, and how soon?

| releases | the leader | the other brokers |
|---|---|---|
| up to 2.6 | writes ZooKeeper, and once the change is 2.5 to 7.5 s old a notification beside it | UpdateMetadata |
| 2.7 and newer, ZooKeeper mode | asks the controller: AlterPartition (AlterIsr) | UpdateMetadata at once |
| KRaft mode | asks the controller: AlterPartition | a record in the metadata log, which they fetch |

Source: ReplicaManager.maybePropagateIsrChanges: looks every 2.5 s, and tells when the last change is 5 s old or the
last notification a minute; KIP-497.

Choices: the lag time passes three times: the news of a change is lost if the next change follows within those 7.5 s.
The ISR changes once before: a leader that has told nothing for a minute tells at its next look, so the minute must
have begun anew. A notice is there for a moment only; ZooKeeper counts how often one came or went.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import ScheduleQuestion, formula_ms
from conformance.catalogue.scenario import Scenario
from conformance.questions.shrink import delay_of_the_news, notices, path_of_the_news
from conformance.scenarios.in_sync_replicas.silence import HEARD, REMOVED, heard_again, removed_without
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_lag,
    brokers,
    checkpoint,
    hold_request,
    produce,
    release,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Acks, MetadataMode, Timing

if TYPE_CHECKING:
    from conformance.catalogue.questions import Expected
    from conformance.record.prediction import FrozenPrediction
    from oracle.rules.rule_set import RuleSet

LOOK_MS, QUIET_MS = 2_500, 5_000

EARLIER = hold_request("earlier silence", follower=2, leader=1)


def _expected_path(rules: RuleSet, _: FrozenPrediction) -> Expected:
    told_by = "UpdateMetadata" if rules.metadata is MetadataMode.ZOOKEEPER else "Fetch"
    return ["AlterPartition", told_by] if rules.asks_controller_to_join else [told_by]


def _expected_delay(rules: RuleSet, _: FrozenPrediction) -> Expected:
    return formula_ms(0, 0) if rules.asks_controller_to_join else formula_ms(QUIET_MS, QUIET_MS + LOOK_MS)


def _expected_notices(rules: RuleSet, _: FrozenPrediction) -> Expected:
    return 0 if rules.asks_controller_to_join else 1


TOLD = Scenario(
    name="IS-06",
    explanation=(
        "Leader 1 removes broker 2 from the ISR. Broker 3, which has no replica, must hear of it: by the controller, "
        "whom the leader has asked (2.7 on), or who was notified by way of ZooKeeper, seconds later (before)."
    ),
    schedule=Schedule(
        id="in-sync-replicas/other-brokers-are-told",
        requirement=(
            "Every broker is told of a change of the ISR: 5.0 to 7.5 s later where the leader writes ZooKeeper, at "
            "once where it asks the controller."
        ),
        sources=("IS-06", "RM-04", "003", "004", "KIP-497"),
        replicas=brokers(1, 2),
        timing=Timing.LAG,
        steps=(
            EARLIER,
            await_hold(EARLIER.name),
            produce("earlier", acks=Acks.LEADER),
            await_lag(2),
            await_isr(1),
            await_lag(2),
            await_lag(2),
            release(EARLIER.name),
            await_isr(1, 2),
            *removed_without("m1"),
            await_lag(2),
            await_lag(2),
            checkpoint(HEARD),
            *heard_again(produce("m2")),
        ),
    ),
    questions=(
        ScheduleQuestion("frames that carry the news from the leader to broker 3", _expected_path, path_of_the_news),
        ScheduleQuestion(
            "notices of it that were written and read in ZooKeeper",
            _expected_notices,
            lambda run: notices(run, REMOVED, HEARD),
        ),
        ScheduleQuestion("milliseconds from the shrink until broker 3 is told", _expected_delay, delay_of_the_news),
    ),
)

SCENARIOS = (TOLD,)
