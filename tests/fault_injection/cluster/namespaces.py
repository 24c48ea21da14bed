"""A Python program in a PID namespace of its own, as a tester in a container has one, or on a network of its own."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

REMEDY = (
    "run the tests as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
    "kernel.apparmor_restrict_unprivileged_userns=0; in a container, its seccomp profile)"
)


def in_another_namespace(program: str, environment: Mapping[str, str] = {}, *, with_proc: bool = True) -> str:
    """Run a program there to its end, and give what it printed.

    Args:
        program: the text of a Python program.
        environment: beside the test's own.
        with_proc: whether its ``/proc`` is of its own namespace, as in a container, or that of the test.
    """
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    options = [*user, "--pid", "--fork", *(["--mount-proc"] if with_proc else [])]
    unshare = ["unshare", *options]
    require_permission(unshare)
    done = subprocess.run(
        [*unshare, sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def require_permission(unshare: Sequence[str]) -> None:
    """Fail with a sentence where this machine gives nobody a namespace: it is the machine that must change."""
    tried = subprocess.run([*unshare, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.fail(f"{shlex.join(unshare)} is not permitted here ({tried.stderr.strip()}): {REMEDY}", pytrace=False)


@dataclass(frozen=True)
class AnotherMachine:
    """A network namespace, which reaches this machine by a cable alone: as another machine does.

    Attributes:
        name: of the namespace.
        our_address: of this machine on the cable.
        own_address: of the namespace on the cable.
    """

    name: str
    our_address: str
    own_address: str

    @property
    def command(self) -> list[str]:
        """Return what a command begins with that is to run there."""
        return ["ip", "netns", "exec", self.name]

    def run(self, program: str, *arguments: str) -> str:
        """Run a Python program there to its end, and give what it printed."""
        command = [*self.command, sys.executable, "-c", program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@contextmanager
def another_machine() -> Iterator[AnotherMachine]:
    """Connect a network namespace to this machine; skip the test where nobody but root may, and the test is not."""
    number = os.getpid() % 2**14
    network, name = f"10.{192 + number // 256}.{number % 256}", f"kc-{number}"
    if os.geteuid() != 0 or _ip("netns", "add", name).returncode != 0:
        pytest.skip("a network namespace with a cable to this machine needs root")
    there = AnotherMachine(name, f"{network}.1", f"{network}.2")
    try:
        _ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        for at, device, address in (([], name, there.our_address), (["-n", name], "eth0", there.own_address)):
            _ip(*at, "addr", "add", f"{address}/30", "dev", device)
            _ip(*at, "link", "set", device, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        yield there
    finally:
        _ip("netns", "delete", name)


def _ip(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
