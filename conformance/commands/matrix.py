"""``matrix``: the catalogue on one release after another, and one table of requirement by release.

What is finished is not run again, so an interrupted matrix goes on where it ended: the folder of a matrix has one
folder a line with its runs and report, and the table over all lines that are there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.ladder import LADDER, Line
from conformance.commands.matrix_line import LineOptions, line_folder, run_line
from conformance.commands.matrix_table import MatrixTable, seeds_of_lines, sessions_of_lines, sessions_text
from conformance.commands.places import check_writable
from conformance.commands.running import backend_for, check_jre_image, new_seed
from conformance.commands.sizes import cached_text, ladder_text
from conformance.registry import select
from conformance.spark_extra import require_spark
from conformance.spark_master import DEFAULT_MASTER, check_master
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.console import Console
    from fault_injection.cluster.backends.choice import BackendName


@dataclass(frozen=True, slots=True)
class MatrixOptions:
    """What to run, and where.

    Attributes:
        lines: releases in metadata modes, in this order; if nothing is run, those that must be there.
        globs: catalogue entries by name; empty means the whole profile.
        repeat: how many rounds of each line, one after the other.
        runs: the matrix's directory.
        fetch_sessions: False has followers list every partition in every fetch of a schedule's run.
        seed: None takes the one of the matrix that is there, or a new one.
        only_table: run nothing, only write the table over what is there.
    """

    lines: tuple[Line, ...]
    runs: Path
    globs: tuple[str, ...] = ()
    profile: str = "full"
    repeat: int = 1
    backend: BackendName = "auto"
    jre_image: str | None = None
    spark_master: str = DEFAULT_MASTER
    seed: int | None = None
    fetch_sessions: bool = True
    require_promise: bool = False
    only_table: bool = False


def run_matrix(console: Console, options: MatrixOptions) -> int:
    """Run what is not finished, write the table and return the exit code.

    Raises:
        UsageError: the directory is of a matrix with another seed, or with other fetch sessions, or something is not
            there.
    """
    require_spark()
    if options.only_table:
        return _conclude(console, options, MatrixTable.over(options.runs, expected=_expected(options)))
    lines = _checked(options)
    for line in options.lines:
        lines.asked_of(line).write(lines.folder(line))
    table = MatrixTable.over(options.runs, seed=lines.seed)
    table.write()
    for line in options.lines:
        _run(console, lines, line, table)
    return _conclude(console, options, table)


def _run(console: Console, lines: LineOptions, line: Line, table: MatrixTable) -> None:
    """Run a line and take it into the table; whatever goes wrong with it leaves the others to be run."""
    folder, asked = lines.folder(line), lines.asked_of(line)
    try:
        run_line(console, lines, line, asked.problems)
    except Exception as error:  # noqa: BLE001 - the others are still to be run, and the sentence says what it was
        what = str(error) if isinstance(error, UsageError) else repr(error)
        asked.problems.append(f"{line.text} could not be run: {what}")
        console.complain(asked.problems[-1])
    finally:
        asked.write(folder)
        table.read(folder)
        table.write()
        console.progress(f"{line.text}: {table.words_of(folder)}")


def _expected(options: MatrixOptions) -> dict[Path, str]:
    """Return the lines that were named, by the folders that they must have."""
    return {_folder_of(options, line): line.text for line in options.lines}


def _folder_of(options: MatrixOptions, line: Line) -> Path:
    if options.backend != "auto":
        return line_folder(options.runs, line, options.backend)
    folders = [line_folder(options.runs, line, "process"), line_folder(options.runs, line, "docker")]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def _checked(options: MatrixOptions) -> LineOptions:
    """Check what can be checked at once before the first line."""
    check_jre_image(options.backend, options.jre_image)
    check_master(options.spark_master)
    entries = select(options.globs, options.profile)
    check_writable(options.runs)
    _check_fetch_sessions(options)
    return LineOptions(
        runs=options.runs,
        entries=entries,
        rounds=options.repeat,
        seed=_seed(options),
        backend=_backend(options),
        jre_image=options.jre_image,
        spark_master=options.spark_master,
        fetch_sessions=options.fetch_sessions,
    )


def _check_fetch_sessions(options: MatrixOptions) -> None:
    """Refuse to put runs with fetch sessions and runs without into one matrix: a cell does not say which it has."""
    if (not options.fetch_sessions) in sessions_of_lines(options.runs):
        there = sessions_text(fetch_sessions=not options.fetch_sessions)
        change = "give" if options.fetch_sessions else "leave out"
        raise UsageError(
            f"{options.runs} holds a matrix with {there}: {change} --no-fetch-sessions, or take another directory."
        )


def _seed(options: MatrixOptions) -> int:
    before = MatrixTable.seed_of(options.runs)
    if before is not None and options.seed not in {None, before}:
        raise UsageError(f"{options.runs} holds a matrix with seed {before}: give that seed, or another directory.")
    if before is not None:
        return before
    if options.seed is not None:
        return options.seed
    if len(seeds_of_lines(options.runs)) > 1:
        raise UsageError(
            f"{options.runs} holds lines of several seeds: give the one to go on with, or another directory."
        )
    return new_seed()


def _backend(options: MatrixOptions) -> BackendName:
    """Settle on one backend for all lines: the cells of a line that is resumed are of the same one."""
    backend, _ = backend_for(options.backend, options.jre_image)
    backend.close()
    return "docker" if backend.name == "docker" else "process"


def _conclude(console: Console, options: MatrixOptions, table: MatrixTable) -> int:
    """Write the table once more, say what came out and return the exit code."""
    table.write()
    if console.as_json:
        console.answer_json(json.loads(table.file.read_text(encoding="utf-8")))
    else:
        for text in table.summary():
            console.answer(text)
    return table.exit_code(require_promise=options.require_promise)


def print_ladder(console: Console) -> int:
    """Print the lines of the ladder, and which jars are there already."""
    if console.as_json:
        console.answer_json([line.text for line in LADDER])
        return 0
    for line in LADDER:
        console.answer(f"{line.text:20} {cached_text(line)}")
    console.answer(ladder_text(LADDER))
    console.answer("--kafka " + ",".join(line.text for line in LADDER))
    return 0
