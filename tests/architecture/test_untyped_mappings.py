"""How many public signatures pass on a mapping whose values nobody knows? Never more than today, and none in the end.

Counted are annotations of public functions, methods and fields, in every spelling: ``dict[str, Any]``,
``Mapping[str, object]``, nested, or by the name of an alias wherever that is imported.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import ROOT, python_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict", "ChainMap"}
UNKNOWN = {"Any", "object"}
COUNTED = {"conformance": 14, "fault_injection": 11, "oracle": 23, "reports": 0}
"""How many there are in each package; whoever removes one writes the smaller number."""


def module_of(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def is_untyped(annotation: ast.expr | None, aliases: Iterable[str] = ()) -> bool:
    """Return whether an annotation has a mapping to Any or object in it."""
    if annotation is None:
        return False
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return is_untyped(ast.parse(annotation.value, mode="eval").body, aliases)
    return any(
        _is_untyped_mapping(node, aliases) or (isinstance(node, ast.Name) and node.id in aliases)
        for node in ast.walk(annotation)
    )


def _is_untyped_mapping(node: ast.AST, aliases: Iterable[str]) -> bool:
    match node:
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=ast.Tuple(elts=[_, value])):
            return name in MAPPINGS and any(
                isinstance(one, ast.Name) and one.id in {*UNKNOWN, *aliases} for one in ast.walk(value)
            )
    return False


def aliases_of(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the names that a module gives to types."""
    named: dict[str, ast.expr] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.BinOp() as value):
                named[name] = value
            case ast.AnnAssign(
                target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias"), value=ast.expr() as value
            ):
                named[name] = value
    return named


def untyped_aliases(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Return the aliases of untyped mappings that each module defines or imports."""
    defined = {
        module: {name for name, value in aliases_of(tree).items() if is_untyped(value)}
        for module, tree in trees.items()
    }
    known = {module: set(names) for module, names in defined.items()}
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in defined:
                known[module] |= {a.asname or a.name for a in node.names if a.name in defined[node.module]}
    return known


def untyped_in(tree: ast.Module | ast.ClassDef, aliases: set[str]) -> Iterator[tuple[int, str]]:
    """Yield every public signature of a module or class that has an untyped mapping, by line and name."""
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) if not name.startswith("_"):
                yield from untyped_in(node, aliases)
            case ast.FunctionDef(name=name) if name == "__init__" or not name.startswith("_"):
                if any(is_untyped(annotation, aliases) for annotation in _annotations(node)):
                    yield node.lineno, name
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) if not name.startswith("_"):
                if is_untyped(annotation, aliases):
                    yield node.lineno, name


def _annotations(function: ast.FunctionDef) -> list[ast.expr | None]:
    given = function.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [function.returns, *(one.annotation for one in arguments if one is not None)]


def found() -> list[str]:
    """Return every one of them, with its file and line."""
    trees = {
        module_of(path): ast.parse((ROOT / path).read_text(encoding="utf-8"))
        for path in python_files()
        if path.parts[0] in COUNTED
    }
    aliases = untyped_aliases(trees)
    return [
        f"{module}:{line} {name}" for module, tree in trees.items() for line, name in untyped_in(tree, aliases[module])
    ]


def test_no_more_signatures_pass_on_a_mapping_that_nobody_knows() -> None:
    there = found()
    counts = Counter(one.partition(".")[0].partition(":")[0] for one in there)
    assert {package: counts[package] for package in COUNTED} == COUNTED, "\n".join(there)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("def f(a: dict[str, Any]) -> None: ...", 1),
        ("def f() -> 'Mapping[str, object] | None': ...", 1),
        ("def f() -> list[typing.Mapping[str, list[Any]]]: ...", 1),
        ("Json = dict[str, Any]\ndef f(a: Json) -> None: ...", 1),
        ("Json: TypeAlias = Mapping[str, Any]\nclass A:\n    field: Json", 1),
        ("def f(**rest: dict[str, object]) -> None: ...", 1),
        ("def _f(a: dict[str, Any]) -> None: ...\nclass _A:\n    a: dict[str, Any]", 0),
        ("def f(a: dict[str, int], b: list[Any]) -> Mapping[str, tuple[int, ...]]: ...", 0),
    ],
)
def test_every_spelling_is_counted(source: str, count: int) -> None:
    tree = ast.parse(source)
    assert len(list(untyped_in(tree, untyped_aliases({"m": tree})["m"]))) == count
