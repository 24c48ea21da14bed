"""What if the last replica in sync crashes, its disk has forgotten records, and it is back first?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import Where
from conformance.scenarios.vocabulary import await_isr, brokers, checkpoint, kill, produce, start, stop
from oracle.schedule import Schedule, Settings
from oracle.steps.brokers import LoseTail
from oracle.vocabulary import BrokerId, Offset

if TYPE_CHECKING:
    from oracle.steps.step import Step

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
        settings=Settings(min_insync_replicas=2, unclean_leader_election=False),
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
        settings=Settings(min_insync_replicas=2, unclean_leader_election=True),
        steps=_STEPS,
    ),
)

SCENARIOS = (CLEAN, WITHOUT_EPOCHS)
