"""Which controller is obeyed, and which of its decisions (KIP-380)?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import WITH_CONTROLLER_REQUESTS, with_puppets_since

REPLACED_CONTROLLER = Examination(
    name="RM-01/replaced-controller",
    id="controller-requests/replaced-controller-is-refused",
    requirement=(
        "LeaderAndIsr, StopReplica and UpdateMetadata with a controller epoch below the highest that the broker has "
        "seen are refused with STALE_CONTROLLER_EPOCH (11) and change nothing; with the current epoch they are obeyed."
    ),
    sources=("RM-01", "003"),
    explanation=(
        "After three refused requests the broker still leads in its old epoch with its old log, and its metadata say "
        "so; the last decision, of the controller in office, makes it a follower."
    ),
    where=WITH_CONTROLLER_REQUESTS,
    examined=by("controller_requests:REPLACED_CONTROLLER"),
)

LEADER_EPOCH = Examination(
    name="RM-01/leader-epoch",
    id="controller-requests/only-a-higher-leader-epoch-counts",
    requirement=(
        "A decision of the controller in office about a partition counts only in a leader epoch above the one that "
        "the broker knows; for any other the partition's error is STALE_CONTROLLER_EPOCH (11) and nothing changes."
    ),
    sources=("RM-01", "LE-05", "003"),
    explanation="A decision in epoch 4 and another one in epoch 5 leave the leader of epoch 5 as it is.",
    where=WITH_CONTROLLER_REQUESTS,
    examined=by("controller_requests:LEADER_EPOCH"),
)

BROKER_EPOCH = Examination(
    name="RM-01/broker-epoch",
    id="controller-requests/earlier-start-is-refused",
    requirement=(
        "A request that is meant for an earlier registration of the broker is refused with STALE_BROKER_EPOCH (77) "
        "and changes nothing; one that is meant for this registration is obeyed."
    ),
    sources=("RM-01", "KIP-380"),
    explanation="The registration's epoch is the ZooKeeper transaction that created the broker's node.",
    where=with_puppets_since("2.2.0", "before, a request does not say for which start of the broker it is meant"),
    examined=by("controller_requests:BROKER_EPOCH"),
)

SCENARIOS = (REPLACED_CONTROLLER, LEADER_EPOCH, BROKER_EPOCH)
