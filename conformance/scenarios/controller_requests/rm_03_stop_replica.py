"""What becomes of a replica that is stopped, and which decision to stop it counts?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import WITH_CONTROLLER_REQUESTS, with_puppets_since

STOPPED = Examination(
    name="RM-03/delete",
    id="controller-requests/stopped-replica-keeps-or-loses-its-files",
    requirement=(
        "StopReplica with delete=false ends the replica's fetches and keeps every file of it; with delete=true the "
        "files go."
    ),
    sources=("RM-03", "003"),
    explanation="A directory that is renamed to be deleted counts as gone: no broker reads it again.",
    where=WITH_CONTROLLER_REQUESTS,
    examined=by("controller_requests:STOPPED"),
)

OLD_DECISION = Examination(
    name="RM-03/old-decision",
    id="controller-requests/old-stop-replica-is-fenced",
    requirement=(
        "StopReplica that was decided in an older leader epoch than the replica's, up to 3.4.0 also in the same, "
        "is refused for the partition with FENCED_LEADER_EPOCH (74): it fetches on and keeps its files."
    ),
    sources=("RM-03", "KIP-570", "KAFKA-13972"),
    explanation=(
        "The replica is in epoch 5: a decision of epoch 4 is old, one of epoch 5 as well up to 3.4.0, and one of epoch "
        "6 counts everywhere."
    ),
    where=with_puppets_since("2.6.0", "before, StopReplica has no leader epoch"),
    examined=by("controller_requests:OLD_DECISION"),
)

SCENARIOS = (STOPPED, OLD_DECISION)
