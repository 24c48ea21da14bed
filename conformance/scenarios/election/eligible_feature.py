"""What if the last replica standing crashes on a cluster that was formatted otherwise than its release does?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import Where
from oracle.vocabulary import MetadataMode

SCENARIOS = (
    Examination(
        name="EL-06/other-level",
        id="election/last-replica-standing-with-the-feature-switched-over",
        requirement=(
            "It is the feature eligible.leader.replicas.version, not the release, that keeps acknowledged records "
            "when the "
            "last replica in sync crashes and its disk forgets them."
        ),
        sources=("EL-06", "003", "KIP-966"),
        explanation=(
            "4.0 formatted with the feature on keeps all three records; 4.1 and newer formatted with it off lose "
            "two of "
            "them, as every release before."
        ),
        examined=by("election.eligible_feature:OTHER_LEVEL"),
        where=Where(since="4.0.0", metadata=MetadataMode.KRAFT, why="clusters have the feature (KIP-966)"),
    ),
)
