"""Which records does an unclean election cost where logs have epochs?"""

from __future__ import annotations

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.epoch_requests import end_told
from conformance.record.timeline import Event
from conformance.scenarios.vocabulary import (
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    kill,
    produce,
    start,
)
from oracle.schedule import Schedule, TopicSettings

SUFFIX_OF_THE_DEPOSED = Scenario(
    name="TR-08",
    explanation=(
        "m1 and m2 were acknowledged with acks=all by broker 1 alone. Broker 2 is elected uncleanly and writes x1; "
        "broker 1 returns and cuts exactly m1 and m2 where it has epochs. 0.10.2 cuts to the leader's end only, so m1 "
        "stays where broker 2 has x1: lost all the same, and the logs differ."
    ),
    questions=(
        ScheduleQuestion(
            "the end offset of its last epoch that broker 1 was told",
            lambda rules, _: None if rules.truncation.cuts_to_high_watermark else 1,
            end_told(1, 2, since=(Event.BROKER_KILLED, "1")),
        ),
    ),
    schedule=Schedule(
        id="truncation/unclean-election-is-unsafe-with-epochs",
        requirement=(
            "With min.insync.replicas=1 and unclean election on, epochs or not, the records that a deposed leader "
            "acknowledged alone are lost, and no others."
        ),
        sources=("TR-08", "EL-02", "TR-06", "001", "KIP-101"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=True),
        steps=(
            produce("m0"),
            kill(2),
            await_isr(1),
            produce("m1", "m2"),
            checkpoint("broker 1 alone has acknowledged m1 and m2"),
            kill(1),
            await_leader(None),
            start(2),
            await_leader(2),
            produce("x1"),
            checkpoint("broker 2 leads with x1 where m1 was"),
            start(1),
            await_isr(1, 2),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (SUFFIX_OF_THE_DEPOSED,)
