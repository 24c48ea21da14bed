"""Which defects does a follower show among puppets? Logs that begin late, or end later than the leader's."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.puppet_stage.where import WITH_PUPPETS
from conformance.scenarios.regressions.defect import FAMILY

LOG_BEGINS_LATE = Examination(
    name=f"{FAMILY}/KAFKA-9491",
    id=f"{FAMILY}/kafka-9491",
    requirement="A replica whose log was emptied and begins anew at a later offset can lead.",
    sources=("TR-09", "HW-13", "KAFKA-9491"),
    explanation=(
        "The leader's log begins at 5, so broker 1 throws its own away and begins there. In 2.4.0 its high watermark "
        "stays at 0, where there is nothing: becoming leader ends with out of range, and so does every produce to it."
    ),
    examined=by("regressions.followers_with_puppets:LOG_BEGINS_LATE"),
    where=WITH_PUPPETS,
)

LOG_ENDS_LATER = Examination(
    name=f"{FAMILY}/KAFKA-7414",
    id=f"{FAMILY}/kafka-7414",
    requirement="A follower whose log ends after its leader's cuts it and goes on.",
    sources=("TR-06", "TR-05", "KAFKA-7414"),
    explanation=(
        "Broker 1 has three records, all committed, and its new leader one; where broker 1's epoch ends that leader "
        "cannot tell. Up to 2.0.0 the fetch out of range ends the broker, since unclean election is off; in 0.10.2 its "
        "process hangs in that end. Later ones cut to the leader's end."
    ),
    examined=by("regressions.followers_with_puppets:LOG_ENDS_LATER"),
    where=WITH_PUPPETS,
)

SCENARIOS = (LOG_BEGINS_LATE, LOG_ENDS_LATER)
