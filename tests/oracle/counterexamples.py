"""How do old rules break what newer ones keep? Short schedules, each of which breaks a property.

Those about committed records were found by searching random walks under old rules, and shrunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.by_version import rules_for
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import Hold
from oracle.steps.produce import Produce
from oracle.vocabulary import Acks, BrokerId, Expectation, Label, MetadataMode, Offset, PointName
from tests.oracle.walks import Walk, followed

if TYPE_CHECKING:
    from oracle.steps.step import Step

ONE, TWO, THREE = BrokerId(1), BrokerId(2), BrokerId(3)


def produced(label: str) -> Produce:
    return Produce((Label(label),), Acks.ALL, Expectation.ANY)


def _walk(version: str, replicas: tuple[BrokerId, ...], settings: TopicSettings, *steps: Step) -> Walk:
    schedule = Schedule("counterexample", "", (), replicas, steps, settings)
    return followed(schedule, rules_for(version, MetadataMode.ZOOKEEPER))


def committed_record_cut_by_an_in_sync_follower(version: str) -> Walk:
    """Broker 3 does not know that m0 is committed when it gets a new leader, and waits in the ISR without it."""
    return _walk(
        version,
        (ONE, TWO, THREE),
        TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        Hold("answer", PointName.FETCH_RESPONSE, THREE, ONE, Offset(1)),
        produced("m0"),
        Hold("refetch", PointName.FETCH_REQUEST, THREE, TWO),
        Kill(ONE),
    )


def committed_record_lost_by_clean_elections(version: str) -> Walk:
    """The same with the next leader's death: broker 3 is elected cleanly, m0 is gone everywhere but on broker 1."""
    return _walk(
        version,
        (ONE, TWO, THREE),
        TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        Hold("answer to 2", PointName.FETCH_RESPONSE, TWO, ONE, Offset(1)),
        Hold("answer to 3", PointName.FETCH_RESPONSE, THREE, ONE, Offset(1)),
        produced("m0"),
        Hold("refetch", PointName.FETCH_REQUEST, THREE, TWO),
        Kill(ONE),
        Kill(TWO),
        Start(ONE),
        Start(TWO),
    )


def log_with_a_hole_of_another_epoch(version: str) -> Walk:
    """Two unclean leaderships in turn: the follower keeps a record of an epoch that its leader never had."""
    return _walk(
        version,
        (ONE, TWO),
        TopicSettings(min_insync_replicas=1, unclean_leader_election=True),
        produced("m0"),
        Kill(TWO),
        produced("a1"),
        produced("a2"),
        Kill(ONE),
        Start(TWO),
        produced("b1"),
        Kill(TWO),
        Start(ONE),
        produced("a3"),
        Start(TWO),
    )


def diverging_follower_elected_cleanly(version: str) -> Walk:
    """KAFKA-13141 with unclean election off: broker 1 is let into the ISR by a fetch that diverges, and elected."""
    return _walk(
        version,
        (ONE, TWO),
        TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        Hold("answer", PointName.FETCH_RESPONSE, TWO, ONE, Offset(1)),
        produced("m0"),
        produced("m1"),
        Kill(ONE),
        produced("m2"),
        Hold("diverging", PointName.FETCH_RESPONSE, ONE, TWO),
        Start(ONE),
        Kill(TWO),
        Start(TWO),
    )
