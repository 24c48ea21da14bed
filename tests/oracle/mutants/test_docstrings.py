"""Does every rule say which mutant proves it? By a line ``Mutant: <name>``, of a mutant of its own.

Rules of transactions have none: each is taken away whole (tests/oracle/transactions/test_mutants.py).

The line stands in the docstring below the rule, which speaks for the rules that follow without one, too; or, where the
rules of a module answer one question, in the module's.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle import rules
from tests.oracle.mutants.test_mutants import MUTANTS

if TYPE_CHECKING:
    from collections.abc import Iterator


def told(stem: str, source: str) -> Iterator[tuple[str, str | None]]:
    """Yield each rule of a module that has a docstring, and the module itself if it names a mutant.

    A rule before all of them comes with None: no docstring speaks for it.
    """
    tree = ast.parse(source)
    head = ast.get_docstring(tree) or ""
    is_told = "\nMutant: " in head
    if is_told:
        yield stem, head
    for statement, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        if not isinstance(statement, ast.Assign) or not any(map(makes_rule, ast.walk(statement))):
            continue
        name = f"{stem}.{ast.unparse(statement.targets[0])}"
        match following:
            case ast.Expr(value=ast.Constant(value=str(text))) if ast.unparse(statement.value).startswith("Rule("):
                is_told = True
                yield name, text
            case _ if not is_told:
                yield name, None


def makes_rule(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "Rule"


TOLD = {
    rule: text
    for path in sorted(Path(rules.__file__ or "").parent.glob("*.py"))
    if path.stem != "transactions"
    for rule, text in told(path.stem, path.read_text(encoding="utf-8"))
}


def test_every_rule_has_a_mutant() -> None:
    assert {mutant.rule for mutant in MUTANTS} == set(TOLD)


@pytest.mark.parametrize("rule", sorted(TOLD))
def test_a_rule_names_the_mutant_that_proves_it(rule: str) -> None:
    lines = (TOLD[rule] or "").splitlines()
    named = [line.removeprefix("Mutant: ").split()[0].rstrip(",.") for line in lines if line[:8] == "Mutant: "]
    assert named
    assert set(named) <= {mutant.name for mutant in MUTANTS if mutant.rule == rule}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('A = Rule("a")\n"""Mutant: x."""\nB = Rule("b")', {"m.A": "Mutant: x."}),
        ('A = Rule("a")\nB = Shape(rule=Rule("b"))\n', {"m.A": None, "m.B": None}),
        ('"""Why?\n\nMutant: x.\n"""\nA = Rule("a")\n', {"m": "Why?\n\nMutant: x."}),
    ],
)
def test_a_rule_that_nothing_tells_is_found(source: str, found: dict[str, str | None]) -> None:
    assert dict(told("m", source)) == found
