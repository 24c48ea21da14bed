"""How long does a command take that starts nothing? Held against a bare interpreter, in processor time, in turns."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

BARE = ("-c", "import argparse")
ROUNDS = 7
ALLOWED = {"--help": 13, "list": 26, "predict TR-01": 26, "guarantees": 26}
"""How many times the processor time of a bare interpreter each command may take."""


def cpu_s(arguments: tuple[str, ...], compiled: Path) -> float:
    """Return the processor seconds of an interpreter, whose modules are compiled as an installation's are."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        env=environment | {"PYTHONPYCACHEPREFIX": str(compiled)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all commands keep what the first that needs a module has compiled."""
    return tmp_path_factory.mktemp("compiled")


@pytest.mark.parametrize("command", ALLOWED)
def test_a_command_imports_what_it_needs(command: str, compiled: Path) -> None:
    arguments = ("-m", "conformance", *command.split())
    cpu_s(arguments, compiled)
    pairs = [(cpu_s(BARE, compiled), cpu_s(arguments, compiled)) for _ in range(ROUNDS)]
    bare, whole = (min(times) for times in zip(*pairs, strict=True))

    assert whole / bare < ALLOWED[command], f"{whole:.3f} s of {bare:.3f} s"


@pytest.mark.parametrize("library", ["kafka", "confluent_kafka", "docker", "pyspark", "jinja2"])
def test_what_asks_the_model_loads_no_client_and_no_page(library: str) -> None:
    asked = f"import sys, conformance.commands.prediction; sys.exit({library!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0
