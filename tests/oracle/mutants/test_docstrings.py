"""Does every rule module say which mutant proves it? By a line ``Mutant: <name>``, of a mutant of its own."""

from __future__ import annotations

import importlib

import pytest

from tests.oracle.mutants.test_mutants import MODULES, MUTANTS


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_names_the_mutant_that_proves_it(module: str) -> None:
    text = importlib.import_module(f"oracle.rules.{module}").__doc__ or ""
    named = [
        line.removeprefix("Mutant: ").split()[0].rstrip(",.") for line in text.splitlines() if line[:8] == "Mutant: "
    ]
    own = {mutant.name for mutant in MUTANTS if mutant.module == module}
    assert named
    assert set(named) <= own
