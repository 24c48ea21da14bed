"""Which versions of a request does a release answer, and which do its brokers send? Answers differ by version.

Answered is what a client may ask in: the newest versions are those that matter to an answer and that can be asked for
by a topic's name; later ones exist. Since 4.0 the oldest are gone (KIP-896). Sent is what brokers of one release send
each other: the newest version that their own inter-broker protocol or metadata version knows, unless an older one is
configured (inter.broker.protocol.version).

Sources: the message schemas of the releases; ReplicaFetcherThread and RemoteLeaderEndPoint (fetchRequestVersion,
offsetForLeaderEpochRequestVersion), MetadataVersion; KIP-101, KIP-320, KIP-497, KIP-595; what brokers of every release
were measured to answer and to send (tests/oracle/measured_versions.json).

Mutant: answers-no-newer-version, which what brokers were measured to answer notices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from oracle.rules.release import after_line, before, since, within
from oracle.rules.rule import Rule
from oracle.vocabulary import ClientRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from oracle.rules.release import RuleKey
    from oracle.rules.rule_set import RuleSet

    Versions = tuple[tuple[str, int], ...]
    Change = tuple[Rule, Callable[[RuleKey], bool], Callable[[RuleSet], RuleSet]]

ANSWERED: Mapping[ClientRequest, Versions] = {
    ClientRequest.FETCH: (
        *(("0.10.1", 3), ("0.11.0", 5), ("1.0.0", 6), ("1.1.0", 7), ("2.0.0", 8)),
        *(("2.1.0", 10), ("2.3.0", 11), ("2.7.0", 12)),
    ),
    ClientRequest.LIST_OFFSETS: (
        *(("0.10.1", 1), ("0.11.0", 2), ("2.0.0", 3), ("2.1.0", 4), ("2.2.0", 5), ("2.8.0", 6), ("3.0.0", 7)),
    ),
    ClientRequest.OFFSETS_FOR_LEADER_EPOCH: (("0.11.0", 0), ("2.0.0", 1), ("2.1.0", 2), ("2.3.0", 3), ("2.8.0", 4)),
}
"""The newest version, from its first release on."""


class Peer(StrEnum):
    """A request that brokers send each other, or the controller."""

    FETCH = "Fetch"
    OFFSETS_FOR_LEADER_EPOCH = "OffsetsForLeaderEpoch"
    ALTER_PARTITION = "AlterPartition"


SENT: Mapping[Peer, Versions] = {
    Peer.FETCH: (
        *(("0.10.1", 3), ("0.11.0", 5), ("1.1.0", 7), ("2.0.0", 8), ("2.1.0", 10), ("2.3.0", 11)),
        *(("2.7.0", 12), ("3.1.0", 13), ("3.5.0", 15), ("3.7.0", 16), ("3.9.0", 17), ("4.1.0", 18)),
    ),
    Peer.OFFSETS_FOR_LEADER_EPOCH: (("0.11.0", 0), ("2.0.0", 1), ("2.1.0", 2), ("2.3.0", 3), ("2.8.0", -1)),
    Peer.ALTER_PARTITION: (("2.7.0", 0), ("3.2.0", 1), ("3.3.0", 2), ("3.5.0", 3)),
}
"""The version that is sent, from its first release on; -1 from where it is sent no more."""

OLDEST: Mapping[ClientRequest, int] = {
    ClientRequest.FETCH: 0,
    ClientRequest.LIST_OFFSETS: 1,
    ClientRequest.OFFSETS_FOR_LEADER_EPOCH: 0,
}
"""ListOffsets 0 answers another question (KIP-79)."""
OLDEST_SINCE_KIP_896: Mapping[ClientRequest, int] = {
    ClientRequest.FETCH: 4,
    ClientRequest.LIST_OFFSETS: 1,
    ClientRequest.OFFSETS_FOR_LEADER_EPOCH: 2,
}
OLDEST_DROPPED = Rule(
    name="oldest-requests-are-dropped",
    source="KIP-896",
    says="A broker does not answer the oldest versions of requests.",
)
NEWEST_KNOWN = "4.4"
"""The newest release line whose requests are known."""
NEWER_THAN_KNOWN = Rule(
    name="requests-may-be-newer",
    source="no source: the release is newer than this table",
    says="Brokers may send each other versions that no known release sends.",
)
DELETES_RECORDS = Rule(
    name="records-are-deleted-on-request",
    source="KIP-107, DeleteRecords",
    says="A client may have a partition's first records deleted.",
)


def oldest(request: ClientRequest) -> int:
    """Return the first version that there is."""
    return OLDEST[request]


def oldest_since_kip_896(request: ClientRequest) -> int:
    """Return the first version that is left."""
    return OLDEST_SINCE_KIP_896[request]


@dataclass(frozen=True, slots=True)
class RequestVersions:
    """What the brokers of a release speak.

    Attributes:
        answered: the newest version of each request of clients; one that is not there is not known.
        oldest: the oldest one.
        sent: the version of each request to other brokers; one that is not there is not sent.
        may_be_newer: they may send newer ones.
        deletes_records: they know DeleteRecords.
    """

    answered: tuple[tuple[ClientRequest, int], ...] = ()
    oldest: Callable[[ClientRequest], int] = oldest
    sent: tuple[tuple[Peer, int], ...] = ()
    may_be_newer: bool = False
    deletes_records: bool = False


def answering(request: ClientRequest, versions: Versions) -> Iterator[Change]:
    """Yield a change for each newest version that clients may ask in."""
    for applies, version in _spans(versions):
        says = f"A broker answers {request.value} up to version {version} to a client that names the topic."
        rule = Rule(f"answers-{_kebab(request.name)}-up-to-{version}", "the message schemas of the releases", says)
        yield rule, applies, partial(_answering, request, version)


def sending(peer: Peer, versions: Versions) -> Iterator[Change]:
    """Yield a change for each version that brokers send."""
    for applies, version in _spans(versions):
        says = f"Brokers send {peer.value} in version {version}, unless an older protocol is configured."
        rule = Rule(f"sends-{_kebab(peer.name)}-{version}", "MetadataVersion, RemoteLeaderEndPoint", says)
        yield rule, applies, partial(_sending, peer, version)


def _spans(versions: Versions) -> Iterator[tuple[Callable[[RuleKey], bool], int]]:
    """Yield the releases of each version: from its first one to the first one of the next version."""
    nexts = [before(first) for first, _ in versions[1:]]
    for (first, version), ends in zip(versions, (*nexts, None), strict=True):
        if version >= 0:
            yield since(first) if ends is None else within(since(first), ends), version


def _kebab(name: str) -> str:
    return name.lower().replace("_", "-")


def _answering(request: ClientRequest, version: int, rules: RuleSet) -> RuleSet:
    return _with(rules, answered=(*rules.requests.answered, (request, version)))


def _sending(peer: Peer, version: int, rules: RuleSet) -> RuleSet:
    return _with(rules, sent=(*rules.requests.sent, (peer, version)))


def _with(rules: RuleSet, **fields: object) -> RuleSet:
    return replace(rules, requests=replace(rules.requests, **fields))  # type: ignore[arg-type] # checked by its fields


CHANGES: tuple[Change, ...] = (
    *(change for request, versions in ANSWERED.items() for change in answering(request, versions)),
    (OLDEST_DROPPED, since("4.0.0"), partial(_with, oldest=oldest_since_kip_896)),
    *(change for peer, versions in SENT.items() for change in sending(peer, versions)),
    (NEWER_THAN_KNOWN, after_line(NEWEST_KNOWN), partial(_with, may_be_newer=True)),
    (DELETES_RECORDS, since("0.11.0"), partial(_with, deletes_records=True)),
)
"""A row of ``by_version`` each."""


def versions(request: ClientRequest, rules: RuleSet) -> range:
    """Return the versions of a request that a release answers; none if it does not know the request."""
    newest = dict(rules.requests.answered).get(request, -1)
    return range(rules.requests.oldest(request), newest + 1)


def sent_version(peer: Peer, rules: RuleSet) -> int | None:
    """Return the version in which brokers of a release send a request; None if they do not send it."""
    return dict(rules.requests.sent).get(peer)
