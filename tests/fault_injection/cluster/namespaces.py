"""A Python program in a PID namespace of its own, as a tester in a container has one."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence

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
