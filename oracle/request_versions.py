"""Which versions of a request does a release speak? Answers differ by version; a schedule may ask in any.

The newest versions are those that matter to an answer and that can be asked for by a topic's name; later ones
exist. 4.0 dropped the oldest (KIP-896).

Sources: the message schemas of the releases; ApiVersions as measured of every release
(tests/oracle/measured_versions.json).
"""

from __future__ import annotations

from enum import StrEnum

from oracle.rules.release import Version, parse_version


class Request(StrEnum):
    """A request that a client may send to a broker."""

    FETCH = "Fetch"
    LIST_OFFSETS = "ListOffsets"
    OFFSETS_FOR_LEADER_EPOCH = "OffsetsForLeaderEpoch"


NEWEST: dict[Request, tuple[tuple[Version, int], ...]] = {
    Request.FETCH: (
        *(((0, 10, 1), 3), ((0, 11), 5), ((1, 0), 6), ((1, 1), 7), ((2, 0), 8)),
        *(((2, 1), 10), ((2, 3), 11), ((2, 7), 12)),
    ),
    Request.LIST_OFFSETS: (
        *(((0, 10, 1), 1), ((0, 11), 2), ((2, 0), 3), ((2, 1), 4), ((2, 2), 5), ((2, 8), 6), ((3, 0), 7)),
    ),
    Request.OFFSETS_FOR_LEADER_EPOCH: (((0, 11), 0), ((2, 0), 1), ((2, 1), 2), ((2, 3), 3), ((2, 8), 4)),
}
"""The first release of each newest version."""

OLDEST_FROM_4_0 = {Request.FETCH: 4, Request.LIST_OFFSETS: 1, Request.OFFSETS_FOR_LEADER_EPOCH: 2}
OLDEST = {Request.FETCH: 0, Request.LIST_OFFSETS: 1, Request.OFFSETS_FOR_LEADER_EPOCH: 0}
"""ListOffsets 0 answers another question (KIP-79)."""

EPOCH_REQUESTS_CLAIM_CURRENT = 2
"""The first version of OffsetsForLeaderEpoch that claims a current epoch (KIP-320)."""

FETCHES_CLAIM_CURRENT = 9
"""The first version of Fetch that claims a current epoch (KIP-320)."""


def fetches_claim_epoch(kafka: str) -> bool:
    """Tell whether a release's followers say in their fetches which leader epoch they are in."""
    return FETCHES_CLAIM_CURRENT in versions(Request.FETCH, kafka)


def versions(request: Request, kafka: str) -> range:
    """Return the versions of a request that a release and this tester have; none if there is no such request."""
    numbers = parse_version(kafka)
    newest = max((version for first, version in NEWEST[request] if numbers >= first), default=-1)
    return range((OLDEST_FROM_4_0 if numbers >= (4, 0) else OLDEST)[request], newest + 1)


def why_unspoken(request: Request, asked: int | None, kafka: str) -> str | None:
    """Return why a release cannot be asked in a version, or at all; None if it can."""
    spoken = versions(request, kafka)
    if not spoken:
        return f"Kafka {kafka} has no {request.value}"
    if asked is None or asked in spoken:
        return None
    if not OLDEST[request] <= asked <= NEWEST[request][-1][1]:
        return f"the tester asks with {request.value} {spoken[0]} to {spoken[-1]} of Kafka {kafka}, not {asked}"
    limit = f"no older than {spoken[0]}" if asked < spoken[0] else f"no newer than {spoken[-1]}"
    return f"Kafka {kafka} speaks {request.value} {limit}, not {asked}"


def chosen(request: Request, asked: int | None, kafka: str) -> int:
    """Return the version that a request is sent in: the one asked for, or the newest."""
    return versions(request, kafka)[-1] if asked is None else asked
