"""Which jars does a release, the Spark connector or the wire codec need, and where are they?"""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from fault_injection.releases import ivy
from fault_injection.releases.cache import NO_JARS, JarSet, cache_directory, cached, jar_set, jar_set_of
from fault_injection.releases.pins import check_pins, write_pins
from fault_injection.releases.release import Coordinate, JarsUnavailableError, Release
from fault_injection.releases.table import RELEASES, find_release

__all__ = ["NO_JARS", "JarSet", "jar_names_of_home", "jars_of", "schema_jar", "spark_connector_jars"]

_SPARK_CONNECTOR = (Coordinate("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.2.0"),)
_SCHEMAS = (Coordinate("org.apache.kafka", "kafka-clients", "3.9.2"),)


def jars_of(release: Release, kafka_home: Path | None = None) -> JarSet:
    """Return the class path of a release's broker: from the cache, else resolved and cached.

    Args:
        release: the release.
        kafka_home: the directory of an unpacked Kafka whose ``libs`` are to be used instead. Of these only the jars
            that keep the release from running on a Java that runs all releases are replaced.

    Raises:
        JarsUnavailableError: ``kafka_home`` has no jars, or the jars are not cached and cannot be resolved.
        ChangedJarError: a jar of the release is not the one that was released; those of ``kafka_home`` may be any.
    """
    if kafka_home is not None:
        return _jars_of_home(release, kafka_home)
    return check_pins(release.version, resolved_jars(release))


def resolved_jars(release: Release) -> JarSet:
    """Return the jars of a release as the cache or the repository has them, released so or not.

    Raises:
        JarsUnavailableError: they are not cached and cannot be resolved.
    """
    return _resolved(release.version, (release.coordinate, *release.extra_jars))


def pin_releases(names: Iterable[str]) -> None:
    """Pin the jars of releases that are not pinned yet, as the repository has them: for whoever adds a release."""
    named = [find_release(name) for name in names] or RELEASES
    write_pins({release.version: resolved_jars(release) for release in named})


def spark_connector_jars() -> JarSet:
    """Return the jars that let Spark read Kafka topics.

    Raises:
        JarsUnavailableError: they are not cached and cannot be resolved.
    """
    return _resolved("spark-connector-4.2.0", _SPARK_CONNECTOR)


def schema_jar() -> Path:
    """Return the kafka-clients jar whose message schemas include the ZooKeeper-era requests.

    Raises:
        JarsUnavailableError: it is not cached and cannot be resolved.
    """
    wanted = _SCHEMAS[0]
    jars = _resolved(f"schemas-{wanted.version}", _SCHEMAS)
    return jars.directory / f"{wanted.artifact}-{wanted.version}.jar"


def jar_names_of_home(kafka_home: Path) -> list[str]:
    """Return the names of the jars in the directory of an unpacked Kafka.

    Raises:
        JarsUnavailableError: there are none.
    """
    names = sorted(file.name for file in (kafka_home / "libs").glob("*.jar"))
    if not names:
        is_directory = "has no libs/*.jar" if kafka_home.is_dir() else "is not there"
        raise JarsUnavailableError(f"--kafka-home {kafka_home} is no directory of a Kafka: it {is_directory}.")
    return names


def _jars_of_home(release: Release, kafka_home: Path) -> JarSet:
    jar_names_of_home(kafka_home)
    libs = kafka_home.absolute() / "libs"  # brokers have working directories of their own
    swapped = release.swapped_jars
    if not swapped:
        return jar_set(libs)
    own = tuple(f"{jar.artifact}-" for jar in swapped)
    kept = [file for file in libs.glob("*.jar") if not file.name.startswith(own)]
    resolved = _resolved(f"swapped-{release.line}", swapped).directory
    return jar_set_of(libs, [*kept, *(resolved / f"{jar.artifact}-{jar.version}.jar" for jar in swapped)])


def _resolved(name: str, coordinates: tuple[Coordinate, ...]) -> JarSet:
    return cached(name, _resolution(coordinates))


def _resolution(coordinates: tuple[Coordinate, ...]) -> Callable[[Path], None]:
    def fill(directory: Path) -> None:
        with tempfile.TemporaryDirectory() as work:
            ivy.resolve(coordinates, directory, cache_directory().parent / "ivy", Path(work))

    return fill
