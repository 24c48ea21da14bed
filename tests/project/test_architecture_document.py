"""Does ARCHITECTURE.md name only what there is, and every package that there is?"""

from __future__ import annotations

import importlib
import importlib.util
import re
import tomllib

import pytest

from tests.project.documents import ARCHITECTURE, ROOT, quoted_names

LAYERS = ("oracle", "fault_injection", "conformance", "reports")
DOTTED = re.compile(rf"(?:{'|'.join(LAYERS)})(?:\.\w+)*")
QUOTED = re.compile(r"`([^`]+)`")
BARE = tuple(dict.fromkeys(name for name in quoted_names(ARCHITECTURE) if re.fullmatch(r"[a-z]+(?:_[a-z]+)+", name)))
"""Names of files without their packages; words of the prose have no underscore."""
NAMES = tuple(dict.fromkeys(name for name in quoted_names(ARCHITECTURE) if DOTTED.fullmatch(name)))


def exists(name: str) -> bool:
    """Tell whether a dotted name is a module, or an attribute of one."""
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
