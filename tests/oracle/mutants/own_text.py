"""What is a mutant of a module that no release's rules are made of? Its own text with one change, compiled anew.

It names the test that fails then, which is called as it is.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import pytest

from oracle.predicting.assumptions import UnmetAssumptionError
from oracle.steps.step import ScheduleError
from tests.oracle.mutants.killers import Golden
from tests.oracle.mutants.mutant import same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType


@dataclass(frozen=True, slots=True)
class TextMutant:
    """A mistake in one module.

    Attributes:
        name: what is wrong, in words.
        module: within ``oracle``.
        right: what stands there, once.
        wrong: what the mutant has in its place.
        killed_by: the test that fails then.
    """

    name: str
    module: str
    right: str
    wrong: str
    killed_by: Callable[[], None]


def every_case(test: Callable[..., None]) -> Callable[[], None]:
    """Return a test with all its parameters, one after the other."""
    (mark,) = [mark for mark in test.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]
    names, values = mark.args
    named = [names] if isinstance(names, str) else list(names)

    def run() -> None:
        for value in values:
            test(**dict(zip(named, [value] if len(named) == 1 else value, strict=True)))

    return run


def golden(name: str) -> Callable[[], None]:
    """Return the test that a scenario predicts what its golden file says."""

    def run() -> None:
        assert Golden(name).passes(same)

    return run


def functions_of(holder: object, module: str) -> Iterator[FunctionType]:
    """Yield the functions of a module and of its classes."""
    for found in vars(holder).values():
        if isinstance(found, FunctionType) and found.__module__ == module:
            yield found
        elif isinstance(found, type) and found.__module__ == module:
            yield from functions_of(found, module)


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of every function in a compiled module, those of its classes included."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes_of(constant)


def put_in_place(module: ModuleType, right: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every function of a module the code that its changed text has: whoever imported one has the mutant."""
    text = inspect.getsource(module)
    assert text.count(right) == 1, right
    changed: dict[str, Any] = {
        code.co_qualname: code
        for code in codes_of(compile(text.replace(right, wrong), str(module.__file__), "exec", dont_inherit=True))
    }
    for function in functions_of(module, module.__name__):
        if function.__qualname__ in changed:
            monkeypatch.setattr(function, "__code__", changed[function.__qualname__])


def passes(test: Callable[[], None]) -> bool:
    try:
        test()
    except (AssertionError, ValueError, ScheduleError, UnmetAssumptionError, pytest.fail.Exception):
        return False
    return True
