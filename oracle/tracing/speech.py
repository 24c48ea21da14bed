"""Which requests does a release send to its peers? The versions, and the fields that come with them.

Brokers of one release talk to each other in the newest versions that its own inter-broker protocol or
metadata version knows, unless an older one is configured (inter.broker.protocol.version): then a version
is a deviation only if it is newer.

Sources: ReplicaFetcherThread and RemoteLeaderEndPoint (fetchRequestVersion,
offsetForLeaderEpochRequestVersion), MetadataVersion; KIP-101, KIP-320, KIP-497, KIP-595; what brokers of every
release were measured to send (tests/oracle/measured_versions.json).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.request_versions import fetches_claim_epoch
from oracle.rules import last_fetched_epoch
from oracle.rules.release import parse_version

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.trace_settings import TraceSettings

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
LOOKUP = {"0.11.0": 0, "2.0.0": 1, "2.1.0": 2, "2.3.0": 3}
NEWEST_KNOWN = (4, 4)
"""A release newer than this may speak any version after the newest that is known."""
LAST_EVER = 1_000
ALTER_PARTITION = {"2.7.0": 0, "3.2.0": 1, "3.3.0": 2, "3.5.0": 3}


@dataclass(frozen=True, slots=True)
class Speech:
    """What a release sends.

    Attributes:
        fetch: the versions of FETCH.
        lookup: those of OffsetsForLeaderEpoch; none if followers never ask.
        alter_partition: those of AlterPartition; none if leaders never ask.
        tells_epoch: whether requests carry the leader epoch that the follower is in.
        tells_last_epoch: whether FETCH carries the epoch of the follower's last record.
        may_forget_last_epoch: an empty answer wipes that epoch (KAFKA-15510).
    """

    fetch: range
    lookup: range
    alter_partition: range
    tells_epoch: bool
    tells_last_epoch: bool
    may_forget_last_epoch: bool


def speech_of(rules: RuleSet, settings: TraceSettings) -> Speech:
    """Return what the brokers of a release send to each other."""
    version = parse_version(rules.version)
    is_exact = settings.has_own_protocol
    return Speech(
        fetch=_versions(FETCH, version, is_exact=is_exact),
        lookup=_versions(LOOKUP if rules.truncation.asks_leader else {}, version, is_exact=is_exact),
        alter_partition=_versions(ALTER_PARTITION, version, is_exact=is_exact),
        tells_epoch=fetches_claim_epoch(rules.version),
        tells_last_epoch=rules.truncation.checks_on_fetch,
        may_forget_last_epoch=last_fetched_epoch.FORGOTTEN in rules.rules,
    )


def in_words(versions: range) -> str:
    """Say which versions of a request a release sends."""
    if not versions:
        return "no such request in this release"
    return f"version {versions[-1]}" if len(versions) == 1 else f"version {versions[-1]} at most"


def _versions(table: dict[str, int], version: tuple[int, ...], *, is_exact: bool) -> range:
    newest = max((number for since, number in table.items() if version >= parse_version(since)), default=-1)
    last = newest if newest < 0 or version[:2] <= NEWEST_KNOWN else LAST_EVER
    return range(max(newest, 0) if is_exact else 0, last + 1)
