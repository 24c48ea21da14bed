"""What is in a node's directory, inside its container, whether the container runs or not?

While it runs, a shell in it is asked. While it is paused or dead, Docker's archive of the directory tells, which
is kept until the container goes on; files that are large are fetched one by one. A container without a shell is
always read through archives; a file that is replaced in that very moment may then be given cut off.
"""

import contextlib
import io
import tarfile
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from docker.errors import APIError, NotFound

from fault_injection.cluster.backends.container_shell import ContainerShell
from fault_injection.waiting import NotYetError, until

_KEPT_BYTES_MAX = 2**20
_ARCHIVE_DEADLINE_S = 20.0


class ContainerFiles:
    """The files below one directory of one container; safe to use from several threads.

    Args:
        container: the Docker SDK's container.
        directory: the directory in the container.
    """

    def __init__(self, container: Any, directory: Path) -> None:  # noqa: ANN401 - untyped library
        self._container = container
        self._directory = directory
        self._lock = threading.Lock()
        self._shell: ContainerShell | None = None
        self._at_rest: dict[str, bytes | None] | None = None

    def names(self) -> list[str]:
        """Return all files, relative to the directory."""
        with self._lock:
            if (shell := self._open_shell()) is not None:
                try:
                    return shell.names()
                except OSError:
                    self._close_shell()
            return sorted(self._contents())

    def read(self, relative: str) -> bytes:
        """Return a file's content.

        Raises:
            FileNotFoundError: there is no such file.
        """
        with self._lock:
            if (shell := self._open_shell()) is not None:
                try:
                    return shell.read(relative)
                except FileNotFoundError:
                    raise
                except OSError:
                    self._close_shell()
            content = self._at_rest.get(relative) if self._at_rest is not None else None
            return self._fetched(relative) if content is None else content

    def write(self, relative: str, content: bytes) -> None:
        """Put a file in, or replace it, while the container does not run.

        Raises:
            FileNotFoundError: there is no such folder.
        """
        with self._lock:
            self._at_rest = None
            put_file(self._container, self._directory / relative, content)

    def remove(self, *relative: str) -> None:
        """Remove files while the container does not run; what is absent is none the worse."""
        present = set(relative) & set(self.names())
        with self._lock:
            self._at_rest = None
            for folder in sorted({Path(path).parent for path in present}):
                gone = {Path(path).name for path in present if Path(path).parent == folder}
                remove_files(self._container, self._directory / folder, gone)

    def forget(self) -> None:
        """Take nothing for granted any more: the container goes on, or is removed."""
        with self._lock:
            self._at_rest = None
            self._close_shell()

    def _open_shell(self) -> ContainerShell | None:
        """Return the shell, or None when the container does not run or has none."""
        self._container.reload()
        if self._container.status != "running":
            return None
        if self._shell is None:
            try:
                self._shell = ContainerShell(self._container, str(self._directory))
            except (APIError, OSError):
                return None
        return self._shell

    def _close_shell(self) -> None:
        if self._shell is not None:
            self._shell.close()
            self._shell = None

    def _contents(self) -> dict[str, bytes | None]:
        """Return all files by name, the small ones with their content."""
        if self._at_rest is not None:
            return self._at_rest
        contents = until(
            lambda: _files_of_archive(archive(self._container, self._directory)),
            deadline_s=_ARCHIVE_DEADLINE_S,
            what=f"an archive of {self._directory}",
        )
        if self._container.status != "running":
            self._at_rest = contents
        return contents

    def _fetched(self, relative: str) -> bytes:
        path = self._directory / relative
        return until(
            lambda: _file_of_archive(archive(self._container, path), path),
            deadline_s=_ARCHIVE_DEADLINE_S,
            what=f"an archive of {relative}",
        )


def _files_of_archive(content: bytes) -> dict[str, bytes | None]:
    with _members(content) as (tar, members):
        return {
            member.name.partition("/")[2]: _content(tar, member) if member.size <= _KEPT_BYTES_MAX else None
            for member in members
        }


def _file_of_archive(content: bytes, path: Path) -> bytes:
    with _members(content) as (tar, members):
        if [member.name for member in members] != [path.name]:
            raise FileNotFoundError(str(path))
        return _content(tar, members[0])


@contextlib.contextmanager
def _members(content: bytes) -> Iterator[tuple[tarfile.TarFile, list[tarfile.TarInfo]]]:
    """Yield an archive and its files; one that a file in motion cut off is not there yet."""
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            yield tar, [member for member in tar if member.isfile()]
    except tarfile.ReadError as cut_off:
        raise NotYetError(cut_off) from cut_off


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    assert file is not None, "a regular file"
    return file.read()


# How do files come out of a container, go into it and leave it, whether it runs or not?
#
# Docker exchanges tar archives with a container. It has no way to remove a file from one that does not run; but
# a file in an archive takes the place of a directory, with all that is in it, and a directory that of a file. So a
# directory is replaced by an empty file and then by itself without what was to be removed, in one archive.


def archive(container: Any, path: Path) -> bytes:  # noqa: ANN401 - untyped library
    """Return a container's file or directory as a tar archive.

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
        kept = [member for member in _archived_members(old) if member[0].name not in gone]
    container.put_archive(str(folder.parent), _archive_of([(_file(folder.name, b""), b""), *kept]))


def _archived_members(tar: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
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
