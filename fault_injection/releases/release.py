"""What must be known about a Kafka release to start it?"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class MetadataMode(Enum):
    """Who keeps the cluster's metadata."""

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"


class LogBinding(Enum):
    """The logging library a release's brokers are configured for."""

    LOG4J1 = "log4j1"
    LOG4J2 = "log4j2"


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A Maven coordinate, ``group:artifact:version``."""

    group: str
    artifact: str
    version: str

    @property
    def text(self) -> str:
        """Return the coordinate as people write it."""
        return f"{self.group}:{self.artifact}:{self.version}"


@dataclass(frozen=True, slots=True)
class Release:
    """One Apache Kafka release.

    Attributes:
        version: the full version, for example ``3.9.2``.
        minor: the line it belongs to: ``(0, 10, 2)``, ``(0, 11)``, ``(3, 9)``.
        scala: the Scala suffix of the artifact that is used.
        metadata_modes: the modes it runs in, the older one first.
        log_binding: the logging library its brokers use.
        extra_jars: coordinates beside the release's own: a log binding, an API that Java dropped, or a
            newer ZooKeeper client in place of one that Java 17 breaks.
        swapped_jars: those of them that are not for the log: a user's own Kafka needs them too.
        quirks: what is special about starting it, in words, for the report.
        build: the version that the broker's jar of a user's own Kafka has, such as ``4.5.0-SNAPSHOT``; None of a
            release's own jars.
    """

    version: str
    minor: tuple[int, ...]
    scala: str
    metadata_modes: tuple[MetadataMode, ...]
    log_binding: LogBinding
    extra_jars: tuple[Coordinate, ...]
    swapped_jars: tuple[Coordinate, ...] = ()
    quirks: tuple[str, ...] = ()
    build: str | None = None

    @property
    def line(self) -> str:
        """Return the minor version as people write it, for example ``0.10.2`` or ``3.9``."""
        return ".".join(map(str, self.minor))

    @property
    def default_metadata_mode(self) -> MetadataMode:
        """KRaft where the release has it, else ZooKeeper."""
        return self.metadata_modes[-1]

    @property
    def coordinate(self) -> Coordinate:
        """Return the artifact whose dependencies make up a broker."""
        return Coordinate("org.apache.kafka", f"kafka_{self.scala}", self.version)

    def is_at_least(self, *minor: int) -> bool:
        """Return whether this release belongs to the line ``minor`` or to a later one."""
        return self.minor >= minor

    def metadata_mode(self, requested: MetadataMode | None) -> MetadataMode:
        """Return the requested mode, or the default when none is requested.

        Raises:
            UnsupportedMetadataModeError: this release does not have the mode.
        """
        if requested is None:
            return self.default_metadata_mode
        if requested not in self.metadata_modes:
            has = " and ".join(mode.value for mode in self.metadata_modes)
            raise UnsupportedMetadataModeError(
                f"Kafka {self.version} does not run in {requested.value} mode; it has {has}."
            )
        return requested


# Which mistakes of the user's request or machine end a run before anything starts?


class UsageError(Exception):
    """The request cannot be carried out as it was made; the message is one clear sentence.

    The command line prints the message and exits with the code for usage errors.
    """


class UnknownReleaseError(UsageError):
    """No supported release has this name."""


class UnsupportedMetadataModeError(UsageError):
    """The release cannot run in this metadata mode."""


class JavaNotFoundError(UsageError):
    """No Java that is new enough was found on this machine."""


class ChangedJarError(UsageError):
    """A jar of a release is not the one that was released."""


class JarsUnavailableError(UsageError):
    """The jars are neither cached nor obtainable."""


# Which Java of this machine runs the brokers?


OLDEST_JAVA = 17
"""Brokers from 4.0 on need Java 17, and 17 runs every older release."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: the path of its launcher and its feature version."""

    executable: Path
    feature_version: int
    version_text: str


def find_java() -> Java:
    """Find a Java that is new enough: ``JAVA_HOME`` first, then ``java`` on the PATH.

    Raises:
        JavaNotFoundError: there is none, it does not start, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    found = Path(home, "bin", "java") if home else shutil.which("java")
    if found is None or not Path(found).is_file():
        where = f"JAVA_HOME ({home})" if home else "the PATH"
        raise JavaNotFoundError(f"No java was found in {where}; brokers need Java {OLDEST_JAVA} or newer.")
    return _checked(Path(found))


def _checked(executable: Path) -> Java:
    asked = subprocess.run([str(executable), "-version"], capture_output=True, text=True, check=False)
    text = asked.stderr + asked.stdout
    version = re.search(r'version "(\d+)(?:\.(\d+))?[^"]*"', text)
    if asked.returncode != 0 or version is None:
        raise JavaNotFoundError(f"{executable} does not start: {text.strip()[:200] or 'it printed nothing'}.")
    feature = int(version[2] or 0) if version[1] == "1" else int(version[1])
    if feature < OLDEST_JAVA:
        raise JavaNotFoundError(
            f"{executable} is Java {feature}, but Java {OLDEST_JAVA} or newer is needed to run brokers."
        )
    return Java(executable, feature, version[0].split('"')[1])
