"""Does oracle/README.md name only modules, functions and values that the oracle has?"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from tests.project.documents import ROOT, quoted_names

if TYPE_CHECKING:
    from collections.abc import Iterator

ORACLE = ROOT / "oracle"
SOURCES = tuple(ORACLE.rglob("*.py"))
MODULES = {path.stem for path in SOURCES} | {path.parent.name for path in SOURCES}
NAME = re.compile(r"[A-Za-z_]\w*(?:[./]\w+)*/?")
ELSEWHERE = re.compile(r"replica\.lag\.time\.max\.ms|test_\w+|REWRITE_\w+")
"""A setting of Kafka, tests, and what they read from the environment."""
NAMES = tuple(
    dict.fromkeys(
        name for name in quoted_names(ORACLE / "README.md") if NAME.fullmatch(name) and not ELSEWHERE.fullmatch(name)
    )
)


def defined() -> Iterator[str]:
    """Yield every name that the oracle's sources define, and every value of its enumerations."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                    yield name
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    yield name
                    if isinstance(value, ast.Constant):
                        yield str(value.value)


DEFINED = {*defined()}


def is_there(name: str) -> bool:
    """Return whether a name leads through modules to a module, or to what one defines."""
    if (ROOT / name).exists() or (ORACLE / name).exists():
        return True
    *through, last = re.split(r"[./]", name)
    return last in MODULES | DEFINED and all(part in MODULES | DEFINED for part in through)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_page_names_exists(name: str) -> None:
    assert is_there(name)


@pytest.mark.parametrize("name", ["rules.nowhere", "nowhere.append", "nothing_of_ours"])
def test_a_name_that_leads_nowhere_is_noticed(name: str) -> None:
    assert not is_there(name)
