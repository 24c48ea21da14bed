"""Which releases does a row of the table mean? Predicates over a Kafka version and its modes.

A version may be followed by rules that are swapped: ``2.0.0+join-isr-at-epoch-start`` is 2.0.0 with a rule that it
lacks, ``2.0.1~join-isr-at-epoch-start`` is 2.0.1 without one that it has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable

Version = tuple[int, ...]
WITH, WITHOUT = "+", "~"
"""What stands before the name of a rule that a release is given, or that is taken from it."""
_SWAP = re.compile(r"([+~])([^+~]*)")


@dataclass(frozen=True, slots=True)
class RuleKey:
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
    """Return a version's numbers, such as (0, 10, 2, 2), whatever rules are swapped.

    Raises:
        ValueError: if the text is not numbers joined by dots.
    """
    return tuple(int(part) for part in plain_version(text).split("."))


def plain_version(text: str) -> str:
    """Return a version without the rules that are swapped, such as 2.0.0."""
    return re.split("[+~]", text, maxsplit=1)[0]


def swapped_rules(text: str) -> dict[str, bool]:
    """Return which rules a version is given (True), or not left (False), by their names."""
    return {name: sign == WITH for sign, name in _SWAP.findall(text)}


def swap_text(version: str, sign: str, name: str) -> str:
    """Return a version with one more rule swapped, or with one less if it is swapped already."""
    swapped = swapped_rules(version)
    if name not in swapped:
        return f"{version}{sign}{name}"
    rest = "".join(f"{WITH if given else WITHOUT}{other}" for other, given in swapped.items() if other != name)
    return f"{plain_version(version)}{rest}"


def has_mode(version: str, metadata: MetadataMode) -> bool:
    """Return whether a release has a metadata mode: ZooKeeper up to 3.9, KRaft fit for use from 3.3 on."""
    numbers = parse_version(version)
    return numbers < (4, 0) if metadata is MetadataMode.ZOOKEEPER else numbers >= (3, 3)


def is_older(version: str, than: str) -> bool:
    """Return whether a version comes before another one."""
    return parse_version(version) < parse_version(than)


def age(version: str, metadata: MetadataMode) -> tuple[bool, Version]:
    """Return a key that puts ZooKeeper mode before KRaft mode, and in each the older release before the newer."""
    return metadata is MetadataMode.KRAFT, parse_version(version)


def first_patch(version: str) -> str:
    """Return the first patch of a version's release line, such as 3.9.0 of 3.9.2."""
    return f"{version.rpartition('.')[0]}.0"


def since(first: str, *backports: str) -> Callable[[RuleKey], bool]:
    """Match a release and everything newer; and its backports, each to the end of its own line.

    ``since("2.0.0", "1.0.2", "1.1.1")`` matches 1.0.2, 1.1.1 and 2.0.0, not 1.1.0.
    """
    start = parse_version(first)
    lines = [parse_version(backport) for backport in backports]

    def matches(release: RuleKey) -> bool:
        numbers = release.numbers
        return numbers >= start or any(numbers >= line and numbers[:2] == line[:2] for line in lines)

    return matches


def before(first_without: str, *backports: str) -> Callable[[RuleKey], bool]:
    """Match every release that ``since`` with the same arguments does not."""
    return unless(since(first_without, *backports))


def between(first: str, first_without: str, *backports: str) -> Callable[[RuleKey], bool]:
    """Match a release and everything newer, up to the first without it and its backports, which do not match."""
    return within(since(first), before(first_without, *backports))


def after_line(line: str) -> Callable[[RuleKey], bool]:
    """Match every release of a newer line, such as 4.5.0 after 4.4."""
    known = parse_version(line)
    return lambda release: release.numbers[: len(known)] > known


def unless(matches: Callable[[RuleKey], bool]) -> Callable[[RuleKey], bool]:
    """Match what does not match."""
    return lambda release: not matches(release)


def within(begins: Callable[[RuleKey], bool], ends: Callable[[RuleKey], bool]) -> Callable[[RuleKey], bool]:
    """Match releases that both match."""
    return lambda release: begins(release) and ends(release)


def every_release(_release: RuleKey) -> bool:
    """Match every one."""
    return True


def in_zookeeper_mode(release: RuleKey) -> bool:
    """Match clusters whose metadata ZooKeeper keeps."""
    return release.metadata is MetadataMode.ZOOKEEPER


def in_kraft_mode(release: RuleKey) -> bool:
    """Match clusters that keep their own metadata."""
    return release.metadata is MetadataMode.KRAFT


def with_elr(release: RuleKey) -> bool:
    """Match KRaft clusters with eligible leader replicas."""
    return in_kraft_mode(release) and release.has_elr
