"""Which releases does a row of the table mean? Predicates over a Kafka version and its modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Release:
    """One Kafka release as a cluster runs it.

    Attributes:
        numbers: the version, such as (0, 10, 2, 2).
        metadata: who keeps the metadata.
        has_elr: whether eligible leader replicas are switched on (KIP-966).
    """

    numbers: Version
    metadata: MetadataMode
    has_elr: bool


def parse_version(text: str) -> Version:
    """Return a version's numbers, such as (0, 10, 2, 2).

    Raises:
        ValueError: if the text is not numbers joined by dots.
    """
    return tuple(int(part) for part in text.split("."))


def has_mode(version: str, metadata: MetadataMode) -> bool:
    """Tell whether a release has a metadata mode: ZooKeeper up to 3.9, KRaft fit for use from 3.3 on."""
    numbers = parse_version(version)
    return numbers < (4, 0) if metadata is MetadataMode.ZOOKEEPER else numbers >= (3, 3)


def since(first: str, *backports: str) -> Callable[[Release], bool]:
    """Match a release and everything newer; and its backports, each to the end of its own line.

    ``since("2.0.0", "1.0.2", "1.1.1")`` matches 1.0.2, 1.1.1 and 2.0.0, not 1.1.0.
    """
    start = parse_version(first)
    lines = [parse_version(backport) for backport in backports]

    def matches(release: Release) -> bool:
        numbers = release.numbers
        return numbers >= start or any(numbers >= line and numbers[:2] == line[:2] for line in lines)

    return matches


def before(first_without: str, *backports: str) -> Callable[[Release], bool]:
    """Match every release that ``since`` with the same arguments does not."""
    is_since = since(first_without, *backports)
    return lambda release: not is_since(release)


def within(begins: Callable[[Release], bool], ends: Callable[[Release], bool]) -> Callable[[Release], bool]:
    """Match releases that both match."""
    return lambda release: begins(release) and ends(release)


def in_zookeeper_mode(release: Release) -> bool:
    """Match clusters whose metadata ZooKeeper keeps."""
    return release.metadata is MetadataMode.ZOOKEEPER


def in_kraft_mode(release: Release) -> bool:
    """Match clusters that keep their own metadata."""
    return release.metadata is MetadataMode.KRAFT


def with_elr(release: Release) -> bool:
    """Match KRaft clusters with eligible leader replicas."""
    return in_kraft_mode(release) and release.has_elr
