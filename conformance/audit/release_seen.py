"""Which release does a cluster run? As far as brokers tell: no request names the version of their software.

Each broker lists the versions of every request that it speaks (ApiVersions, KIP-35), and those of a release line are
kept in ``api_versions.json``, as its brokers told them. Patch releases of a line mostly speak the same, so that what a
patch decides is told as "may have".
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec reads the fields' types
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Self

import msgspec

from conformance.audit.cluster import NotSeen
from conformance.line import line_named
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.audit.cluster import BrokerSeen, ClusterSeen, Spoken
    from conformance.line import Line

METADATA_VERSION = "metadata.version"
LEADER_AND_ISR = 4
"""A request that only ZooKeeper's brokers list among those that they take (KIP-500 replaced it)."""


@dataclass(frozen=True, slots=True)
class ReleaseSeen:
    """What is known of a cluster's release.

    Attributes:
        line: the newest patch of the release line that it is; of several alike the oldest line, so that nothing is
            promised that it may lack. None if no line speaks so.
        alike: the lines, such as ``3.9.2/kraft``, whose brokers speak the same.
        is_named: the user named it.
        is_mixed: its brokers do not speak the same; the line is that of the one that speaks least.
        otherwise: of a named release the lines whose brokers speak as these do, if it is of none of them.
    """

    line: Line | None
    alike: tuple[str, ...] = ()
    is_named: bool = False
    is_mixed: bool = False
    otherwise: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return the release with how sure it is."""
        if self.line is None:
            return "a release that is not known here"
        if self.is_named:
            named = f"Kafka {self.line.text}, as named"
            doubt = f", but its brokers speak like {' or '.join(self.otherwise)}: what is told may be another release's"
            return f"{named}{doubt}" if self.otherwise else named
        if self.is_mixed:
            return f"brokers of several releases, the oldest like Kafka {self.line.text}"
        others = [text for text in self.alike if text != self.line.text]
        or_other = f", or {' or '.join(others)}" if others else ""
        patch = self.line.release.version.rpartition(".")[0]
        return f"a patch of Kafka {patch} ({self.line.metadata.value}){or_other}, by the requests that it speaks"


@dataclass(frozen=True, slots=True)
class LineSpeaks:
    """What the brokers of a line speak.

    Attributes:
        requests: of each API key the lowest and the highest version.
        metadata_version: the highest level of the feature; 0 without one.
    """

    requests: Mapping[int, tuple[int, int]]
    metadata_version: int

    @classmethod
    def of(cls, spoken: Spoken) -> Self:
        """Return what of a broker's answer tells its line."""
        return cls(dict(spoken.requests), spoken.supported.get(METADATA_VERSION, 0))

    def says_no_more_than(self, other: LineSpeaks) -> bool:
        """Return whether who speaks the other one also speaks this."""
        return self.metadata_version <= other.metadata_version and all(
            key in other.requests and highest <= other.requests[key][1] for key, (_, highest) in self.requests.items()
        )


@cache
def known_lines() -> Mapping[str, LineSpeaks]:
    """Return what the brokers of each line speak, by the line's name, the oldest first."""
    kept = (files(__package__) / "api_versions.json").read_bytes()
    return msgspec.json.decode(kept, type=dict[str, LineSpeaks])


def release_seen(cluster: ClusterSeen, named: Line | None = None) -> ReleaseSeen:
    """Return what is known of a cluster's release.

    Args:
        cluster: what was read.
        named: what the user says that it runs.
    """
    spoken = [LineSpeaks.of(one.speaks) for one in cluster.brokers if not isinstance(one.speaks, NotSeen)]
    is_mixed = any(one != spoken[0] for one in spoken[1:])
    if named is not None:
        otherwise = _otherwise(named, spoken)
        return ReleaseSeen(named, (named.text,), is_named=True, is_mixed=is_mixed, otherwise=otherwise)
    if not spoken:
        return ReleaseSeen(None)
    alike = min((_alike(one) for one in spoken), key=_oldest, default=())
    line = line_named(alike[0]) if alike else None
    return ReleaseSeen(line, alike, is_mixed=is_mixed)


def _otherwise(named: Line, spoken: Sequence[LineSpeaks]) -> tuple[str, ...]:
    """Return the lines that brokers speak like, if none of them speaks like the named one; of a fork its likes."""
    alike = [line for one in spoken for line in _alike(one)]
    kept = next((line for line in known_lines() if _line_of(line) == _line_of(named.text)), None)
    is_so = (
        kept is None
        or kept in alike
        or any(is_fork(one) and known_lines()[kept].says_no_more_than(one) for one in spoken)
    )
    return () if is_so else tuple(dict.fromkeys(alike))


def _line_of(text: str) -> tuple[str, str]:
    """Return a release without its patch, and its mode, such as 3.9 and kraft."""
    version, _, mode = text.partition("/")
    return version.rpartition(".")[0], mode


def is_fork(spoken: LineSpeaks) -> bool:
    """Return whether a broker speaks like none of the lines that are known."""
    return spoken not in known_lines().values()


def metadata_mode(broker: BrokerSeen) -> MetadataMode | None:
    """Return who keeps a broker's metadata; None if it did not say what it speaks."""
    if isinstance(broker.speaks, NotSeen):
        return None
    return MetadataMode.ZOOKEEPER if LEADER_AND_ISR in broker.speaks.requests else MetadataMode.KRAFT


def _alike(spoken: LineSpeaks) -> tuple[str, ...]:
    """Return the lines whose brokers speak so, the oldest first; if none does, the newest that speaks no more."""
    same = tuple(line for line, known in known_lines().items() if known == spoken)
    if same:
        return same
    within = [line for line, known in known_lines().items() if known.says_no_more_than(spoken)]
    return tuple(within[-1:])


def _oldest(alike: tuple[str, ...]) -> int:
    order = list(known_lines())
    return order.index(alike[0]) if alike else -1
