"""How much room do jars and runs take? In words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fault_injection.releases.cache import cache_directory, jar_set

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.catalogue.ladder import Line
    from fault_injection.releases import JarSet

MEBIBYTE = 2**20


def jars_text(jars: JarSet) -> str:
    """Say how many jars there are and how large."""
    return f"{len(jars.files)} jars, {mebibytes(sum(file.stat().st_size for file in jars.files))}"


def cached_text(line: Line) -> str:
    """Say whether a release's jars are in the cache, and how large they are."""
    directory = cache_directory() / line.release.version
    return jars_text(jar_set(directory)) if directory.is_dir() else "jars not fetched yet"


def ladder_text(lines: Sequence[Line]) -> str:
    """Say how much room the jars of several lines take together; modes of one release share them."""
    directories = {cache_directory() / line.release.version for line in lines}
    files = [file for directory in directories for file in directory.glob("*.jar")]
    there = sum(directory.is_dir() for directory in directories)
    return (
        f"jars of {there} of {len(directories)} releases are there: {mebibytes(sum(f.stat().st_size for f in files))}"
    )


def folder_text(folder: Path) -> str:
    """Say how large a folder is, with all that is in it."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return f"{len(files)} files, {mebibytes(sum(path.stat().st_size for path in files))}"


def mebibytes(size: int) -> str:
    """Return a size in bytes as mebibytes."""
    return f"{size / MEBIBYTE:.1f} MiB"
