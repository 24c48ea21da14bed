"""An entry is left out where a release cannot have it, with the reason, and nowhere else."""

from __future__ import annotations

import pytest

from conformance.catalogue.where import EVERYWHERE, Where
from oracle.vocabulary import MetadataMode

KRAFT, ZOOKEEPER = MetadataMode.KRAFT, MetadataMode.ZOOKEEPER
BOTH = Where("2.2.0", "4.0.0", ZOOKEEPER, "nobody plays the controller", "before, nobody asks")


@pytest.mark.parametrize(
    ("where", "version", "metadata", "reason"),
    [
        (EVERYWHERE, "0.10.2.2", ZOOKEEPER, None),
        (Where(since="2.2.0"), "2.2.0", ZOOKEEPER, None),
        (Where(since="2.2.0"), "2.10.1", ZOOKEEPER, None),
        (Where(since="2.2.0"), "2.1.1", ZOOKEEPER, "exists since Kafka 2.2.0"),
        (Where(before="4.0.0", why="ISR by LeaderAndIsr"), "3.9.2", KRAFT, None),
        (
            Where(before="4.0.0", why="LeaderAndIsr is gone"),
            "4.0.0",
            KRAFT,
            "exists only before Kafka 4.0.0: LeaderAndIsr is gone",
        ),
        (BOTH, "2.1.1", ZOOKEEPER, "exists since Kafka 2.2.0: before, nobody asks"),
        (BOTH, "4.0.1", KRAFT, "exists only before Kafka 4.0.0: nobody plays the controller"),
        (BOTH, "3.9.2", KRAFT, "exists only with zookeeper metadata: nobody plays the controller"),
        (BOTH, "3.9.2", ZOOKEEPER, None),
        (Where(metadata=ZOOKEEPER), "3.9.2", ZOOKEEPER, None),
        (Where(metadata=ZOOKEEPER), "3.9.2", KRAFT, "exists only with zookeeper metadata"),
    ],
)
def test_a_release_is_left_out_for_a_reason(
    where: Where, version: str, metadata: MetadataMode, reason: str | None
) -> None:
    assert where.reason_not_to_run(version, metadata) == reason


def test_its_limits_read_in_words() -> None:
    assert Where("2.2.0", "3.9.0", ZOOKEEPER, "a puppet").text == (
        "Kafka 2.2.0 and newer, Kafka before 3.9.0, zookeeper metadata: a puppet"
    )
    assert BOTH.text.endswith("zookeeper metadata: before, nobody asks; nobody plays the controller")
    assert EVERYWHERE.text == "every release"
