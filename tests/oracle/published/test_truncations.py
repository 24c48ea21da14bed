"""Is each composed truncation the published one on every pair of logs, and the brokers' rule wherever brokers may be?

The published definitions are written out here a second time, over records alone.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from oracle.published import truncations
from oracle.published.catalogue import subject
from oracle.published.parts import SpecReplica
from oracle.vocabulary import Offset
from tests.oracle.published.logs import all_logs, log_of
from tests.oracle.published.searching import constants_of

if TYPE_CHECKING:
    from oracle.log import ReplicaLog

LOGS = tuple(all_logs(3, 3))
PAIRS = tuple(product(LOGS, repeat=2))


def published_kip_101(leader: ReplicaLog, follower: ReplicaLog, high_watermark: int) -> tuple[int, ...]:
    if not follower.entries:
        return (0,)
    asked = follower.entries[-1].leader_epoch
    if not leader.entries:
        offset = high_watermark
    elif leader.entries[-1].leader_epoch == asked:
        offset = len(leader.entries)
    else:
        larger = [n for n, entry in enumerate(leader.entries) if entry.leader_epoch > asked]
        offset = min(larger, default=high_watermark)
    return (offset,) if offset <= len(follower.entries) else ()


def published_kip_279(leader: ReplicaLog, follower: ReplicaLog) -> int:
    both = set(enumerate(leader.entries)) & set(enumerate(follower.entries))
    return max((offset + 1 for offset, _ in both), default=0)


def published_last_epoch_agrees(leader: ReplicaLog, follower: ReplicaLog, end: int) -> bool:
    if end == 0:
        return True
    has_both = end <= len(leader.entries) and end <= len(follower.entries)
    return has_both and leader.entries[end - 1].leader_epoch == follower.entries[end - 1].leader_epoch


def published_needs_truncation(leader: ReplicaLog, follower: ReplicaLog) -> bool:
    last = len(follower.entries) - 1
    if last >= len(leader.entries):
        return True
    return last >= 0 and leader.entries[last].leader_epoch != follower.entries[last].leader_epoch


def test_the_high_watermark_is_where_the_oldest_followers_cut() -> None:
    for leader, follower in PAIRS:
        for high_watermark in range(follower.log_end_offset + 1):
            cuts = truncations.cuts_to_high_watermark(leader, follower, Offset(high_watermark))
            assert cuts == (high_watermark,)


def test_kip_101_cuts_as_published() -> None:
    for leader, follower in PAIRS:
        for high_watermark in range(follower.log_end_offset + 1):
            cuts = truncations.cuts_by_kip_101(leader, follower, Offset(high_watermark))
            assert cuts == published_kip_101(leader, follower, high_watermark), (leader, follower)


def test_kip_279_cuts_as_published() -> None:
    for leader, follower in PAIRS:
        cut = published_kip_279(leader, follower)
        assert truncations.cuts_by_kip_279(leader, follower, Offset(0)) == (cut,), (leader, follower)
        twice = truncations.cuts_in_two_ways(leader, follower, Offset(0))
        assert twice == ((cut,) if follower.entries else (cut, cut))


def test_the_last_epoch_is_compared_as_published() -> None:
    for leader, follower in PAIRS:
        assert truncations.diverges(leader, follower) == published_needs_truncation(leader, follower)
        for end in range(follower.log_end_offset + 1):
            agrees = truncations.last_epoch_agrees(leader, follower, Offset(end))
            assert agrees == published_last_epoch_agrees(leader, follower, end), (leader, follower, end)


def reached_pairs(name: str, bounds: str) -> set[tuple[ReplicaLog, ReplicaLog]]:
    model = subject(name, constants_of(bounds)).model
    states = list(model.initial_states())
    seen = set(states)
    for state in states:
        fresh = dict.fromkeys(reached for reached in model.successors(state) if reached not in seen)
        seen.update(fresh)
        states.extend(fresh)
    replicas = ([part for part in model.parts(state) if isinstance(part, SpecReplica)] for state in states)
    return {(one.log, other.log) for one, other in replicas}


def test_with_fences_brokers_rules_alone_decide_every_pair_that_is_reached() -> None:
    pairs = reached_pairs("Kip320", "2/2/2/2")

    assert len(pairs) > 20
    assert all(truncations.has_common_history(one, other) for one, other in pairs)


def test_without_fences_logs_come_about_that_no_epoch_cache_describes() -> None:
    pairs = reached_pairs("Kip279", "2/2/2/2")

    odd = {pair for pair in pairs if not truncations.has_common_history(*pair)}
    assert odd
    assert len(odd) < len(pairs) / 3


def test_logs_without_a_common_history_are_left_to_the_published_definition() -> None:
    assert not truncations.has_common_history(log_of((1, 0)), log_of((1,)))
    assert not truncations.has_common_history(log_of((0, 1)), log_of((0, 0, 1)))
    assert truncations.has_common_history(log_of((0, 1)), log_of((0, 2)))
    assert truncations.has_common_history(log_of((0,)), log_of(()))
