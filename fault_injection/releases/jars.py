"""Which jars does a release, the Spark connector or the wire codec need, and where are they?"""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fault_injection.releases import ivy
from fault_injection.releases.release import ChangedJarError, Coordinate, JarsUnavailableError, Release
from fault_injection.releases.table import RELEASES, find_release

# How is a set of jars kept so that a later run trusts it without a network?
#
# A set is a directory ``<cache>/<name>/`` with a manifest ``SHA256SUMS`` written when it was resolved. It
# appears by one rename, so it is never half there; a file that is missing, foreign or changed makes the whole
# set be resolved again. Two testers resolve one after the other (a lock file), and the second one finds the
# first one's work.


MANIFEST = "SHA256SUMS"


@dataclass(frozen=True, slots=True)
class JarSet:
    """Jars that make up one class path.

    Attributes:
        directory: where they are.
        files: the jars, sorted by name.
        digest: SHA-256 over the names and checksums of all jars, in hexadecimal.
    """

    directory: Path
    files: tuple[Path, ...]
    digest: str

    @property
    def class_path(self) -> str:
        """Return the jars as a Java class path."""
        return os.pathsep.join(map(str, self.files))


NO_JARS = JarSet(Path(), (), "")
"""The jars of a broker whose image brings them."""


def cache_directory() -> Path:
    """Return the directory that jar sets are cached in: the user's cache directory by XDG rules."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "kafka-conformance" / "jars"


def cached(name: str, fill: Callable[[Path], None]) -> JarSet:
    """Return the set ``name`` from the cache, filled by ``fill(directory)`` when it is absent or damaged."""
    directory = cache_directory() / name
    found = _verified(directory)
    if found:
        return found
    with _lock(cache_directory()):
        return _verified(directory) or _filled(directory, fill)


def jar_set(directory: Path) -> JarSet:
    """Return all jars of a directory that is not ours, with the digest of what they are now."""
    return jar_set_of(directory, directory.glob("*.jar"))


def jar_set_of(directory: Path, files: Iterable[Path]) -> JarSet:
    """Return jars that mostly are in one directory, with the digest of what they are now."""
    in_order = tuple(sorted(files, key=lambda file: file.name))
    return JarSet(directory, in_order, _digest(_sums(in_order)))


def _filled(directory: Path, fill: Callable[[Path], None]) -> JarSet:
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".filling-") as scratch:
        fresh = Path(scratch, "jars")
        fresh.mkdir()
        fill(fresh)
        (fresh / MANIFEST).write_text(_sums(sorted(fresh.glob("*.jar"))))
        shutil.rmtree(directory, ignore_errors=True)
        fresh.rename(directory)
    found = _verified(directory)
    assert found is not None, f"{directory} was written just now"
    return found


def _verified(directory: Path) -> JarSet | None:
    try:
        recorded = (directory / MANIFEST).read_text()
        found = jar_set(directory)
    except OSError:
        return None
    return found if found.files and _digest(recorded) == found.digest else None


def _sums(files: tuple[Path, ...] | list[Path]) -> str:
    return "".join(f"{_sha256(file)}  {file.name}\n" for file in files)


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(sums: str) -> str:
    return hashlib.sha256(sums.encode()).hexdigest()


@contextmanager
def _lock(directory: Path) -> Iterator[None]:
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


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
        is_directory = "has no libs/*.jar" if kafka_home.is_dir() else "does not exist"
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


# Are a release's own jars the ones that were released?
#
# ``pins.json`` has the SHA-256 of every jar that a release itself is made of, those of ``org.apache.kafka``, as Maven
# Central served them when the release was taken into the table. What a release depends on is not pinned: a set is kept
# as it was first resolved. A Kafka that the user brings is not pinned either.


PINS = Path(__file__).with_name("pins.json")


@cache
def pins() -> Mapping[str, Mapping[str, str]]:
    """Return SHA-256 in hexadecimal, by version and name of the jar."""
    read: dict[str, dict[str, str]] = json.loads(PINS.read_text())
    return read


def is_pinned(version: str) -> bool:
    """Return whether the jars of a version are known; patches that the table does not name may not be."""
    return version in pins()


def own_jars(version: str, jars: JarSet) -> dict[str, str]:
    """Return SHA-256 of the jars that a version itself is made of, from the manifest of a set."""
    lines = (line.split("  ", 1) for line in (jars.directory / MANIFEST).read_text().splitlines())
    return {name: sha256 for sha256, name in lines if name.startswith("kafka") and name.endswith(f"-{version}.jar")}


def check_pins(version: str, jars: JarSet) -> JarSet:
    """Return a set whose own jars are the released ones, and all of them.

    Raises:
        ChangedJarError: one is another, or missing, or there is one that was never released.
    """
    if not is_pinned(version):
        return jars
    wanted, found = pins()[version], own_jars(version, jars)
    for name in sorted({*wanted, *found}):
        if wanted.get(name) != found.get(name):
            raise ChangedJarError(
                f"{name} is not the one that Kafka {version} was released with: its SHA-256 is"
                f" {found.get(name, 'missing')} and must be {wanted.get(name, 'that of no jar')}. Remove"
                f" {jars.directory} to fetch it again, from a repository that you trust."
            )
    return jars


def write_pins(sets: Mapping[str, JarSet]) -> None:
    """Add the pins of versions whose jars were just fetched; those that are there stay as they are."""
    added = {version: own_jars(version, jars) for version, jars in sets.items()}
    everything = {**added, **pins()}
    order = sorted(everything, key=lambda version: [int(number) for number in version.split(".")])
    PINS.write_text(json.dumps({version: everything[version] for version in order}, indent=1) + "\n")
