"""How do brokers of one release start in half the time from the second cluster on?

Most of a broker's start is spent on loading and verifying classes. Java can keep the loaded classes in an archive
(JEP 350): one broker of a release's first cluster writes it when it ends in order, and every later JVM with the
same class path maps it. Java itself checks that archive, class path and Java version fit, and goes on without the
archive if they do not.
"""

from pathlib import Path

from fault_injection.releases import JarSet, Java
from fault_injection.releases.cache import cache_directory

_FRESH_NAME = "classes.jsa"


class ClassArchive:
    """The archive of one class path on one Java, and the one process that may write it.

    Attributes:
        writer: the process id of the JVM that is to write the archive, if one was chosen.
    """

    def __init__(self, jars: JarSet, java: Java) -> None:
        self.path = cache_directory().parent / "classes" / f"{jars.digest[:20]}-{java.version_text}.jsa"
        self.writer: int | None = None
        self._fresh: Path | None = None

    def options_to_read(self) -> tuple[str, ...]:
        """Give the Java options for a JVM that uses the archive, if there is one."""
        return (f"-XX:SharedArchiveFile={self.path}", "-Xshare:auto") if self.path.is_file() else ()

    def is_wanted(self) -> bool:
        """Say whether there is no archive and nobody is to write one yet."""
        return self.writer is None and not self.path.is_file()

    def options_to_write(self, directory: Path) -> tuple[str, ...]:
        """Give the Java options for the JVM that is to write the archive when it ends."""
        self._fresh = directory / _FRESH_NAME
        return (f"-XX:ArchiveClassesAtExit={self._fresh}",)

    def keep(self) -> None:
        """Keep what the writer wrote; it has ended in order."""
        if self._fresh is None or not self._fresh.is_file():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name(f".{self.path.name}.{self.writer}")
        beside.write_bytes(self._fresh.read_bytes())
        beside.replace(self.path)
        self._fresh.unlink()
