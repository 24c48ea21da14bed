"""Which release is the Kafka that a user brings along, in a directory or in an image?

Its jars tell by their names: a broker is ``kafka_<Scala>-<version>.jar``. Builds of Confluent carry Confluent's own
version (``7.9.1-ccs`` is a build of the line 3.9, and does not say of which patch) or, up to 5.2, Kafka's with a
suffix (``2.0.0-cp1``). Other suffixes, such as ``-SNAPSHOT`` of a build of one's own, do not change the release.

Sources: "Supported Versions and Interoperability" in Confluent's documentation.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from fault_injection.releases.release import Release, UnknownReleaseError, UsageError
from fault_injection.releases.table import find_release, release_of_line

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
