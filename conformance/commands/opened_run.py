"""Is a directory a run that can be looked at? Whether what run.json must say of every run is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.run_directory import RunDirectory, RunDirectoryError

if TYPE_CHECKING:
    from pathlib import Path

NEEDED = ("kafka", "metadata")


def open_run(path: Path) -> RunDirectory:
    """Open an existing run.

    Raises:
        RunDirectoryError: it is none, of another format version, or its run.json does not say what was run on what.
    """
    run = RunDirectory(path)
    if (path / "run.json").is_file() and not isinstance(run.read_json("run.json"), dict):
        raise RunDirectoryError(f"{path / 'run.json'} cannot be read: it is no JSON object")
    if not (path / "run.json").exists() and any(path.glob("*/run.json")):
        raise RunDirectoryError(f"{path} holds no run of its own; give a run directory, such as {path}/2026…")
    about = run.read_json("run.json") if (path / "run.json").is_file() else {"format": None}
    missing = [] if "format" in about else ["format"]
    if not missing:
        RunDirectory.load(path)
        missing = [name for name in NEEDED if not isinstance(about.get(name), str)]
    if missing:
        raise RunDirectoryError(f"{path / 'run.json'} is of no run: it does not say {', '.join(missing)}")
    return run
