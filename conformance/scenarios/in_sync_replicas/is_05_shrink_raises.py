"""What does a shrink of the ISR do to the high watermark, and to those who wait for it?"""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.in_sync_replicas.silence import heard_again, removed_while_a_record_waits
from conformance.scenarios.vocabulary import (
    brokers,
    checkpoint,
    produce,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import Timing

COMPLETES_WAITING = Scenario(
    name="IS-05",
    explanation=(
        "m1 waits for broker 2, which is silent. When broker 2 is out of the ISR, the leader alone is all that counts: "
        "its high watermark rises and m1 is acknowledged. From 2.7 to 3.0 nobody looks then (KAFKA-13091): m1 waits "
        "until m2 is appended."
    ),
    schedule=Schedule(
        id="in-sync-replicas/shrink-raises-the-high-watermark",
        requirement=(
            "When a replica leaves the ISR the leader's high watermark rises to the end of those who are left, and the "
            "acks=all produces that waited for it are acknowledged."
        ),
        sources=("IS-05", "HW-07", "AC-02", "003", "KAFKA-13091"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        timing=Timing.LAG,
        steps=(
            *removed_while_a_record_waits("broker 2 has left the ISR"),
            checkpoint("m2 is appended"),
            *heard_again(produce("m3")),
        ),
    ),
)

SCENARIOS = (COMPLETES_WAITING,)
