"""Imports go one way: the contracts of pyproject.toml hold, and they cover what they are about."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGES, ROOT, python_files


def test_every_import_contract_is_kept() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    command = [str(lint), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def test_the_contracts_are_about_every_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]

    assert set(settings["root_packages"]) == set(PACKAGES)
    assert len(settings["contracts"]) >= 8


@pytest.mark.parametrize(
    ("forbidden", "allowed_in"),
    [("pyspark", {"conformance.reconcile"}), ("kazoo", {"conformance.clients", "conformance.probes"})],
)
def test_a_library_is_kept_out_of_every_package_but_those_that_are_for_it(forbidden: str, allowed_in: set[str]) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (kept_out,) = (
        set(one["source_modules"])
        for one in settings["contracts"]
        if forbidden in one.get("forbidden_modules", ()) and "conformance.running" in one["source_modules"]
    )
    packages = {
        ".".join(file.parts[:2]) for file in python_files() if len(file.parts) > 2 and file.parts[0] == "conformance"
    }

    assert packages - kept_out == allowed_in


def test_the_oracle_is_used_without_the_rest() -> None:
    loaded = "import sys, oracle.predict; print(sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True)

    assert not {"fault_injection", "conformance", "reports", "pyspark", "pyarrow", "kafka"} & set(eval(done.stdout))
