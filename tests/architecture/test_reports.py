"""Do reports take all they show from the files of runs, and of the model and the tester its words alone?"""

from __future__ import annotations

import ast

import pytest

from tests.architecture.sources import ROOT, python_files

ALLOWED = ("reports", "conformance.record", "conformance.layout", "oracle.vocabulary")
OURS = ("reports", "conformance", "oracle", "fault_injection")


def foreign_imports(source: str) -> list[str]:
    """Return the modules of ours that reports have no business with; also those that only a type needs."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            found += [node.module or ""]
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names]
    ours = [name for name in found if name.partition(".")[0] in OURS]
    return [name for name in ours if not any(name == one or name.startswith(f"{one}.") for one in ALLOWED)]


def test_reports_import_the_files_of_runs_and_the_words_of_the_model_alone() -> None:
    modules = [path for path in python_files() if path.parts[0] == "reports"]
    assert modules
    foreign = {path.as_posix(): foreign_imports((ROOT / path).read_text(encoding="utf-8")) for path in modules}
    assert {path: names for path, names in foreign.items() if names} == {}


SIDES = ("predicted", "measured")


def comparisons_of_sides(source: str) -> list[str]:
    """Return where what was predicted and what was measured stand on two sides of one comparison."""
    compared = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare)]
    found = []
    for node in compared:
        sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
        if all(any(word in side for side in sides) for word in SIDES):
            found.append(ast.unparse(node))
    return found


def test_reports_compare_nothing_predicted_with_what_was_measured() -> None:
    sources = {
        path.as_posix(): (ROOT / path).read_text(encoding="utf-8")
        for path in python_files()
        if path.parts[0] == "reports"
    }
    assert {path: found for path, source in sources.items() if (found := comparisons_of_sides(source))} == {}
    readers = {path for path, source in sources.items() if "PredictedMoment" in source or ".alternatives" in source}
    assert readers == {"reports/load_story.py"}, "what is open in a race is read there; numbers to compare nowhere"


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("differs = row.predicted != row.measured", True),
        ("differs = [one for one in rows if predicted.get(one) == measured[one]]", True),
        ("is_known = row.measured is not None and row.predicted", False),
        ("is_right = row.agrees", False),
    ],
)
def test_a_comparison_of_the_two_sides_is_noticed(line: str, *, is_found: bool) -> None:
    assert bool(comparisons_of_sides(line)) is is_found


@pytest.mark.parametrize(
    "line",
    [
        "from oracle.steps.frames import Hold",
        "import conformance.judgement",
        "from oracle import vocabulary_of_more",
        "if TYPE_CHECKING:\n    from oracle.schedule import Schedule",
        "from conformance.records import run",
    ],
)
def test_another_import_is_refused(line: str) -> None:
    assert foreign_imports(line)
    assert not foreign_imports("from conformance.record.run import Run\nfrom oracle.vocabulary import Acks")
