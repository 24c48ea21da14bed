"""What do the rules say that brokers answer and send, and of which lines was something else measured?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.by_version import rules_for
from oracle.rules.request_versions import OLDEST, Peer, sent_version, versions
from oracle.vocabulary import ClientRequest, MetadataMode
from tests.oracle.measured_versions import measured
from tests.oracle.mutants.mutant import same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oracle.rules.rule_set import RuleSet
    from tests.oracle.measured_versions import Measured

SEEN = measured()
ASKED = {
    ClientRequest.FETCH: (0, 12),
    ClientRequest.LIST_OFFSETS: (1, 7),
    ClientRequest.OFFSETS_FOR_LEADER_EPOCH: (0, 4),
}
"""What the tester asks in, of all that brokers take: later versions of Fetch do not name the topic (KIP-516), later
ones of ListOffsets find other offsets, and the first one of it answers another question (KIP-79)."""


def sent_otherwise(change: Callable[[RuleSet], RuleSet] = same) -> list[str]:
    """Return the lines whose brokers were seen to send what the rules do not say."""
    return [
        line
        for line, seen, rules in _lines(change)
        if [*seen.sent.values()] != [sent_version(one, rules) for one in Peer]
    ]


def taken_otherwise(change: Callable[[RuleSet], RuleSet] = same) -> list[str]:
    """Return the lines whose brokers were seen to take what the rules do not say."""
    return [
        f"{line} {request}"
        for line, seen, rules in _lines(change)
        for request in ClientRequest
        if versions(request, rules) != _asked(request, seen.taken[request.value])
    ]


def spoken_otherwise(change: Callable[[RuleSet], RuleSet]) -> object:
    """Ask of which lines something else was measured than the rules say."""
    return [*sent_otherwise(change), *taken_otherwise(change)]


def _lines(change: Callable[[RuleSet], RuleSet]) -> Iterator[tuple[str, Measured, RuleSet]]:
    for line, seen in SEEN.items():
        version, _, mode = line.partition("/")
        assert list(seen.sent) == ["Fetch", "OffsetForLeaderEpoch", "AlterPartition"]
        yield line, seen, change(rules_for(version, MetadataMode(mode)))


def _asked(request: ClientRequest, taken: tuple[int, int] | None) -> range:
    first, last = ASKED[request]
    if taken is None:
        return range(OLDEST[request], 0)
    return range(max(first, taken[0]), min(last, taken[1]) + 1)
