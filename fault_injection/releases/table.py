"""Which Kafka releases are supported, and what does each need?

Sources: the POMs of ``org.apache.kafka:kafka_*`` on Maven Central; KIP-833 for the span of the metadata
modes (KRaft is production-ready from 3.3, ZooKeeper ends with 3.9); ZOOKEEPER-3779 for the clients 3.4.13 and
3.4.14, which cannot connect on Java 14 and later; JEP 320 for the APIs that Java 11 dropped.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from fault_injection.releases.release import (
    Coordinate,
    LogBinding,
    MetadataMode,
    Release,
    UnknownReleaseError,
    UsageError,
)

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


# Which release is the Kafka that a user brings along, in a directory or in an image?
#
# Its jars tell by their names: a broker is ``kafka_<Scala>-<version>.jar``. Builds of Confluent carry Confluent's own
# version (``7.9.1-ccs`` is a build of the line 3.9, and does not say of which patch) or, up to 5.2, Kafka's with a
# suffix (``2.0.0-cp1``). Other suffixes, such as ``-SNAPSHOT`` of a build of one's own, do not change the release.
#
# Sources: "Supported Versions and Interoperability" in Confluent's documentation.


_BROKER_JAR = re.compile(r"kafka_\d+\.\d+-(?P<version>\d+(\.\d+)+)(?P<suffix>-[\w.-]+)?\.jar")
_NO_CLASSES = re.compile(r"-(test|.*sources|.*javadoc|.*scaladoc|test-.*)$")
_CONFLUENT = re.compile(r"-(ccs|ce)\b")
_NEWEST = "newest"
_LINES_OF_CONFLUENT = {
    **{(4, minor): f"1.{minor}" for minor in range(2)},
    **{(5, minor): f"2.{minor}" for minor in range(6)},
    **{(6, minor): f"2.{minor + 6}" for minor in range(3)},
    **{(7, minor): f"3.{minor}" for minor in range(10)},
    **{(8, minor): f"4.{minor}" for minor in range(10)},
}


def brought_release(jar_names: Iterable[str], where: str, requested: str = _NEWEST) -> Release:
    """Return the release that the names of a Kafka's jars tell.

    Args:
        jar_names: the names of its jars.
        where: the directory or the image, for the error.
        requested: the release that the user named; ``newest`` stands for none.

    Raises:
        UsageError: no broker is among the jars, its version is not supported, or it is another one than requested.
    """
    told, build = _version(jar_names, where)
    own = _supported(told, where)
    asked = own if requested == _NEWEST else find_release(requested)
    is_exact = told == own.version
    contradicts = is_exact and requested == asked.version != own.version
    if asked.minor != own.minor or contradicts:
        raise UsageError(f"{where} holds Kafka {told}, but --kafka {requested} was asked for.")
    return replace(own if is_exact else asked, build=build)


def newer_build(jar_names: Iterable[str], where: str, taken_as: Release) -> Release:
    """Return the release that a build is taken as which is newer than every known one.

    Args:
        jar_names: the names of its jars.
        where: the directory or the image, for the error.
        taken_as: the release that it is started and judged as.

    Raises:
        UsageError: no broker is among the jars, or it is a build of another release line that is known.
    """
    told, build = _version(jar_names, where)
    try:
        own = release_of_line(told)
    except UnknownReleaseError:
        return replace(taken_as, build=build)
    if own.minor != taken_as.minor:
        raise UsageError(
            f"{where} holds Kafka {build}, and the rules of {own.line} are known: run it by them. Afterwards"
            f" `judge RUN --rules-of {taken_as.version}` judges it by those of {taken_as.version} too."
        )
    return replace(taken_as, build=build)


def _version(jar_names: Iterable[str], where: str) -> tuple[str, str]:
    """Return the version of the broker among jars, only its line where the jar does not say more; and what it says."""
    found = dict(told for name in jar_names if (told := _version_of_jar(name)) is not None)
    if not found:
        raise UsageError(f"{where} holds no Kafka broker: there is no kafka_<Scala>-<version>.jar.")
    if len(found) > 1:
        raise UsageError(f"{where} holds more than one Kafka: {', '.join(sorted(found))}.")
    return found.popitem()


def _version_of_jar(name: str) -> tuple[str, str] | None:
    jar = _BROKER_JAR.fullmatch(name)
    suffix = (jar and jar["suffix"]) or ""
    if jar is None or _NO_CLASSES.search(suffix):
        return None
    build = f"{jar['version']}{suffix}"
    if _CONFLUENT.search(suffix):
        major, minor = map(int, jar["version"].split(".")[:2])
        return _LINES_OF_CONFLUENT.get((major, minor), build), build
    return jar["version"], build


def _supported(told: str, where: str) -> Release:
    try:
        return release_of_line(told)
    except UnknownReleaseError as unknown:
        hint = " With --rules-of V it is judged by the rules of release V."
        raise UsageError(f"{where} holds a Kafka that cannot be judged: {unknown}{hint}") from unknown
