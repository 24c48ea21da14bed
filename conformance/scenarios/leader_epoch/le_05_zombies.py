"""What can a broker still do that has not heard of the new leader epoch? Zombie leaders, zombie followers.

In ZooKeeper mode it does not hear because the controller's LeaderAndIsr to it is held; in KRaft mode because it is cut
off, or its fetch of the metadata log is held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS, Where
from conformance.questions.epoch_requests import errors_of_a_zombie
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    kill,
    pause,
    produce,
    release,
    resume,
    start,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Isolate, Rejoin
from oracle.steps.frames import CutLink, Heal, Hold
from oracle.steps.produce import Produce
from oracle.steps.questions import SendTo
from oracle.steps.topic import Elect
from oracle.vocabulary import Acks, BrokerId, ElectionKind, Expectation, Label, MetadataMode, PointName

if TYPE_CHECKING:
    from oracle.steps.step import Step

_ZOOKEEPER = Where(metadata=MetadataMode.ZOOKEEPER, why="the controller tells each broker of its decisions")

_KRAFT = Where(metadata=MetadataMode.KRAFT, why="brokers read the controller's decisions from the metadata log")

_SETTINGS = TopicSettings(min_insync_replicas=2, unclean_leader_election=False)


def _zombie_leads(zombie: int, successor: int, before: tuple[Step, ...], heard: tuple[Step, ...]) -> tuple[Step, ...]:
    """Let a deposed leader take records, then a record of its successor commit, then let it hear."""
    return (
        *before,
        SendTo(Label("z0"), BrokerId(zombie), acks=1),
        SendTo(Label("z1"), BrokerId(zombie), acks=-1, timeout_ms=2_000),
        checkpoint(f"broker {zombie} was deposed and takes records all the same"),
        produce("m1", expect=Expectation.ANY),
        checkpoint(f"broker {successor} leads and has m1"),
        *heard,
        await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
        await_isr(1, 2, 3),
        produce("m2"),
        checkpoint("end"),
    )


_LEADER_REQUIREMENT = (
    "A leader that has a successor cannot commit: acks=all is never acknowledged by it, and what it acknowledged with "
    "acks=1 is cut as soon as it hears of the new leader epoch."
)

_SOURCES = ("LE-05", "000", "001", "KIP-101", "KIP-320")

ZOMBIE_LEADER_ZOOKEEPER = Scenario(
    name="LE-05/leader-zookeeper",
    explanation=(
        "Broker 2 leads while broker 1 is away. Broker 1 is elected again, and the LeaderAndIsr that deposes broker 2 "
        "is held: two leaders. What broker 2 takes moves no high watermark, and is gone when it has heard."
    ),
    where=_ZOOKEEPER,
    schedule=Schedule(
        id="leader-epoch/zombie-leader-cannot-commit-zookeeper",
        requirement=_LEADER_REQUIREMENT,
        sources=_SOURCES,
        replicas=brokers(1, 2, 3),
        settings=_SETTINGS,
        steps=_zombie_leads(
            2,
            1,
            before=(
                produce("m0"),
                kill(1),
                await_leader(2),
                start(1),
                await_isr(1, 2, 3),
                Hold("deposed", PointName.LEADER_AND_ISR, broker=BrokerId(2)),
                Elect(ElectionKind.PREFERRED),
                await_hold("deposed"),
            ),
            heard=(release("deposed"),),
        ),
    ),
)

ZOMBIE_LEADER_KRAFT = Scenario(
    name="LE-05/leader-kraft",
    explanation=(
        "Broker 1 leads and is cut off from all other nodes; clients still reach it. The controller fences it and "
        "elects broker 2. What broker 1 takes moves no high watermark, and is gone when it has rejoined."
    ),
    where=_KRAFT,
    schedule=Schedule(
        id="leader-epoch/zombie-leader-cannot-commit-kraft",
        requirement=_LEADER_REQUIREMENT,
        sources=_SOURCES,
        replicas=brokers(1, 2, 3),
        settings=_SETTINGS,
        steps=_zombie_leads(
            1,
            2,
            before=(produce("m0"), Isolate(BrokerId(1)), await_leader(2)),
            heard=(Rejoin(BrokerId(1)),),
        ),
    ),
)


def _zombie_follows(point: PointName) -> Schedule:
    mode = "zookeeper" if point is PointName.LEADER_AND_ISR else "kraft"
    return Schedule(
        id=f"leader-epoch/follower-of-an-older-epoch-is-fenced-{mode}",
        requirement=(
            "From 2.1 on a leader refuses fetches of another leader epoch with FENCED_LEADER_EPOCH and counts nothing "
            "of them; before, it serves them, and they move the high watermark."
        ),
        sources=(*_SOURCES, "KAFKA-6880"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m0"),
            Hold("deaf", point, broker=BrokerId(3)),
            kill(1),
            await_leader(2),
            await_hold("deaf"),
            start(1),
            await_isr(1, 2, 3),
            Elect(ElectionKind.PREFERRED),
            await_leader(1),
            produce("m1", expect=Expectation.ANY),
            checkpoint("broker 1 leads again, in an epoch that broker 3 has not heard of"),
            release("deaf"),
            await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
            checkpoint("broker 3 has heard"),
            produce("m2"),
            checkpoint("end"),
        ),
    )


_FOLLOWER_WHY = (
    "Broker 3 hears neither that broker 2 leads nor that broker 1 leads again two epochs later. It goes on "
    "fetching from "
    "broker 1 in the first epoch: what it is answered, and whether its fetch commits m1, tells whether it is fenced."
)

_FOLLOWER_ZOOKEEPER = _zombie_follows(PointName.LEADER_AND_ISR)

_FOLLOWER_KRAFT = _zombie_follows(PointName.CONTROLLER_FETCH_RESPONSE)

ZOMBIE_FOLLOWER_ZOOKEEPER = Scenario(
    name="LE-05/follower-zookeeper",
    explanation=_FOLLOWER_WHY,
    where=_ZOOKEEPER,
    schedule=_FOLLOWER_ZOOKEEPER,
    questions=(errors_of_a_zombie(_FOLLOWER_ZOOKEEPER, follower=3, leader=1, heard="deaf"),),
)

ZOMBIE_FOLLOWER_KRAFT = Scenario(
    name="LE-05/follower-kraft",
    explanation=_FOLLOWER_WHY,
    where=_KRAFT,
    schedule=_FOLLOWER_KRAFT,
    questions=(errors_of_a_zombie(_FOLLOWER_KRAFT, follower=3, leader=1, heard="deaf"),),
)

FENCED_FETCHES = Examination(
    name="LE-05/follower",
    id="one-broker/fetch-in-another-epoch-is-fenced",
    requirement=(
        "From 2.1 on a fetch in an older epoch than the leader's is refused with FENCED_LEADER_EPOCH (74), in a newer "
        "one with UNKNOWN_LEADER_EPOCH (75), and its offset counts for nothing; before, it is served and counted."
    ),
    sources=("LE-05", "KIP-320", "KAFKA-6880", "KAFKA-7395"),
    explanation="Up to 2.0 the high watermark rises on the word of followers that believe in other epochs.",
    where=WITH_PUPPETS,
    examined=by("one_broker:FENCED_FETCHES"),
)

ZOMBIE = Examination(
    name="LE-05/zombie",
    id="one-broker/zombie-leader-commits-nothing",
    requirement=(
        "A leader that has not heard of its successor appends, but commits nothing: acks=all times out, and what it "
        "appended is cut when it follows the leader of the higher epoch."
    ),
    sources=("LE-05", "TR-05", "AC-03", "001"),
    explanation=(
        "The others are in epoch 6 already and fetch from it no more. Records b and c, one of them acknowledged with "
        "acks=1, are not in the log that it has in the end."
    ),
    where=WITH_PUPPETS,
    examined=by("one_broker:ZOMBIE"),
)

PAUSED = Scenario(
    name="LE-05/paused",
    explanation=(
        "No follower fetches from broker 1, which has z0 alone, when its process is stopped. Broker 2 is elected. When "
        "broker 1 goes on it follows broker 2 and cuts z0; its producer has never been answered."
    ),
    schedule=Schedule(
        id="leader-epoch/paused-leader-cuts-what-it-had-alone",
        requirement=(
            "A leader whose process stands still until another one is elected follows that one when it goes on, and "
            "cuts what no follower had fetched."
        ),
        sources=(*_SOURCES, "TR-05"),
        replicas=brokers(1, 2, 3),
        settings=_SETTINGS,
        steps=(
            produce("m0"),
            CutLink(BrokerId(2), BrokerId(1)),
            CutLink(BrokerId(3), BrokerId(1)),
            produce("z0", expect=Expectation.PENDING),
            checkpoint("no follower fetches z0"),
            pause(1),
            await_leader(2),
            produce("m1"),
            checkpoint("broker 2 leads, and broker 1 stands still"),
            resume(1),
            await_isr(1, 2, 3),
            await_outcome("z0", expect=Expectation.INDETERMINATE),
            checkpoint("broker 1 follows broker 2"),
            Heal(BrokerId(2), BrokerId(1)),
            Heal(BrokerId(3), BrokerId(1)),
        ),
    ),
)

UNHEARD_SUCCESSOR = Scenario(
    name="LE-05/leader-kraft-log",
    explanation=(
        "The answer to broker 2's fetch of the metadata log is held, which says that broker 1 is elected. Broker 2 "
        "takes z0 with acks=1; m0 goes to broker 1 and waits until broker 2 has heard, follows, and has cut z0."
    ),
    where=_KRAFT,
    schedule=Schedule(
        id="leader-epoch/leader-that-does-not-read-of-its-successor",
        requirement=_LEADER_REQUIREMENT,
        sources=_SOURCES,
        replicas=brokers(1, 2, 3),
        settings=_SETTINGS,
        steps=(
            kill(1),
            start(1),
            await_isr(1, 2, 3),
            Hold("deposed", PointName.CONTROLLER_FETCH_RESPONSE, broker=BrokerId(2)),
            Elect(ElectionKind.PREFERRED),
            await_hold("deposed"),
            await_leader(1),
            Produce((Label("z0"),), Acks.LEADER, leader=BrokerId(2)),
            checkpoint("broker 2 leads still, as it believes"),
            produce("m0", expect=Expectation.PENDING),
            release("deposed"),
            await_outcome("m0", expect=Expectation.ACKNOWLEDGED),
            checkpoint("broker 2 has cut z0"),
        ),
    ),
)

FENCED_LEADER = Scenario(
    name="LE-05/fenced-leader",
    explanation=(
        "Broker 1 is cut off from all other nodes. A client that knows no other leader sends it z0 with acks=1: "
        "acknowledged, and lost, as acks=1 allows."
    ),
    where=_KRAFT,
    schedule=Schedule(
        id="leader-epoch/isolated-leader-is-fenced",
        requirement="A leader that comes back keeps nothing that was not committed, and loses nothing that was.",
        sources=_SOURCES,
        replicas=brokers(1, 2, 3),
        settings=_SETTINGS,
        steps=(
            produce("m0"),
            Isolate(BrokerId(1)),
            await_leader(2),
            Produce((Label("z0"),), Acks.LEADER, leader=BrokerId(1)),
            produce("m1"),
            checkpoint("two leaders"),
            Rejoin(BrokerId(1)),
            await_isr(1, 2, 3),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (
    ZOMBIE_LEADER_ZOOKEEPER,
    ZOMBIE_LEADER_KRAFT,
    ZOMBIE_FOLLOWER_ZOOKEEPER,
    ZOMBIE_FOLLOWER_KRAFT,
    FENCED_FETCHES,
    ZOMBIE,
    PAUSED,
    UNHEARD_SUCCESSOR,
    FENCED_LEADER,
)
