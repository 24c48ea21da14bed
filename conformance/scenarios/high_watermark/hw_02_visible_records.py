"""What does a consumer see of a record that is not committed yet, at the leader, at a follower, near its rack?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import Where
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    consume,
    hold_request,
    hold_response,
    latest,
    produce,
    release,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Expectation

NEAR_ITS_RACK = Examination(
    name="HW-02/rack-aware",
    id="asking/a-rack-aware-consumer-is-sent-to-the-follower-near-it",
    requirement=(
        "A leader sends a consumer to the follower in its rack that has the offset it asks for; that follower "
        "shows it nothing at or above its own high watermark."
    ),
    sources=("HW-02", "KIP-392"),
    explanation=(
        "Broker 2 has m1 and does not know that it is committed: the leader, which knows that broker 2 has it, sends "
        "the consumer there, and broker 2 shows it nothing, without an error. At an offset that broker 2 does not have "
        "the leader answers itself, as it does to consumers in its own rack, in none, or in a rack without replicas."
    ),
    where=Where(since="2.4.0", why="before, a leader names no follower and no follower answers a consumer"),
    examined=by("preferred_replica:RACK_AWARE"),
)

AT_LEADER = Scenario(
    name="HW-02/leader",
    explanation=(
        "m1 is in the leader's log, and broker 2 does not have it: nobody is shown m1, and a consumer that asks for "
        "its offset gets no record and no error. When broker 2 has told that it has m1, everybody is shown it."
    ),
    schedule=Schedule(
        id="asking/consumers-see-less-than-the-high-watermark",
        requirement=(
            "A consumer is shown the records below the high watermark only; the record at the high watermark is "
            "invisible, though it is in the leader's log, until the high watermark has passed it."
        ),
        sources=("HW-02", "HW-05", "000", "001", "002", "004"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_request("replication", follower=2, leader=1, fetch_offset=1),
            await_hold("replication"),
            produce("m1", expect=Expectation.PENDING),
            checkpoint("m1 is in the leader's log only"),
            consume(),
            consume(offset=1),
            latest(),
            release("replication"),
            await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
            consume(),
            consume(offset=1),
            latest(),
            checkpoint("m1 is committed"),
        ),
    ),
)

AT_FOLLOWER = Scenario(
    name="HW-02/follower",
    explanation=(
        "m1 is on both replicas and committed, and broker 2 has not heard of the commitment: the leader shows m1, "
        "broker 2 does not. Up to 2.3 broker 2 shows consumers nothing at all and answers NOT_LEADER_OR_FOLLOWER."
    ),
    schedule=Schedule(
        id="asking/a-follower-shows-what-it-knows-to-be-committed",
        requirement=(
            "From 2.4 on a consumer may read from a follower, and is shown there what is below the follower's own "
            "high watermark; before, a follower answers no consumer."
        ),
        sources=("HW-02", "HW-06", "KIP-392"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_response("commitment", follower=2, leader=1, fetch_offset=2),
            produce("m1"),
            await_hold("commitment"),
            checkpoint("m1 is committed, which the follower has not heard"),
            consume(1),
            consume(2),
            consume(2, offset=2),
            release("commitment"),
            consume(2),
            checkpoint("the follower has heard it"),
        ),
    ),
)

SCENARIOS = (NEAR_ITS_RACK, AT_LEADER, AT_FOLLOWER)
