"""Which holes must the explorer find by itself? Each with the release that has it and one that has it fixed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from oracle.brokers.answers import search
from oracle.brokers.model import Brokers
from oracle.brokers.questions import SearchBounds
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from oracle.explorer.model import Exploration
    from oracle.state import PartitionState

CLEAN_ONLY = TopicSettings(min_insync_replicas=1, unclean_leader_election=False)
UNCLEAN = TopicSettings(min_insync_replicas=1, unclean_leader_election=True)


@dataclass(frozen=True, slots=True)
class Hole:
    """A property that one release breaks within some bounds, and a later one does not."""

    name: str
    broken: str
    fixed: str
    property_name: str
    bounds: SearchBounds
    metadata: MetadataMode = MetadataMode.ZOOKEEPER


HOLES = (
    Hole(
        "truncation-to-high-watermark",
        "0.10.2.2",
        "0.11.0.3",
        "AcknowledgedSurvives",
        SearchBounds(replicas=3, records=1, epochs=1, settings=CLEAN_ONLY),
    ),
    Hole(
        "divergence-after-fast-failovers",
        "1.1.1",
        "2.0.1",
        "InSyncLogsMatch",
        SearchBounds(replicas=2, records=2, epochs=2, settings=UNCLEAN),
    ),
    Hole(
        "leader-without-epoch-entry",
        "2.0.0",
        "2.0.1",
        "AcknowledgedSurvives",
        SearchBounds(replicas=2, records=2, epochs=3, settings=UNCLEAN),
    ),
    Hole(
        "diverging-fetch-counted",
        "2.8.0",
        "2.8.1",
        "AcknowledgedSurvives",
        SearchBounds(replicas=2, records=2, epochs=2, settings=CLEAN_ONLY),
    ),
    Hole(
        "last-replica-standing",
        "3.9.2",
        "4.3.1",
        "NothingAcknowledgedIsLost",
        SearchBounds(records=1, epochs=2, settings=TopicSettings(2), kills=False, stops=True, power_failure=True),
        MetadataMode.KRAFT,
    ),
)


def model(hole: Hole, version: str) -> Brokers:
    """Return the brokers of a release within a hole's bounds."""
    return Brokers(rules_for(version, hole.metadata), hole.bounds)


@cache
def searched(hole: Hole, version: str) -> tuple[Brokers, Exploration[PartitionState]]:
    """Search a release for a hole."""
    brokers = model(hole, version)
    return brokers, search(brokers, [hole.property_name])
