"""Is a directory a run that can be looked at? Whether what run.json must say of every run is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.run_directory import RunDirectory, RunDirectoryError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NEEDED = ("kafka", "metadata")
NAMED = 3
"""How many runs of a directory are named to whoever gave the directory instead."""


def open_run(path: Path) -> RunDirectory:
    """Open an existing run.

    Raises:
        RunDirectoryError: it is none, of another format version, or its run.json does not say what was run on what.
    """
    run = RunDirectory(path)
    if (path / "run.json").is_file() and not isinstance(run.read_json("run.json"), dict):
        raise RunDirectoryError(f"{path / 'run.json'} cannot be read: it is no JSON object")
    if not (path / "run.json").exists() and (runs := runs_in(path)):
        newest = ", ".join(map(str, runs[: -NAMED - 1 : -1]))
        others = f" and {len(runs) - NAMED} older ones" if len(runs) > NAMED else ""
        raise RunDirectoryError(f"{path} holds no run of its own; give a run directory that is in it: {newest}{others}")
    about = run.read_json("run.json") if (path / "run.json").is_file() else {"format": None}
    missing = [] if "format" in about else ["format"]
    if not missing:
        RunDirectory.load(path)
        missing = [name for name in NEEDED if not isinstance(about.get(name), str)]
    if missing:
        raise RunDirectoryError(f"{path / 'run.json'} is of no run: it does not say {', '.join(missing)}")
    return run


def runs_in(path: Path) -> list[Path]:
    """Return the run directories in a directory of runs or of release lines, the oldest first by name."""
    found = (file.parent for depth in ("*", "*/*") for file in path.glob(f"{depth}/run.json"))
    return sorted(found, key=lambda run: run.name)


def runs_given(paths: Sequence[Path]) -> list[Path]:
    """Return the run directories that were named: those in a directory of runs, and no files that lie beside runs.

    Raises:
        RunDirectoryError: there is none.
    """
    directories = [path for path in paths if not path.is_file()]
    if not directories:
        raise RunDirectoryError(f"{paths[0]} is a file; give run directories, or a directory of runs")
    runs = (runs_in(path) if not (path / "run.json").exists() else [path] for path in directories)
    return [run for path, found in zip(directories, runs, strict=True) for run in found or [path]]
