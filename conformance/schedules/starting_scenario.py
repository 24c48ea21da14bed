"""What happens on brokers, step by step, and what must come of it?

The tester predicts every replica's numbers and the fate of each record, runs the same steps on real brokers, and
compares. This one runs as it is: change a step, and ask `predict` first.

  kafka-conformance predict --schedule starting_scenario.py
  kafka-conformance run --schedule starting_scenario.py
  pytest starting_scenario.py --kafka-version 4.4.0
  kafka-conformance schedule-help
"""

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    kill,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import Acks, Expectation


def surviving_record(*, unclean: bool) -> Scenario:
    """Return the scenario with one of a topic's settings: a function makes as many as it is called for."""
    name = f"my/starting-scenario/unclean={'on' if unclean else 'off'}"
    return Scenario(
        name=name,
        explanation="Broker 2's fetch of m1 is held, so that only broker 1 has it; then it passes, and broker 1 dies.",
        schedule=Schedule(
            id=name,
            requirement="A record that was acknowledged with acks=all survives the death of its leader.",  # dispute it
            sources=(),  # KIPs, issues
            replicas=brokers(1, 2),  # broker ids; the first one leads
            settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=unclean),
            steps=(
                # A step ends when all replication that nothing holds has run: m0 is on both brokers, and committed.
                produce("m0", acks=Acks.ALL, expect=Expectation.ACKNOWLEDGED),
                # A frame between two brokers can be held on the wire. Broker 2 fetches at offset 1, since it has m0.
                hold_request("fetch of m1", follower=2, leader=1, fetch_offset=1),
                await_hold("fetch of m1"),
                produce("m1", acks=Acks.ALL, expect=Expectation.PENDING),  # no answer before broker 2 has it
                checkpoint("only broker 1 has m1"),  # measures every replica; each is compared with the prediction
                release("fetch of m1"),
                await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
                # kill -9. Broker 2 is in sync, so it is elected, with m1; broker 1 comes back and follows.
                kill(1),
                await_leader(2),
                start(1),
                await_isr(1, 2),
                checkpoint("the end"),
            ),
        ),
    )


SCENARIOS = (surviving_record(unclean=False), surviving_record(unclean=True))
"""What `--schedule` and pytest take from this file."""
