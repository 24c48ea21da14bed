"""Which Kafka releases are supported, and what does each need?

Sources: the POMs of ``org.apache.kafka:kafka_*`` on Maven Central; KIP-833 for the span of the metadata
modes (KRaft is production-ready from 3.3, ZooKeeper ends with 3.9); ZOOKEEPER-3779 for the clients 3.4.13 and
3.4.14, which cannot connect on Java 14 and later; JEP 320 for the APIs that Java 11 dropped.
"""

import re
from dataclasses import replace

from fault_injection.releases.release import Coordinate, LogBinding, MetadataMode, Release, UnknownReleaseError

_LATEST_PATCHES = (
    "0.10.2.2",
    "0.11.0.3",
    "1.0.2",
    "1.1.1",
    "2.0.1",
    "2.1.1",
    "2.2.2",
    "2.3.1",
    "2.4.1",
    "2.5.1",
    "2.6.3",
    "2.7.2",
    "2.8.2",
    "3.0.2",
    "3.1.2",
    "3.2.3",
    "3.3.2",
    "3.4.1",
    "3.5.2",
    "3.6.2",
    "3.7.2",
    "3.8.1",
    "3.9.2",
    "4.0.2",
    "4.1.2",
    "4.2.2",
    "4.3.1",
    "4.4.0",
)

_JAXB = (Coordinate("javax.xml.bind", "jaxb-api", "2.3.0"),)
_ZOOKEEPER_3_5 = (
    Coordinate("org.apache.zookeeper", "zookeeper", "3.5.9"),
    Coordinate("org.apache.zookeeper", "zookeeper-jute", "3.5.9"),
)
_SLF4J_LOG4J = (Coordinate("org.slf4j", "slf4j-log4j12", "1.7.30"), Coordinate("log4j", "log4j", "1.2.17"))
_SLF4J_RELOAD4J = (Coordinate("org.slf4j", "slf4j-reload4j", "1.7.36"),)
_SLF4J_LOG4J2 = (Coordinate("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4"),)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _minor(version: str) -> tuple[int, ...]:
    numbers = _numbers(version)
    if numbers[0] > 0:
        return numbers[:2]
    return numbers[:2] if numbers[1] == 11 else numbers[:3]


def _modes(minor: tuple[int, ...]) -> tuple[MetadataMode, ...]:
    modes = []
    if minor <= (3, 9):
        modes.append(MetadataMode.ZOOKEEPER)
    if minor >= (3, 3):
        modes.append(MetadataMode.KRAFT)
    return tuple(modes)


def _log_jars(minor: tuple[int, ...]) -> tuple[Coordinate, ...]:
    if minor <= (1, 0):
        return ()
    if minor <= (3, 1):
        return _SLF4J_LOG4J
    return _SLF4J_RELOAD4J if minor <= (3, 9) else _SLF4J_LOG4J2


def _swapped_jars(minor: tuple[int, ...]) -> tuple[tuple[Coordinate, ...], tuple[str, ...]]:
    if minor <= (0, 11):
        return _JAXB, ("jaxb-api 2.3.0 is added: Java 11 dropped javax.xml.bind",)
    if (2, 0) <= minor <= (2, 3):
        return _ZOOKEEPER_3_5, ("the ZooKeeper client is 3.5.9: the release's own cannot connect on Java 17",)
    return (), ()


def _row(version: str) -> Release:
    minor = _minor(version)
    swapped, quirks = _swapped_jars(minor)
    return Release(
        version=version,
        minor=minor,
        scala="2.13" if minor >= (2, 4) else "2.12",
        metadata_modes=_modes(minor),
        log_binding=LogBinding.LOG4J2 if minor >= (4, 0) else LogBinding.LOG4J1,
        extra_jars=swapped + _log_jars(minor),
        swapped_jars=swapped,
        quirks=quirks,
    )


RELEASES: tuple[Release, ...] = tuple(_row(version) for version in _LATEST_PATCHES)
"""The latest patch of every supported line, the oldest first."""


def find_release(name: str) -> Release:
    """Find a release by line (``4.3``, its latest patch), by full version, or by the word ``newest``.

    A line's patches are those up to its latest: Maven Central has all of them, 3.3.0 included.

    Raises:
        UnknownReleaseError: no supported line has this name, or its line has no such patch yet.
    """
    release = release_of_line(name)
    latest = next(each for each in RELEASES if each.minor == release.minor).version
    if _numbers(release.version) > _numbers(latest):
        raise UnknownReleaseError(
            f"Kafka {name!r} is not a release that this tester knows: of the line {release.line} it knows"
            f" {latest.rpartition('.')[0]}.0 to {latest}. If it is newer than this tester, `run --kafka-home DIR` and"
            f" `run --image NAME` take it as a build of its line."
        )
    return release


def release_of_line(name: str) -> Release:
    """Find a release as `find_release` does, any patch of a known line included, as a build of the user's may be.

    Raises:
        UnknownReleaseError: no supported line has this name.
    """
    if name == "newest":
        return RELEASES[-1]
    if not re.fullmatch(r"\d+(\.\d+){1,3}", name):
        raise _unknown(name)
    numbers = _numbers(name)
    for release in RELEASES:
        patch_depth = 4 if numbers[0] == 0 else 3
        if numbers in (release.minor, (*release.minor, 0)[: patch_depth - 1]):
            return release
        if len(numbers) == patch_depth and _minor(name) == release.minor:
            return replace(release, version=name)
    raise _unknown(name)


def _unknown(name: str) -> UnknownReleaseError:
    known = ", ".join(release.line for release in RELEASES)
    newest = " The last of them is also called newest." if name.isalpha() else ""
    return UnknownReleaseError(f"Kafka {name!r} is not a supported release; the supported ones are {known}.{newest}")
