"""How long after its last fetch does a silent follower leave the ISR?

Nothing is measured between the silence and the wait for the lag time, which must not pass unasked.
"""

from __future__ import annotations

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.shrink import leaves_within, silence_before_shrink
from conformance.scenarios.in_sync_replicas.silence import heard_again, removed_without
from conformance.scenarios.vocabulary import (
    brokers,
    produce,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Timing

LEAVES_IN_TIME = Scenario(
    name="IS-01",
    explanation=(
        "Broker 2 falls silent with one record missing. Its leader looks every 1.5 s for followers that were not "
        "caught up for longer than 3 s: it is removed between 3.0 and 4.5 s after its last fetch."
    ),
    schedule=Schedule(
        id="in-sync-replicas/silent-follower-leaves-in-time",
        requirement=(
            "A follower that lacks a record and falls silent leaves the ISR between 1.0 and 1.5 times "
            "replica.lag.time.max.ms after its last fetch at the leader's end."
        ),
        sources=("IS-01", "002", "003", "004"),
        replicas=brokers(1, 2),
        timing=Timing.LAG,
        steps=(*removed_without("m1"), *heard_again(produce("m2"))),
    ),
    questions=(
        ScheduleQuestion(
            "milliseconds from the last fetch of broker 2 that reached its leader to its removal from the ISR",
            lambda _rules, _prediction: leaves_within(),
            silence_before_shrink,
        ),
    ),
)

SCENARIOS = (LEAVES_IN_TIME,)
