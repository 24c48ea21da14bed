"""Where do brokers and Spark keep their files while a run lasts, and who removes them if the tester is killed?

Every directory carries its tester's process id and start time. A tester removes its own; those of testers
that are gone are removed by the next one. Without ``/proc`` nobody's but one's own are removed.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from fault_injection.cluster.leftovers import start_time

PREFIX = "kafka-conformance-"
OWNED = re.compile(rf"{PREFIX}(?P<pid>\d+)-(?P<started>\d+)-")


def work_directory(purpose: str) -> Path:
    """Make a directory of this process; what dead testers left behind is removed first."""
    remove_leftovers()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-{start_time(os.getpid()) or 0}-{purpose}-"))


def remove_leftovers() -> list[Path]:
    """Remove the directories whose tester is gone and return them."""
    if start_time(os.getpid()) is None:
        return []
    removed: list[Path] = []
    for path in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        owner = OWNED.match(path.name)
        if owner is not None and start_time(int(owner["pid"])) != owner["started"]:
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
    return removed
