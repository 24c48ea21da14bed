"""Which known replication defects does no scenario show, and why not?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unreached:
    """A known defect that is out of reach here.

    Attributes:
        issue: as upstream names it.
        symptom: what goes wrong.
        reason: why no schedule and no puppet brings it about on stock brokers.
    """

    issue: str
    symptom: str
    reason: str


UNREACHED: tuple[Unreached, ...] = (
    Unreached(
        "KAFKA-15221",
        "3.5 and 3.6 in KRaft mode: a fetch that a broker sent before its restart is counted after one sent since",
        "the older request must wait inside the leader while the newer one is served: a held frame dies with its "
        "connection when the broker is killed, and puppets speak to brokers with ZooKeeper only, whose fetches name no "
        "broker epoch",
    ),
    Unreached(
        "KAFKA-19996",
        "3.7 and newer: below min.insync.replicas a lagging follower enters and leaves the ISR in turn",
        "open upstream: there is no repaired release to compare with",
    ),
    Unreached(
        "KAFKA-15608, KAFKA-20961",
        "a replica moved to another log directory loses the epochs without records, and fetches out of range for ever",
        "brokers here have one log directory each; open upstream",
    ),
    Unreached(
        "KAFKA-20634",
        "a group coordinator applies a high watermark over rows that it did not write",
        "consumer groups are no part of the model; repaired in no release that is listed",
    ),
    Unreached(
        "KAFKA-21110",
        "the documentation does not say that min.insync.replicas counts as at most the replication factor",
        "a gap in the documentation, not in what brokers do; open upstream",
    ),
)
