"""What a release does is decided in ``oracle.rules``: nothing else compares versions, or decides by a list of releases.

Elsewhere a release may be named, as a fact of the catalogue that nothing compares: on which releases an entry exists
(``Where``, ``with_puppets_since``), which message format a topic has. Start-up, settings and jars are of
``fault_injection``, which this test leaves alone.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import ROOT, python_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HELD = ("conformance/", "reports/", "oracle/")
RULES = "oracle/rules/"
EXCEPTIONS = {
    "conformance/catalogue/ladder.py": "the list of lines that the whole catalogue is run on: it decides nothing",
    "conformance/catalogue/where.py": "whether an entry exists is what the entry itself declares",
    "conformance/catalogue/track_record.py": "where a defect shows and where it is repaired: told only",
    "reports/audit_sarif.py": "the version of SARIF, not of Kafka",
}
RELEASE = re.compile(r"(0\.\d+(\.\d+){0,2}|[1-9]\.\d+(\.\d+)?)(/(zookeeper|kraft))?")
DECLARED = {"since", "kraft_since", "before", "message_format_version", "message_format"}
"""Parameters that take a release which is told and never compared."""
DECLARING = {"with_puppets_since"}
"""Functions whose first argument is such a release."""
COMPARING = {
    "parse_version",
    "is_older",
    "since",
    "before",
    "between",
    "within",
    "unless",
    "after_line",
    "Version",
    "Release",
}
"""What of ``oracle.rules.release`` compares versions."""
THRESHOLD = re.compile(r"(^|_)(SINCE|MINIMUM|FIRST_WITH|FIRST_WITHOUT|UNTIL|NEWEST_KNOWN)($|_)")
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
OF_A_RELEASE = re.compile(r"version|release|minor|kafka|numbers", re.IGNORECASE)


def release_facts(source: str) -> list[str]:
    """Return what a source text decides by release, line by line."""
    tree = ast.parse(source)
    excused = {id(node) for node in _declared(tree)} | {id(node) for node in _docstrings(tree)}
    found = {(node.lineno, what) for node in ast.walk(tree) if id(node) not in excused for what in _facts(node)}
    return [f"{line}: {what}" for line, what in sorted(found)]


def _facts(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if RELEASE.fullmatch(text):
            yield f"names {text!r}"
        case ast.Compare() if _compares_versions(node):
            yield "compares with a version tuple"
        case ast.ImportFrom(module="oracle.rules.release"):
            yield from (f"imports {one.name}" for one in node.names if one.name in COMPARING)
        case ast.Attribute(attr="is_at_least"):
            yield "uses is_at_least"
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if THRESHOLD.search(name) and _is_version(value):
            yield f"has the threshold {name}"


def _compares_versions(node: ast.Compare) -> bool:
    """Return whether a tuple of numbers is put in order with something, or is equal to what is called a version."""
    if not any(map(_is_version_tuple, (node.left, *node.comparators))):
        return False
    return any(isinstance(one, ORDER) for one in node.ops) or bool(OF_A_RELEASE.search(ast.unparse(node)))


def _is_version(node: ast.expr) -> bool:
    """Return whether a value may be a version, or its first number: a duration of half a second is none."""
    return _is_version_tuple(node) or (isinstance(node, ast.Constant) and isinstance(node.value, int | str))


def _is_version_tuple(node: ast.expr) -> bool:
    """Return whether a tuple has two to four small numbers, of which the first may be Kafka's."""
    if not isinstance(node, ast.Tuple) or not 2 <= len(node.elts) <= 4:
        return False
    numbers = [one.value for one in node.elts if isinstance(one, ast.Constant) and type(one.value) is int]
    return len(numbers) == len(node.elts) and 0 <= numbers[0] <= 9


def _declared(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the releases that are told as facts of the catalogue."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in DECLARED:
            yield node.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DECLARING and node.args:
            yield node.args[0]


def _docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    yield from (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))


def held() -> list[Path]:
    names = {path: path.as_posix() for path in python_files()}
    return [path for path, name in names.items() if name.startswith(HELD) and not name.startswith(RULES)]


def test_what_a_release_does_is_decided_in_the_rules() -> None:
    facts = {path.as_posix(): release_facts((ROOT / path).read_text(encoding="utf-8")) for path in held()}
    found = {name: told for name, told in facts.items() if told}

    assert {name: told for name, told in found.items() if name not in EXCEPTIONS} == {}
    assert EXCEPTIONS.keys() <= found.keys(), "it names no release any more: take it off the list"


def test_the_rules_themselves_would_be_found() -> None:
    text = (ROOT / RULES / "by_version.py").read_text(encoding="utf-8")

    assert "imports within" in " ".join(release_facts(text))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('is_old = version < "2.1.0"', ["1: names '2.1.0'"]),
        ("is_old = release.numbers >= (3, 8)", ["1: compares with a version tuple"]),
        ("is_old = (3, 3) <= minor(release) < (4, 0)", ["1: compares with a version tuple"]),
        ('is_oldest = release.version.startswith("0.10.2")', ["1: names '0.10.2'"]),
        ('other = ("4.3.1", "kraft")', ["1: names '4.3.1'"]),
        ('OLD = {"2.0.0", "2.0.1"}', ["1: names '2.0.0'", "1: names '2.0.1'"]),
        ('LINE = "3.9/zookeeper"', ["1: names '3.9/zookeeper'"]),
        ("CHECKS_SINCE = (2, 2)", ["1: has the threshold CHECKS_SINCE"]),
        ("_ELR_SINCE = 4", ["1: has the threshold _ELR_SINCE"]),
        ("from oracle.rules.release import parse_version", ["1: imports parse_version"]),
        ("from oracle.rules.release import age, has_mode", []),
        ("is_it = release.numbers[:2] == (3, 4)", ["1: compares with a version tuple"]),
        ("is_it = view.isr == (1, 2)", []),
        ("version = 11 if release.is_at_least(2, 3) else None", ["1: uses is_at_least"]),
        ('where = Where(since="2.1.0", before="2.8.0")', []),
        ('where = with_puppets_since("2.1.0", "before, requests name no epoch")', []),
        ('settings = Settings(message_format_version="0.10.2")', []),
        ('text = f"{seconds:5.1f}"', []),
        ('def f():\n    """2.1"""', []),
        ("versions = request.api_version >= 7", []),
        ("LATE_S = 0.5", []),
        ('HOST = "127.0.0.1"', []),
        ('text = "from 2.2 on a leader waits"', []),
    ],
)
def test_made_up_sources(source: str, found: list[str]) -> None:
    assert release_facts(source) == found
