"""Can something be written where the user says? Asked before anything takes long."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def check_writable(directory: Path) -> None:
    """Make a directory if need be, and make sure that files can be written there.

    Raises:
        UsageError: they cannot.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=directory).close()
    except OSError as error:
        why = "it is no directory" if isinstance(error, FileExistsError) else error.strerror
        raise UsageError(f"nothing can be written to {directory}: {why}") from error


def check_file(path: Path) -> None:
    """Make sure that a file can be written, in a directory that is there.

    Raises:
        UsageError: it cannot.
    """
    if path.is_dir():
        raise UsageError(f"nothing can be written to {path}: it is a directory; name a file")
    if not path.parent.is_dir():
        raise UsageError(f"nothing can be written to {path.parent}: it is no directory")
