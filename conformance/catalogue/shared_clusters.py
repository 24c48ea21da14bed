"""In which order are entries run, so that those that can share a cluster come one after the other?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.cluster_pool import brokers_for, cluster_kind

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from conformance.catalogue.examination import Entry


def in_running_order(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries with those of one cluster together; else, and within one cluster, in the order given."""
    groups: dict[Hashable, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(_cluster_of(entry), []).append(entry)
    return tuple(entry for group in groups.values() for entry in group)


def _cluster_of(entry: Entry) -> Hashable:
    """Return what two entries must have in common to share a cluster; examinations of one area often do."""
    if isinstance(entry, Scenario):
        return (brokers_for(entry.schedule), *cluster_kind(entry.schedule).values())
    return type(entry.subject).__module__
