"""Which files does the project consist of? Those that git tracks, or every file of a checkout without git."""

from __future__ import annotations

import ast
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("oracle", "fault_injection", "conformance", "reports")
NOT_TEXT = {".png", ".jpg", ".parquet", ".jar", ".pdf", ".gz", ".xz", ".zst"}


@cache
def files() -> tuple[Path, ...]:
    """Return every file of the project that is there, relative to its root."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        paths = [Path(name) for name in listed.stdout.split("\0") if name]
    else:
        paths = [path.relative_to(ROOT) for top in (*PACKAGES, "tests") for path in (ROOT / top).rglob("*.*")]
    return tuple(path for path in paths if (ROOT / path).is_file() and "__pycache__" not in path.parts)


def texts() -> list[tuple[str, str]]:
    """Return the name and content of every text file."""
    return [(path.as_posix(), (ROOT / path).read_text(encoding="utf-8")) for path in files() if _is_text(path)]


def _is_text(path: Path) -> bool:
    return path.suffix not in NOT_TEXT


def python_files() -> list[Path]:
    """Return every Python file."""
    return [path for path in files() if path.suffix == ".py"]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the project and how many lines it has."""

    where: str
    lines: int


def functions(path: Path) -> list[Function]:
    """Return the functions and methods of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return [
        Function(f"{path.as_posix()}:{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def module_name(path: Path) -> str:
    """Return the dotted name under which a file of a package is imported."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


@cache
def importers() -> dict[str, set[str]]:
    """Return which modules of the packages import each of them, for types alone too."""
    ours = [path for path in python_files() if path.parts[0] in PACKAGES]
    by_imported: dict[str, set[str]] = {module_name(path): set() for path in ours}
    for path in ours:
        for name in _imported(path) & by_imported.keys():
            by_imported[name].add(module_name(path))
    return by_imported


def _imported(path: Path) -> set[str]:
    """Return every dotted name that a file imports: of ``from a import b`` both ``a`` and ``a.b``."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return found
