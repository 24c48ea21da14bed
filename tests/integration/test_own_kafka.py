"""A Kafka that the user brings, in a directory or in an image, is the one that is run and judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from fault_injection.releases import find_release, jars_of
from fault_injection.releases.cache import jar_set

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(240)]


def run(folder: Path, *options: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run TR-01 and return what the command line answered, and the run's description of itself."""
    command = [sys.executable, "-m", "conformance.cli", "run", "TR-01", "--json", "--runs-dir", folder / "runs"]
    done = subprocess.run([*map(str, command), *map(str, options)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (answer,) = json.loads(done.stdout)["runs"]
    (description,) = (folder / "runs").glob("*/run.json")
    return answer, json.loads(description.read_text(encoding="utf-8"))


def verdict(answer: dict[str, Any]) -> list[str]:
    return [answer[name] for name in ("kafka", "metadata", "backend", "conformance", "promise")]


def test_a_directory_is_run_and_tells_its_release(tmp_path: Path) -> None:
    libs = tmp_path / "kafka" / "libs"
    libs.mkdir(parents=True)
    for jar in jars_of(find_release("3.9.2")).files:
        os.link(jar, libs / jar.name)
    with zipfile.ZipFile(libs / "of-my-own.jar", "w") as own:
        own.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    answer, about = run(tmp_path, "--kafka-home", libs.parent, "--backend", "process")

    assert verdict(answer) == ["3.9.2", "kraft", "process", "CONFORMS", "KEPT"]
    assert about["digests"]["jars"] == jar_set(libs).digest
    assert about["digests"]["jars"] != jars_of(find_release("3.9.2")).digest


