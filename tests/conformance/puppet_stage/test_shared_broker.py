"""Is what a laboratory keeps for its examinations started once, and ended once?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.laboratory import Laboratory
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.releases import NO_JARS, MetadataMode, find_release

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Kept:
    """Something in a directory that can be closed."""

    directory: Path
    closed: list[Path] = field(default_factory=list)

    def close(self) -> None:
        """Note that it ended."""
        self.closed.append(self.directory)


def laboratory() -> Laboratory:
    release = find_release("2.8.2")
    return Laboratory(
        release=release,
        metadata=MetadataMode.ZOOKEEPER,
        jars=NO_JARS,
        backend=ProcessBackend(),
        progress=lambda _: None,
    )


def test_it_is_started_once_and_ends_with_the_laboratory() -> None:
    with laboratory() as room:
        kept = room.kept("thing", Kept)
        assert room.kept("thing", Kept) is kept
        assert kept.directory.is_dir()
        assert kept.closed == []

    assert kept.closed == [kept.directory]
    assert not kept.directory.exists()


def test_what_was_discarded_is_started_anew() -> None:
    with laboratory() as room:
        first = room.kept("thing", Kept)
        room.discard("thing")
        room.discard("thing")
        assert first.closed == [first.directory]
        assert room.kept("thing", Kept) is not first


def test_it_ends_although_an_examination_failed() -> None:
    room = laboratory().__enter__()
    kept = room.kept("thing", Kept)
    room.__exit__(KeyError, KeyError(), None)

    assert kept.closed == [kept.directory]
