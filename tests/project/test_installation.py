"""Is every package that is imported declared, and does what needs no run do without Spark and Java?"""

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from conformance.spark_extra import CROSS_CHECK_EXTRA, CROSS_CHECK_MISSING, INSTALL, SPARK_EXTRA

ROOT = Path(__file__).parents[2]
OURS = ("oracle", "fault_injection", "conformance", "reports")
SMALL_SEARCH = "explore --model Kip320 --replicas 2 --log-size 1 --records 1 --epochs 1 --quiet"
WITHOUT_EXTRA = """
import importlib.util, sys
from importlib.machinery import PathFinder
EXTRA = {extra}
class Bare(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in EXTRA else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Bare
from conformance.cli import main
sys.exit(main({arguments}))
"""
"""The command line in a Python that has not got what an extra brings."""


def _project() -> dict[str, object]:
    project: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return project


def _names(requirements: object) -> set[str]:
    assert isinstance(requirements, list)
    return {_normal(re.match(r"[\w.-]+", each)[0]) for each in requirements}  # type: ignore[index]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _imported() -> set[str]:
    """Return the packages that are not ours and not Python's, under the names that are imported."""
    found: set[str] = set()
    for package in OURS:
        for file in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Import):
                    found |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    found.add(str(node.module).partition(".")[0])
    return found - sys.stdlib_module_names - set(OURS)


def test_what_is_imported_at_run_time_is_declared_and_nothing_else() -> None:
    project = _project()
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    declared = _names(project["dependencies"]).union(*(_names(extras[name]) for name in ("spark", "docker")))
    owners = packages_distributions()
    imported = {_normal(owners[name][0]) for name in _imported()}
    assert imported == declared


def test_the_extra_is_what_the_error_speaks_of() -> None:
    extras = _project()["optional-dependencies"]
    assert isinstance(extras, dict)
    assert _names(extras["spark"]) == set(SPARK_EXTRA)
    assert _names(extras["cross-check"]) == {CROSS_CHECK_EXTRA}
    assert "kafka-conformance[cross-check]" in CROSS_CHECK_MISSING


def _without_spark(*arguments: str) -> subprocess.CompletedProcess[str]:
    return _without(set(SPARK_EXTRA), *arguments)


def _without(extra: set[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    program = WITHOUT_EXTRA.format(extra=extra, arguments=list(arguments))
    bare = {name: value for name, value in os.environ.items() if name not in {"PATH", "JAVA_HOME"}}
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=bare, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "command",
    ["list", "explain HW-03", "predict HW-03 --kafka 0.10.2.2", "guarantees", SMALL_SEARCH],
)
def test_what_needs_no_run_needs_neither_spark_nor_java(command: str) -> None:
    done = _without_spark(*command.split())
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("command", ["run HW-03", "matrix --kafka 4.4.0", "judge runs", "report runs", "trace runs"])
def test_what_needs_spark_names_the_one_command_that_adds_it(command: str) -> None:
    done = _without_spark(*command.split())
    assert done.returncode == 2, done.stderr
    assert INSTALL in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cross_check_is_refused_before_the_soak_starts_if_it_cannot_be_made(tmp_path: Path) -> None:
    where = ["--backend", "process", "--runs-dir", str(tmp_path / "soaks")]
    done = _without({CROSS_CHECK_EXTRA}, "soak", "--cross-check", *where)
    assert done.returncode == 2, done.stderr
    assert CROSS_CHECK_MISSING in done.stderr
    assert "starting" not in done.stderr
    assert not any((tmp_path / "soaks").glob("*"))


def _locked(name: str) -> dict[str, str]:
    """Return the packages of a lock file with their versions; each line of it is a package, or a hash of one."""
    text = (ROOT / name).read_text()
    assert "://" not in text, "an index is named by whoever installs"
    entries = re.split(r"\n(?=\S)", text.strip())
    locked = {}
    for entry in entries:
        first, *hashes = (line.removesuffix(" \\").strip() for line in entry.splitlines())
        package, version = first.split(";")[0].strip().split("==")
        assert hashes
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes), entry
        locked[_normal(package)] = version
    return locked


def test_what_is_declared_is_locked_by_hash_run_time_and_development_apart() -> None:
    project = _project()
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    run_time, everything = _locked("requirements.lock"), _locked("requirements-dev.lock")
    of_users = (_names(extras[name]) for name in ("spark", "docker", "cross-check"))
    assert _names(project["dependencies"]).union(*of_users) <= set(run_time)
    assert not _names(extras["dev"]) & set(run_time)
    assert _names(extras["dev"]) <= set(everything)
    assert run_time.items() <= everything.items()


def test_the_tests_are_collected_where_xdist_is_not_installed() -> None:
    program = WITHOUT_EXTRA.partition("from conformance.cli")[0].format(extra={"xdist"})
    asked = ["-q", "--collect-only", "-p", "no:xdist", "-p", "no:cacheprovider", "tests/project/test_installation.py"]
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport pytest; sys.exit(pytest.main({asked}))"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
