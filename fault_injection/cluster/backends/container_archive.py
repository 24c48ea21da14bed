"""How do files come out of a container, go into it and leave it, whether it runs or not?

Docker exchanges tar archives with a container. It has no way to remove a file from one that does not run; but
a file in an archive takes the place of a directory, with all that is in it, and a directory that of a file. So a
directory is replaced by an empty file and then by itself without what was to be removed, in one archive.
"""

import io
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from docker.errors import NotFound


def archive(container: Any, path: Path) -> bytes:  # noqa: ANN401 - untyped library
    """Give a container's file or directory as a tar archive.

    Raises:
        FileNotFoundError: there is no such path in the container.
    """
    try:
        stream, _ = container.get_archive(str(path))
        return b"".join(stream)
    except NotFound as absent:
        raise FileNotFoundError(str(path)) from absent


def put_file(container: Any, path: Path, content: bytes) -> None:  # noqa: ANN401 - untyped library
    """Put a file into a container, in place of the one that is there.

    Raises:
        FileNotFoundError: there is no such folder in the container.
    """
    try:
        container.put_archive(str(path.parent), _archive_of([(_file(path.name, content), content)]))
    except NotFound as absent:
        raise FileNotFoundError(str(path)) from absent


def remove_files(container: Any, folder: Path, names: Collection[str]) -> None:  # noqa: ANN401 - untyped library
    """Remove files from a folder of a container that does not run."""
    gone = {f"{folder.name}/{name}" for name in names}
    with tarfile.open(fileobj=io.BytesIO(archive(container, folder))) as old:
        kept = [member for member in _members(old) if member[0].name not in gone]
    container.put_archive(str(folder.parent), _archive_of([(_file(folder.name, b""), b""), *kept]))


def _members(tar: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    for member in tar:
        file = tar.extractfile(member) if member.isfile() else None
        yield member, b"" if file is None else file.read()


def _file(name: str, content: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    return entry


def _archive_of(members: Collection[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as tar:
        for member, content in members:
            tar.addfile(member, io.BytesIO(content))
    return written.getvalue()
