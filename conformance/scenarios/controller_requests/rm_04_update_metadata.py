"""Does UpdateMetadata reach every broker, and what does the one answer that it is kept from?

Every live broker is asked for the leader at each checkpoint, the controller's own too, which has no replica.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_CONTROLLER_REQUESTS, Where
from conformance.questions.one_row import told_leaders
from conformance.scenarios.vocabulary import await_hold, await_isr, brokers, checkpoint, kill, produce, release, start
from oracle.schedule import Schedule
from oracle.steps.frames import Hold
from oracle.vocabulary import BrokerId, MetadataMode, PointName

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.catalogue.questions import Expected
    from conformance.record.prediction import FrozenPrediction
    from oracle.rules.rule_set import RuleSet

WITNESS = BrokerId(100)
"""The broker that is the controller, and has no replica."""

KEPT_FROM = BrokerId(3)

BEFORE, HELD, TOLD, END = "before", "broker 3 is not told", "broker 3 is told", "broker 1 is told as it returns"

NEWS = Hold("news for broker 3", PointName.UPDATE_METADATA, broker=KEPT_FROM)


def expected_leaders(moment: str) -> Callable[[RuleSet, FrozenPrediction], Expected]:
    """Say whom each live broker names at a checkpoint: the leader, or, if it is kept from the news, the one before."""

    def expected(_: RuleSet, prediction: FrozenPrediction) -> Expected:
        at = {one.name: one for one in prediction.checkpoints}
        now, before = at[moment], at[BEFORE]
        live = [b for b, numbers in now.replicas.items() if numbers.alive] + [WITNESS]
        stale = KEPT_FROM if moment == HELD else None
        return [[b, (before if b == stale else now).leader] for b in sorted(live)]

    return expected


EVERY_BROKER = Scenario(
    name="RM-04/every-broker",
    explanation=(
        "Broker 1 dies and broker 2 is elected. The controller tells every broker; the UpdateMetadata for broker 3 is "
        "held, so it follows broker 2, as LeaderAndIsr said, and goes on naming broker 1 to clients."
    ),
    schedule=Schedule(
        id="controller-requests/update-metadata-reaches-every-broker",
        requirement=(
            "After an election every live broker, one without a replica too, names the new leader in Metadata; one "
            "whose UpdateMetadata is held names the old one until it has it."
        ),
        sources=("RM-04", "003"),
        replicas=brokers(1, 2, 3),
        steps=(
            produce("m0"),
            checkpoint(BEFORE),
            NEWS,
            kill(1),
            await_hold(NEWS.name),
            checkpoint(HELD),
            release(NEWS.name),
            checkpoint(TOLD),
            start(1),
            await_isr(1, 2, 3),
            checkpoint(END),
        ),
    ),
    where=Where(
        metadata=MetadataMode.ZOOKEEPER,
        why="in KRaft mode no controller sends UpdateMetadata, brokers read the metadata log",
    ),
    questions=tuple(
        ScheduleQuestion(
            f"[broker, leader it names] of every live broker: {each}", expected_leaders(each), told_leaders(each)
        )
        for each in (BEFORE, HELD, TOLD, END)
    ),
)

STALE_METADATA = Examination(
    name="RM-04/puppets",
    id="controller-requests/stale-metadata-without-update-metadata",
    requirement=(
        "A broker answers Metadata with what UpdateMetadata told it last, even after LeaderAndIsr has told its "
        "replica otherwise; then it refuses a produce with NOT_LEADER_OR_FOLLOWER (6)."
    ),
    sources=("RM-04", "AC-07", "003"),
    explanation="The controller sends LeaderAndIsr first and holds UpdateMetadata back; between the two they differ.",
    where=WITH_CONTROLLER_REQUESTS,
    examined=by("controller_requests:STALE_METADATA"),
)

SCENARIOS = (EVERY_BROKER, STALE_METADATA)
