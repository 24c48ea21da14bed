"""Which Java of this machine runs the brokers?"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fault_injection.releases.release import JavaNotFoundError

OLDEST_JAVA = 17
"""Brokers from 4.0 on need Java 17, and 17 runs every older release."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: the path of its launcher and its feature version."""

    executable: Path
    feature_version: int
    version_text: str


def find_java() -> Java:
    """Find a Java that is new enough: ``JAVA_HOME`` first, then ``java`` on the PATH.

    Raises:
        JavaNotFoundError: there is none, it does not start, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    found = Path(home, "bin", "java") if home else shutil.which("java")
    if found is None or not Path(found).is_file():
        where = f"JAVA_HOME ({home})" if home else "the PATH"
        raise JavaNotFoundError(f"No java was found in {where}; brokers need Java {OLDEST_JAVA} or newer.")
    return _checked(Path(found))


def _checked(executable: Path) -> Java:
    asked = subprocess.run([str(executable), "-version"], capture_output=True, text=True, check=False)
    text = asked.stderr + asked.stdout
    version = re.search(r'version "(\d+)(?:\.(\d+))?[^"]*"', text)
    if asked.returncode != 0 or version is None:
        raise JavaNotFoundError(f"{executable} does not start: {text.strip()[:200] or 'it printed nothing'}.")
    feature = int(version[2] or 0) if version[1] == "1" else int(version[1])
    if feature < OLDEST_JAVA:
        raise JavaNotFoundError(
            f"{executable} is Java {feature}, but Java {OLDEST_JAVA} or newer is needed to run brokers."
        )
    return Java(executable, feature, version[0].split('"')[1])
