"""Where do brokers and Spark keep their files while a run lasts, and who removes them if the tester is killed?

Every directory carries its owner. A tester removes its own; those of testers that are provably gone are removed by the
next one. Other hosts and PID namespaces may share the temporary directory: what is theirs stays.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from fault_injection.cluster.supervision import Owner

PREFIX = "kafka-conformance-"
OWNED = re.compile(rf"{PREFIX}(?P<owner>{Owner.PATTERN})-")


def work_directory(purpose: str) -> Path:
    """Make a directory of this process; what dead testers left behind is removed first."""
    remove_leftovers()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{Owner.of_this_process()}-{purpose}-"))


def remove_leftovers() -> list[Path]:
    """Remove the directories whose tester is gone and return them."""
    removed: list[Path] = []
    for path in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
        named = OWNED.match(path.name)
        owner = None if named is None else Owner.written(named["owner"])
        if owner is not None and owner.is_gone:
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
    return removed
