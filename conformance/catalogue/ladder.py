"""Which releases is the whole catalogue run on? The ladder: one line for each release whose rules differ.

A line is a release in a metadata mode. Beside the newest patch of a release line there are single releases that
are on the ladder for one rule of their own: 1.1.0 answers a fetch with the high watermark that this fetch raised.
"""

from __future__ import annotations

from dataclasses import dataclass

from fault_injection.releases import MetadataMode, Release, UsageError, find_release


@dataclass(frozen=True, slots=True)
class Line:
    """A release in a metadata mode."""

    release: Release
    metadata: MetadataMode

    @property
    def text(self) -> str:
        """The line as the command line takes it, such as ``3.9.2/kraft``."""
        return f"{self.release.version}/{self.metadata.value}"


def line(text: str) -> Line:
    """Return a line by its text; without a mode it is the release's newer one.

    Raises:
        UsageError: no such release, or a mode that it does not have.
    """
    version, _, mode = text.strip().partition("/")
    release = find_release(version)
    try:
        wanted = MetadataMode(mode) if mode else None
    except ValueError as error:
        modes = " or ".join(each.value for each in MetadataMode)
        raise UsageError(f"{text!r}: {mode!r} is no metadata mode; say {modes}.") from error
    return Line(release, release.metadata_mode(wanted))


def lines(text: str) -> tuple[Line, ...]:
    """Return the lines of a list such as ``0.10.2.2,3.9.2/zookeeper,3.9.2/kraft``, each once, in its order.

    Raises:
        UsageError: there is none, or one that is not supported.
    """
    found = tuple(dict.fromkeys(line(each) for each in text.split(",") if each.strip()))
    if not found:
        raise UsageError(f"{text!r} names no release; give some, such as 2.8.2,3.9.2/zookeeper.")
    return found


_LADDER = (
    "0.10.2.2/zookeeper",
    "0.11.0.3/zookeeper",
    "1.0.2/zookeeper",
    "1.1.0/zookeeper",
    "1.1.1/zookeeper",
    "2.0.1/zookeeper",
    "2.1.1/zookeeper",
    "2.3.1/zookeeper",
    "2.4.1/zookeeper",
    "2.6.3/zookeeper",
    "2.7.2/zookeeper",
    "2.8.2/zookeeper",
    "3.2.3/zookeeper",
    "3.4.1/zookeeper",
    "3.4.1/kraft",
    "3.6.2/zookeeper",
    "3.6.2/kraft",
    "3.7.2/kraft",
    "3.9.2/zookeeper",
    "3.9.2/kraft",
    "4.0.1/kraft",
    "4.1.2/kraft",
    "4.2.2/kraft",
    "4.3.1/kraft",
    "4.4.0/kraft",
)
LADDER: tuple[Line, ...] = tuple(line(text) for text in _LADDER)
"""The ladder, oldest release first."""
