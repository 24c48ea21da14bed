"""On which releases must every regression scenario be predictable, or say why it does not apply?"""

from __future__ import annotations

from oracle.vocabulary import MetadataMode

WITH_ZOOKEEPER = (
    "0.10.2.2 0.11.0.3 1.0.2 1.1.0 1.1.1 2.0.0 2.0.1 2.1.0 2.1.1 2.3.1 2.4.1 2.6.0 2.6.3 2.7.2 2.8.0 2.8.1 2.8.2 "
    "3.0.2 3.2.3 3.4.1 3.6.2 3.9.2"
)
WITH_KRAFT = "3.3.2 3.4.1 3.5.2 3.6.2 3.7.2 3.8.1 3.9.2 4.0.1 4.1.2 4.2.1 4.3.1"
RELEASES = [(version, MetadataMode.ZOOKEEPER) for version in WITH_ZOOKEEPER.split()] + [
    (version, MetadataMode.KRAFT) for version in WITH_KRAFT.split()
]
"""The ladder, and the releases around each defect."""
