"""Which silent follower leaves the ISR, when, and what does that do to those who wait?

Choices: nothing is measured between the silence and the wait for the lag time, which must not pass unasked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.catalogue.questions import Question, Took
from conformance.catalogue.scenario import Scenario
from conformance.notes import first_at
from conformance.scenarios.in_sync_replicas.shrink_times import last_fetch_before, leaves_within, shrunk_at
from conformance.scenarios.in_sync_replicas.silence import (
    heard_again,
    removed_while_a_record_waits,
    removed_without,
)
from conformance.scenarios.vocabulary import await_hold, await_lag, brokers, checkpoint, hold_request, produce
from oracle.schedule import Schedule, Settings
from oracle.vocabulary import Timing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.catalogue.questions import Expected
    from conformance.run_directory import RunDirectory
    from oracle.rules.rule_set import RuleSet


def _within_lag(_rules: RuleSet, _prediction: Mapping[str, Any]) -> Expected:
    return leaves_within()


def _silence(run: RunDirectory) -> Took:
    caught = first_at(run, "hold_caught", "silence")
    last = last_fetch_before(run, 2, 1, caught)
    return Took(last, shrunk_at(run, 1, last))


SILENCE = Question(
    "milliseconds from the last fetch of broker 2 that reached its leader to its removal from the ISR",
    _within_lag,
    _silence,
)

LEAVES_IN_TIME = Scenario(
    name="IS-01",
    explanation=(
        "Broker 2 falls silent with one record missing. Its leader looks every 1.5 s for followers that were not "
        "caught "
        "up for longer than 3 s: it is removed between 3.0 and 4.5 s after its last fetch."
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
    questions=(SILENCE,),
)

SILENCE_ALONE = Scenario(
    name="IS-04",
    explanation=(
        "Broker 2 has every record when it falls silent, and nothing is produced. From 2.1 on it stays in the ISR; "
        "up to "
        "2.0 its silence alone puts it out, and its next fetch brings it back."
    ),
    schedule=Schedule(
        id="in-sync-replicas/silence-alone-removes-nobody",
        requirement=(
            "From 2.1 on a follower whose log ends where the leader's does is still in the ISR when it was silent for "
            "as long as puts out one that lacks a record; before, it leaves like any other one."
        ),
        sources=("IS-04", "IS-03", "003", "004", "KAFKA-7152"),
        replicas=brokers(1, 2),
        timing=Timing.LAG,
        steps=(
            produce("m0"),
            hold_request("silence", follower=2, leader=1, fetch_offset=1),
            await_hold("silence"),
            await_lag(2),
            checkpoint("broker 2 was silent for the lag time and has everything"),
            *heard_again(produce("m1")),
        ),
    ),
)

COMPLETES_WAITING = Scenario(
    name="IS-05",
    explanation=(
        "m1 waits for broker 2, which is silent. When broker 2 is out of the ISR, the leader alone is all that "
        "counts: "
        "its high watermark rises and m1 is acknowledged. From 2.7 to 3.0 nobody looks then (KAFKA-13091): m1 waits "
        "until m2 is appended."
    ),
    schedule=Schedule(
        id="in-sync-replicas/shrink-raises-the-high-watermark",
        requirement=(
            "When a replica leaves the ISR the leader's high watermark rises to the end of those who are left, and "
            "the "
            "acks=all produces that waited for it are acknowledged."
        ),
        sources=("IS-05", "HW-07", "AC-02", "003", "KAFKA-13091"),
        replicas=brokers(1, 2),
        settings=Settings(min_insync_replicas=1, unclean_leader_election=False),
        timing=Timing.LAG,
        steps=(
            *removed_while_a_record_waits("broker 2 has left the ISR"),
            checkpoint("m2 is appended"),
            *heard_again(produce("m3")),
        ),
    ),
)

SCENARIOS = (LEAVES_IN_TIME, SILENCE_ALONE, COMPLETES_WAITING)
