"""How is it made sure that no broker outlives the tester?

This program is the parent of all node processes of one tester. It takes one request a line (JSON) from the
tester and answers each with one line. When the tester is gone, however it went, the pipe closes, and the
supervisor kills its children and ends. Should the supervisor itself be killed, the kernel kills the children
(PR_SET_PDEATHSIG): that is why they are started by a process of one thread, and not by the tester.

File systems for faults of a disk are mounted here too, in a mount namespace of the supervisor's own: only children
that start later see them, and the kernel takes them away when the last of these processes is gone, however it went.
Whoever is not root gets a user namespace with it, where the system permits that.

Run by path, in isolated mode: it imports nothing but the standard library.
"""

import ctypes
import functools
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_MS_RDONLY, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x1, 0x20, 0x1000, 0x4000, 0x40000
_MNT_DETACH = 0x2
_KEPT_FLAGS = 0x2 | 0x4 | 0x8 | 0x400 | 0x800
"""What a bind mount may not lose when it is made read-only: nosuid, nodev, noexec, noatime, nodiratime."""
_OWNER_CHECK_S = 1.0

Children = dict[int, subprocess.Popen[bytes]]


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _start(children: Children, argv: list[str], directory: str, output: str) -> dict[str, object]:
    with open(output, "ab") as stream:  # noqa: PTH123 - a plain file for a child
        child = subprocess.Popen(
            argv,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - this process has one thread
        )
    children[child.pid] = child
    return {"pid": child.pid}


def _call(name: str, *arguments: object) -> None:
    """Call a function of the C library that gives -1 when it fails."""
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


@functools.cache
def _enter_namespace() -> None:
    """Take a mount namespace of one's own, once."""
    try:
        _call("unshare", _CLONE_NEWNS)
    except PermissionError:
        uid, gid = os.geteuid(), os.getegid()
        _call("unshare", _CLONE_NEWNS | _CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    _call("mount", None, b"/", None, _MS_REC | _MS_PRIVATE, None)


def _limit(directory: str, size: int) -> dict[str, object]:
    """Put a directory on a file system of a size; it is empty when it is mounted, and stays as it is when resized."""
    _enter_namespace()
    flags = _MS_REMOUNT if Path(directory).is_mount() else 0
    _call("mount", b"tmpfs", directory.encode(), b"tmpfs", flags, f"size={size},mode=0755".encode())
    return {}


def _protect(directory: str) -> dict[str, object]:
    """Make a directory read-only for whoever starts from now on, root as well."""
    _enter_namespace()
    path = directory.encode()
    _call("mount", path, path, None, _MS_BIND, None)
    kept = os.statvfs(directory).f_flag & _KEPT_FLAGS
    _call("mount", None, path, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept, None)
    return {}


def _unmount(directory: str) -> dict[str, object]:
    _call("umount2", directory.encode(), _MNT_DETACH)
    return {}


def _answer(children: Children, request: dict[str, object]) -> dict[str, object]:
    match request:
        case {"start": list(argv), "directory": str(directory), "output": str(output)}:
            return _start(children, argv, directory, output)
        case {"poll": int(pid)}:
            return {"exit_code": children[pid].poll()}
        case {"signal": int(number), "pid": int(pid)}:
            children[pid].send_signal(number)
            return {}
        case {"limit": str(directory), "size": int(size)}:
            return _limit(directory, size)
        case {"protect": str(directory)}:
            return _protect(directory)
        case {"unmount": str(directory)}:
            return _unmount(directory)
        case _:
            return {"error": f"not a request: {request}"}


def _requests(owner: int) -> Iterator[dict[str, object]]:
    """Yield requests until the pipe closes or the owner is gone (a fork of it may keep the pipe open)."""
    pending = b""
    while os.getppid() == owner:
        if not select.select([0], [], [], _OWNER_CHECK_S)[0]:
            continue
        received = os.read(0, 65536)
        if not received:
            return
        *lines, pending = (pending + received).split(b"\n")
        yield from map(json.loads, lines)


def main() -> None:
    """Serve the tester until it is gone, then kill every child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    children: Children = {}
    try:
        for request in _requests(os.getppid()):
            try:
                answer = _answer(children, request)
            except (OSError, KeyError) as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            sys.stdout.write(json.dumps({**answer, "serial": request.get("serial")}) + "\n")
            sys.stdout.flush()
    finally:
        for child in children.values():
            child.kill()
        for child in children.values():
            child.wait()


if __name__ == "__main__":
    main()
