"""How is a node's directory of a child process made too small, or read-only, so that root is stopped as well?

The supervisor mounts a file system of limited size over the directory, or the directory over itself read-only, in a
mount namespace of its own: nobody else sees it, and nothing is left behind when the supervisor is gone. The node
must be down meanwhile. The tester reads what is in there through the supervisor's entry in ``/proc``.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from fault_injection.cluster.errors import ClusterError
from fault_injection.cluster.supervision import Supervision

_BLOCK_BYTES = 4096
_AMPLE_BYTES = 2**36
"""The size of a limited file system until what was there is copied into it; nothing is reserved."""


class ProcessStorage:
    """The limited and the read-only directories of one tester's nodes."""

    def __init__(self, supervision: Supervision) -> None:
        self._supervision = supervision
        self._limited: set[Path] = set()
        self._protected: set[Path] = set()

    def obstacle(self) -> str | None:
        """Return why nothing can be mounted here, or None if it can; tries it out on a directory that is nobody's."""
        if sys.platform != "linux":
            return "a directory can be limited in size or made read-only on Linux only"
        with tempfile.TemporaryDirectory() as directory:
            try:
                self._supervision.limit(Path(directory), _BLOCK_BYTES)
                self._supervision.unmount(Path(directory))
            except ClusterError as refused:
                return f"the system lets nobody mount who is not root, and grants no user namespace ({refused})"
        return None

    def limit(self, directory: Path, room_bytes: int) -> None:
        """Leave a directory no more room than so many bytes beyond what is in it, in whole blocks of 4096 bytes."""
        self._supervision.limit(directory, _AMPLE_BYTES)
        try:
            _copy(directory, seen := self._supervision.seen(directory))
            self._supervision.limit(directory, _used_bytes(seen) + room_bytes)
        except BaseException:  # nobody may take for the directory what is not all of it
            self._supervision.unmount(directory)
            raise
        self._limited.add(directory)

    def protect(self, directory: Path) -> None:
        """Make a directory read-only."""
        self._supervision.protect(directory)
        self._protected.add(directory)

    def restore(self, directory: Path) -> bool:
        """Return a directory its ordinary storage back, with what is in it; False if it has that already."""
        if directory in self._protected:
            self._protected.discard(directory)
        elif directory in self._limited:
            for old in directory.iterdir():
                shutil.rmtree(old) if old.is_dir() else old.unlink()
            _copy(self._supervision.seen(directory), directory)
            self._limited.discard(directory)
        else:
            return False
        self._supervision.unmount(directory)
        return True

    def proof(self, directory: Path) -> str | None:
        """Say in the kernel's words what is mounted on a directory; None when nothing is."""
        if directory not in self._limited | self._protected:
            return None
        mounts = Path(f"/proc/{self._supervision.pid}/mounts").read_text().splitlines()
        found = [line.split() for line in mounts if line.split()[1] == str(directory)]
        return f"{found[-1][2]} {found[-1][3]} on {directory.name}" if found else None

    def seen(self, directory: Path) -> Path:
        """Return the path at which the tester sees a node's directory as the node does."""
        is_mounted = any(directory in (mounted, *mounted.parents) for mounted in self._limited)
        return self._supervision.seen(directory) if is_mounted else directory


def _copy(source: Path, target: Path) -> None:
    """Copy a directory's content; what is all zeros in a file takes no room in the copy."""
    shutil.copytree(source, target, dirs_exist_ok=True, copy_function=_copy_sparse)


def _copy_sparse(source: str, target: str) -> None:
    with Path(source).open("rb") as from_, Path(target).open("wb") as to:
        while block := from_.read(_BLOCK_BYTES):
            if block.count(0) == len(block):
                to.seek(len(block), 1)
            else:
                to.write(block)
        to.truncate(Path(source).stat().st_size)
    shutil.copystat(source, target)


def _used_bytes(directory: Path) -> int:
    used = shutil.disk_usage(directory).used
    return max(used, _BLOCK_BYTES)
