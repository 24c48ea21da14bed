"""Which replica does a leader send a rack-aware consumer to, and what does that replica show it? HW-02, KIP-392."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import Where

SCENARIOS = (
    Examination(
        name="HW-02/rack-aware",
        id="asking/a-rack-aware-consumer-is-sent-to-the-follower-near-it",
        requirement=(
            "A leader sends a consumer to the follower in its rack that has the offset it asks for; that follower "
            "shows it nothing at or above its own high watermark."
        ),
        sources=("HW-02", "KIP-392"),
        explanation=(
            "Broker 2 has m1 and does not know that it is committed: the leader, which knows that broker 2 has it, "
            "sends the consumer there, and broker 2 shows it nothing, without an error. At an offset that broker 2 "
            "does not have the leader answers itself, as it does to consumers in its own rack, in none, or in a rack "
            "without replicas."
        ),
        where=Where(since="2.4.0", why="before, a leader names no follower and no follower answers a consumer"),
        examined=by("asking.preferred_replica:RACK_AWARE"),
    ),
)
