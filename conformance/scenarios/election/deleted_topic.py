"""Can a broker crash, once the topic in which it was eligible is deleted? A defect that this project found."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import Where
from oracle.vocabulary import MetadataMode


def _entry(*, is_switched: bool) -> Examination:
    variant, which, place = ("", "as it comes", "election.deleted_topic:AS_IT_COMES")
    if is_switched:
        variant, which, place = ("-other-level", "switched over", "election.deleted_topic:SWITCHED_OVER")
    return Examination(
        name=f"EL-06/deleted-topic{variant}",
        id=f"election/broker-crashes-after-its-topic-is-deleted-with-the-feature-{which.replace(' ', '-')}",
        requirement=(
            "A broker that crashes is registered again, whatever became of topics in which it was eligible to lead; "
            f"with the feature eligible.leader.replicas.version {which}."
        ),
        sources=("EL-06", "KIP-966"),
        explanation=(
            "A defect of every release with eligible leader replicas, found by this project; open upstream, not "
            "reported yet. The new minimum clears who is eligible, and leaves the controller's index of them as it "
            "was. Once the topic is deleted the controller fails at each registration of the broker, gives up its "
            "leadership each time, and the broker ends. Without the feature it registers."
        ),
        examined=by(place),
        where=Where(since="4.0.0", metadata=MetadataMode.KRAFT, why="clusters have the feature (KIP-966)"),
    )


SCENARIOS = (_entry(is_switched=False), _entry(is_switched=True))
