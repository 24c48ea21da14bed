"""How fast is the explorer? ``python -m benchmarks.explorer``: one fresh process a search, one line each.

Seconds are wall clock; CPU seconds say what the search itself took on a machine that is busy. Bytes a state are the
growth of the process's peak memory over the search, tables included, divided by its distinct states.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from typing import Any

ROWS = (
    ("Kip101", "3/2/2/1", "WeakIsr"),
    ("Kip279", "3/2/2/1", "WeakIsr"),
    ("Kip320FirstTry", "3/2/2/1", "all"),
    ("Kip320", "3/2/2/1", "all"),
    ("Kip320", "4/1/1/1", "all"),
    ("Kip320", "3/2/2/2", "all"),
    ("AsyncIsr", "4/1/1/2", "all"),
)
HEAD = (
    "model",
    "R/L/N/E",
    "verdict",
    "generated",
    "distinct",
    "depth",
    "s",
    "CPU s",
    "distinct/s",
    "generated/s",
    "bytes",
)
WIDTHS = (8, 9, 9, 8, 5, 6, 6, 10, 11, 5)


def main() -> None:
    """Search every row, or those that the command line names; write a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", help="models to measure (default: all rows)")
    parser.add_argument("--symmetry", action="store_true", help="search each row with symmetry too, and say the factor")
    chosen = parser.parse_args()
    _write(HEAD)
    for model, constants, invariants in ROWS:
        if not chosen.models or model in chosen.models:
            plain = _measure(model, constants, invariants)
            if chosen.symmetry:
                folded = _measure(model, constants, invariants, "--symmetry")
                states, seconds = plain["distinct"] / folded["distinct"], plain["cpu"] / folded["cpu"]
                sys.stdout.write(f"  symmetry: {states:.2f} times fewer states, {seconds:.2f} times faster\n")


def _measure(model: str, constants: str, invariants: str, *options: str) -> dict[str, Any]:
    sizes = zip(("--replicas", "--log-size", "--records", "--epochs"), constants.split("/"), strict=True)
    checked = () if invariants == "all" else ("--invariant", invariants)
    command = [sys.executable, "-m", "conformance.cli", "explore", "--model", model, "--json", "--quiet"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    arguments = [*command, *(word for pair in sizes for word in pair), *checked, *options]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    found["cpu"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    figures = (found["generated"], found["distinct"], found["depth"], f"{found['seconds']:.2f}", f"{found['cpu']:.2f}")
    speeds = (found["distinct_per_s"], found["generated_per_s"], found["bytes_per_state"] or "-")
    _write((model, constants, found["verdict"], *figures, *speeds))
    return found


def _write(cells: tuple[object, ...]) -> None:
    name, *figures = cells
    aligned = (f"{figure!s:>{width}}" for figure, width in zip(figures, WIDTHS, strict=True))
    sys.stdout.write("  ".join((f"{name!s:14}", *aligned)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
