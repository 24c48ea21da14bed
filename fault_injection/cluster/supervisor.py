"""How is it made sure that no broker outlives the tester?

This program is the parent of all node processes of one tester. It takes one request a line (JSON) from the
tester and answers each with one line. When the tester is gone, however it went, the pipe closes, and the
supervisor kills its children and ends. Should the supervisor itself be killed, the kernel kills the children
(PR_SET_PDEATHSIG): that is why they are started by a process of one thread, and not by the tester.

Run by path, in isolated mode: it imports nothing but the standard library.
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator

_PR_SET_PDEATHSIG = 1
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


def _answer(children: Children, request: dict[str, object]) -> dict[str, object]:
    match request:
        case {"start": list(argv), "directory": str(directory), "output": str(output)}:
            return _start(children, argv, directory, output)
        case {"poll": int(pid)}:
            return {"exit_code": children[pid].poll()}
        case {"signal": int(number), "pid": int(pid)}:
            children[pid].send_signal(number)
            return {}
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
