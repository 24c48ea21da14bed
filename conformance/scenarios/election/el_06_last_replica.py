"""What if the last replica in sync crashes, its disk has forgotten records, and it is back first?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import Where
from conformance.scenarios.vocabulary import await_isr, await_leader, brokers, checkpoint, kill, produce, start, stop
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import LoseTail
from oracle.vocabulary import BrokerId, MetadataMode, Offset

if TYPE_CHECKING:
    from oracle.steps.step import Step


def _deleted_topic(*, is_switched: bool) -> Examination:
    variant, which, place = ("", "as it comes", "deleted_topic:AS_IT_COMES")
    if is_switched:
        variant, which, place = ("-other-level", "switched over", "deleted_topic:SWITCHED_OVER")
    return Examination(
        name=f"EL-06/deleted-topic{variant}",
        id=f"election/broker-crashes-after-its-topic-is-deleted-with-the-feature-{which.replace(' ', '-')}",
        requirement=(
            "A broker that crashes is registered again, whatever became of topics in which it was eligible to lead; "
            f"with the feature eligible.leader.replicas.version {which}."
        ),
        sources=("EL-06", "KIP-966"),
        explanation=(
            "A defect of every release with eligible leader replicas, found by this project; open upstream, not "
            "reported yet. The new minimum clears who is eligible, and leaves the controller's index of them as it "
            "was. Once the topic is deleted the controller fails at each registration of the broker, gives up its "
            "leadership each time, and the broker ends. Without the feature it registers."
        ),
        examined=by(place),
        where=Where(since="4.0.0", metadata=MetadataMode.KRAFT, why="clusters have the feature (KIP-966)"),
    )


DELETED_TOPIC = _deleted_topic(is_switched=False)

DELETED_TOPIC_OTHER_LEVEL = _deleted_topic(is_switched=True)

OTHER_LEVEL = Examination(
    name="EL-06/other-level",
    id="election/last-replica-standing-with-the-feature-switched-over",
    requirement=(
        "It is the feature eligible.leader.replicas.version, not the release, that keeps acknowledged records when the "
        "last replica in sync crashes and its disk forgets them."
    ),
    sources=("EL-06", "003", "KIP-966"),
    explanation=(
        "4.0 formatted with the feature on keeps all three records; 4.1 and newer formatted with it off lose two of "
        "them, as every release before."
    ),
    examined=by("eligible_feature:OTHER_LEVEL"),
    where=Where(since="4.0.0", metadata=MetadataMode.KRAFT, why="clusters have the feature (KIP-966)"),
)

_STEPS: tuple[Step, ...] = (
    produce("m0", "m1", "m2"),
    checkpoint("everybody has three acknowledged records"),
    stop(2),
    stop(3),
    await_isr(1),
    kill(1),
    LoseTail(BrokerId(1), Offset(1)),
    checkpoint("nobody is alive, and broker 1 has forgotten m1 and m2"),
    start(1),
    checkpoint("broker 1 is back first"),
    start(3),
    start(2),
    await_isr(1, 2, 3),
    produce("m3"),
    checkpoint("end"),
)

_WHY = (
    "Broker 2 stops, then broker 3: both have everything. Broker 1, left alone, crashes and loses what it had not "
    "flushed. Without eligible leader replicas it is elected again as the only member of the ISR, and the others cut "
    "what it has forgotten; with them (4.1 on) it waits for broker 3, which stopped cleanly and has everything."
)

_REQUIREMENT = (
    "What min.insync.replicas in-sync replicas had acknowledged survives the crash of the last one of them that was "
    "left, even if its disk forgot it."
)

CLEAN = Scenario(
    name="EL-06",
    explanation=_WHY,
    where=Where(
        since="0.11.0",
        why="followers of 0.10.2 that are ahead of a clean leader stop for good; see EL-06/without-epochs",
    ),
    schedule=Schedule(
        id="election/last-replica-standing",
        requirement=_REQUIREMENT,
        sources=("EL-06", "003", "KIP-966"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=False),
        steps=_STEPS,
    ),
)

WITHOUT_EPOCHS = Scenario(
    name="EL-06/without-epochs",
    explanation=f"{_WHY} Unclean election is on, as it is by default there, so that the others may cut to its end.",
    where=Where(before="0.11.0", why="later logs have leader epochs, and EL-06 shows the same"),
    schedule=Schedule(
        id="election/last-replica-standing-without-epochs",
        requirement=_REQUIREMENT,
        sources=("EL-06", "003", "KIP-966"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=True),
        steps=_STEPS,
    ),
)

NO_LONGER_ELIGIBLE = Scenario(
    name="EL-06/eligible-lost-its-tail",
    explanation=(
        "Broker 2 stopped in order, with everything, and lost m1 and m2 while it was down. It is back before broker 1 "
        "and does not lead, with eligible leader replicas neither."
    ),
    schedule=Schedule(
        id="election/eligible-replica-that-lost-its-tail",
        requirement="An eligible replica that lost its tail is not eligible any more, however orderly it shut down.",
        sources=("EL-06", "KIP-966"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=False),
        steps=(
            produce("m0", "m1", "m2"),
            stop(3),
            await_isr(1, 2),
            stop(2),
            await_isr(1),
            LoseTail(BrokerId(2), Offset(1)),
            kill(1),
            start(2),
            await_leader(None),
            checkpoint("broker 2 is back and does not lead"),
            start(1),
            start(3),
            await_isr(1, 2, 3),
            checkpoint("end"),
        ),
    ),
)

FOLLOWER_AHEAD = Scenario(
    name="EL-06/follower-ahead",
    explanation=(
        "Broker 1, the last one in sync, has forgotten everything and leads. Broker 2 comes back with both records: up "
        "to 2.0.0 it ends itself (KAFKA-7414), on 0.10.2 its shutdown gets no further than the closed port."
    ),
    schedule=Schedule(
        id="election/follower-ahead-of-a-leader-that-forgot",
        requirement="A broker that does not go on is told from one that does, even if its process stays.",
        sources=("EL-06", "TR-06", "KAFKA-7414"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m0", "m1"),
            kill(2),
            kill(1),
            LoseTail(BrokerId(1), Offset(0)),
            start(1),
            start(2),
            checkpoint("broker 1 leads without records"),
        ),
    ),
)

SCENARIOS = (
    DELETED_TOPIC,
    DELETED_TOPIC_OTHER_LEVEL,
    OTHER_LEVEL,
    CLEAN,
    WITHOUT_EPOCHS,
    NO_LONGER_ELIGIBLE,
    FOLLOWER_AHEAD,
)
