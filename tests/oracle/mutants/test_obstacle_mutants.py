"""Does a story notice each way to be wrong about what stands between brokers, and about deleted records?

These mistakes are in no rule of a release, so they have a table of their own: what is put in place of what, and the
transcript that then reads differently.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.replication import electing, leading
from tests.oracle.transcript import rewritten

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.state import FetchStage, PartitionState
    from oracle.vocabulary import BrokerId, Offset
    from oracle.world import Obstacles, World

pytestmark = pytest.mark.no_cover  # a search reaches much by chance; each branch has a test that names what it does

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts"


def _nobody(*_: object) -> frozenset[int]:
    return frozenset()


def _never(*_: object) -> bool:
    return False


def _only_severed(self: Obstacles, follower: BrokerId, leader: BrokerId | None, _stage: FetchStage | None) -> bool:
    return self.severs(follower, leader)


def _one_way(self: Obstacles, follower: BrokerId, leader: BrokerId | None) -> bool:
    return (follower, leader) in self.cuts or follower in self.isolated


def _stays_unregistered(world: World, _broker: BrokerId) -> World:
    return world


def _written_at_once(state: PartitionState, offset: Offset) -> PartitionState | str:
    deleted = DELETE(state, offset)
    leader = state.serving_leader()
    if isinstance(deleted, str) or leader is None:
        return deleted
    return deleted.with_replica(replace(deleted.replica(leader.broker), checkpointed_log_start_offset=offset))


def _kept_by_a_kill(state: PartitionState, broker: BrokerId, *, graceful: bool) -> PartitionState:
    died, start = DIE(state, broker, graceful=graceful), state.replica(broker).log_start_offset
    return died.with_replica(replace(died.replica(broker), log_start_offset=start))


DELETE, DIE = leading.delete_records, electing.die
OBSTACLES = "oracle.world.Obstacles"
DELETES = "oracle.replication.leading.delete_records"
MUTANTS: dict[str, tuple[str, Callable[..., Any] | property, str]] = {
    "a paused broker hears decisions": (f"{OBSTACLES}.unreachable", property(_nobody), "paused-leader-on-4.3-kraft"),
    "a paused follower fetches": (f"{OBSTACLES}.stops", _only_severed, "paused-follower-under-lag"),
    "a cut link passes fetches": (f"{OBSTACLES}.severs", _never, "cut-link"),
    "an isolated leader is fetched from": (f"{OBSTACLES}.severs", _one_way, "isolated-leader-on-2.8"),
    "a resumed broker is no more registered": (
        "oracle.obstructing._returned",
        _stays_unregistered,
        "paused-leader-on-2.8",
    ),
    "a kill writes where the log starts": ("oracle.replication.electing.die", _kept_by_a_kill, "records-deleted"),
    "a leader writes at once where its log starts": (DELETES, _written_at_once, "records-deleted"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_story_notices(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, wrong, story = MUTANTS[mutant]
    text = (TRANSCRIPTS / f"{story}.txt").read_text()
    assert rewritten(text) == text
    monkeypatch.setattr(place, wrong)
    assert rewritten(text) != text
