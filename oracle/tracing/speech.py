"""Which requests does a release send to its peers? The versions, and the fields that come with them.

Brokers of one release talk to each other in the newest versions that its own inter-broker protocol or
metadata version knows. An older protocol may be configured (inter.broker.protocol.version), so an older
version is no deviation; a newer one is.

Sources: ReplicaFetcherThread and RemoteLeaderEndPoint (fetchRequestVersion,
offsetForLeaderEpochRequestVersion), MetadataVersion; KIP-101, KIP-320, KIP-497, KIP-595.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.rules.release import parse_version

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet

FETCH = {
    "0.10.1": 3,
    "0.11.0": 5,
    "1.1.0": 7,
    "2.0.0": 8,
    "2.1.0": 10,
    "2.3.0": 11,
    "2.7.0": 12,
    "3.1.0": 13,
    "3.5.0": 15,
    "3.7.0": 16,
    "3.9.0": 17,
    "4.1.0": 18,
}
LOOKUP = {"0.11.0": 0, "2.0.0": 1, "2.1.0": 2, "2.3.0": 3, "2.8.0": 4}
ALTER_PARTITION = {"2.7.0": 0, "3.2.0": 1, "3.3.0": 2, "3.5.0": 3}


@dataclass(frozen=True, slots=True)
class Speech:
    """What a release sends.

    Attributes:
        fetch: the newest version of FETCH.
        lookup: the newest version of OffsetsForLeaderEpoch; -1 if followers never ask.
        alter_partition: the newest version of AlterPartition; -1 if leaders never ask.
        tells_epoch: whether requests carry the leader epoch that the follower is in.
        tells_last_epoch: whether FETCH carries the epoch of the follower's last record.
        may_forget_last_epoch: an empty answer wipes that epoch (KAFKA-15510).
    """

    fetch: int
    lookup: int
    alter_partition: int
    tells_epoch: bool
    tells_last_epoch: bool
    may_forget_last_epoch: bool


def speech_of(rules: RuleSet) -> Speech:
    """Return what the brokers of a release send to each other."""
    version = parse_version(rules.version)
    return Speech(
        fetch=_newest(FETCH, version),
        lookup=_newest(LOOKUP, version) if rules.truncation.asks_leader else -1,
        alter_partition=_newest(ALTER_PARTITION, version) if rules.asks_controller_to_join else -1,
        tells_epoch=version >= (2, 1),
        tells_last_epoch=rules.truncation.checks_on_fetch,
        may_forget_last_epoch=(3, 5) <= version < (3, 7),
    )


def _newest(table: dict[str, int], version: tuple[int, ...]) -> int:
    return max((number for since, number in table.items() if version >= parse_version(since)), default=-1)
