"""How is a set of jars kept so that a later run trusts it without a network?

A set is a directory ``<cache>/<name>/`` with a manifest ``SHA256SUMS`` written when it was resolved. It
appears by one rename, so it is never half there; a file that is missing, foreign or changed makes the whole
set be resolved again. Two testers resolve one after the other (a lock file), and the second one finds the
first one's work.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
