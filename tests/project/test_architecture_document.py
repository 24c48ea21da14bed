"""Does ARCHITECTURE.md name only what there is, and every package that there is?"""

from __future__ import annotations

import importlib
import importlib.util
import re
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.project.documents import ARCHITECTURE, ROOT, quoted_names

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LAYERS = ("oracle", "fault_injection", "conformance", "reports")
DOTTED = re.compile(rf"(?:{'|'.join(LAYERS)})(?:\.\w+)*")
QUOTED = re.compile(r"`([^`]+)`")
BEFORE, _, TABLES = ARCHITECTURE.read_text(encoding="utf-8").partition("## Where is it decided?")
"""What ARCHITECTURE.md says before the two tables that lead to files, and the tables."""
BARE = tuple(dict.fromkeys(name for name in QUOTED.findall(BEFORE) if re.fullmatch(r"[a-z]+(?:_[a-z]+)+", name)))
"""Names of files without their packages; words of the prose have no underscore."""
FILES = tuple(dict.fromkeys(name for name in QUOTED.findall(TABLES) if re.fullmatch(r"(?:\w+/)+[\w./]*\w", name)))
ROWS = tuple(line for line in TABLES.splitlines() if line.startswith("| ") and "`" in line)
NAMES = tuple(dict.fromkeys(name for name in quoted_names(ARCHITECTURE) if DOTTED.fullmatch(name)))


def exists(name: str) -> bool:
    """Return whether a dotted name is a module, or an attribute of one."""
    if importlib.util.find_spec(name.split(".", maxsplit=1)[0]) is None:
        return False
    module, _, attribute = name.rpartition(".")
    try:
        if importlib.util.find_spec(name) is not None:
            return True
    except ModuleNotFoundError:
        return False
    return bool(module) and hasattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("name", NAMES)
def test_named_modules_exist(name: str) -> None:
    assert exists(name)


@pytest.mark.parametrize("path", FILES)
def test_files_that_are_named_exist(path: str) -> None:
    assert (ROOT / path).exists()


QUESTIONS = (
    *("high watermark advanced", "loss called allowed", "frame does a hold catch", "prediction hashed"),
    *("leftover broker", "lane picture drawn", "flag get parsed", "time of an ISR shrink", "classified as lost"),
    *(
        "the ISR shrunk",
        "one record pass",
        "one held frame pass",
        "`--no-fetch-sessions`",
        "NOT_RUN",
        "Who writes run.json",
    ),
    *("run inconclusive", "exit code", "a fault as a step", "a release, such as 4.5", "a scenario", "a rule"),
    *("a step", "a fault", "a report view", "a command", "an option", "a file of a run"),
)


def test_what_a_stranger_asks_has_a_row() -> None:
    first_cells = " | ".join(row.split("|")[1] for row in ROWS)
    assert [words for words in QUESTIONS if words not in first_cells] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_a_row_names_files_and_what_stands_in_them(row: str) -> None:
    paths = [ROOT / name for name in QUOTED.findall(row) if (ROOT / name).exists()]
    assert paths
    sources = "".join(path.read_text(encoding="utf-8") for named in paths for path in files_of(named))
    for name in re.findall(r"`([a-z]+(?:_[a-z]+)*|[A-Z]+(?:_[A-Z]+)*)`", row):
        assert re.search(rf"\b{name}\b", sources), name


def files_of(path: Path) -> Iterable[Path]:
    return path.rglob("*.py") if path.is_dir() else [path]


@pytest.mark.parametrize("name", BARE)
def test_files_named_without_their_package_exist(name: str) -> None:
    assert any(
        path.stem == name or path.parent.name == name for layer in LAYERS for path in (ROOT / layer).rglob("*.py")
    )


def test_a_module_that_is_not_there_is_noticed() -> None:
    assert exists("oracle.predict")
    assert not exists("oracle.nowhere")
    assert not exists("oracle.nowhere.at_all")


def test_the_parts_of_a_run_directory_are_those_that_are_written() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "conformance").rglob("*.py"))
    table = ARCHITECTURE.read_text(encoding="utf-8").partition("## Run directory")[2].partition("\n## ")[0]
    parts = [
        part for line in table.splitlines() if line.startswith("| `") for part in QUOTED.findall(line.split("|")[1])
    ]
    assert len(parts) >= 10
    for part in parts:
        assert re.search(rf"[\"/]{re.escape(part.rstrip('/'))}[\"/]", sources), part


def test_every_package_is_described() -> None:
    packages = {
        ".".join(folder.relative_to(ROOT).parts)
        for layer in LAYERS
        for init in (ROOT / layer).rglob("__init__.py")
        if (folder := init.parent).name != "templates"
    }
    assert packages <= set(NAMES)


def test_the_contracts_that_it_relies_on_are_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["name"] for contract in project["tool"]["importlinter"]["contracts"]}
    text = " ".join(ARCHITECTURE.read_text(encoding="utf-8").split())
    emphasised = {phrase.rstrip(".") for phrase in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", text)}
    assert contracts <= emphasised


def test_a_row_that_names_what_its_file_does_not_have_is_noticed() -> None:
    with pytest.raises(AssertionError):
        test_a_row_names_files_and_what_stands_in_them(
            "| where? | `oracle/replication/leading.py`: `raise_the_watermark` |"
        )
    with pytest.raises(AssertionError):
        test_a_row_names_files_and_what_stands_in_them("| where? | `oracle/nowhere.py`: `advance_high_watermark` |")
