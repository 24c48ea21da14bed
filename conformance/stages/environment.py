"""Where did a run happen? Interpreter, system and tester, without naming the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from fault_injection.releases import UsageError, find_java


def environment() -> dict[str, Any]:
    """Describe where a run happened, without naming the machine."""
    return {
        "java": _java_version(),
        "python": platform.python_version(),
        "os": platform.system(),
        "cores": os.cpu_count(),
        "tester": tester_version(),
    }


def _java_version() -> str:
    try:
        return find_java().version_text
    except UsageError:
        return "none"


def tester_version() -> str:
    """Return the installed version of the tester."""
    try:
        return version("kafka-conformance")
    except PackageNotFoundError:
        return "uninstalled"
