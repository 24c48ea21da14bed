"""Doctorings by rule: every field path of every file of a run, changed and removed, at first, middle and last place.

A file is rows: the lines of an NDJSON file, the rows of a table, the one value of a JSON file. In a path ``[]`` is any
place of a list and ``*`` any key of a map.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from conformance.record.prediction import freeze
from conformance.record.run import Run, read_run, update_run
from conformance.record.timeline import TimelineMark
from conformance.record.wire import TracedFrame, TraceEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.record.directory import RunDirectory

JSON_FILES = ("run.json", "schedule.json", "prediction/prediction.json", "prediction/questions.json")
LINE_FILES = ("timeline.ndjson", "observations.ndjson", "answers.ndjson", "wire.ndjson")
TABLES = ("ledger/attempts", "ledger/outcomes", "topic/part", "replica_logs/replica_logs")
MAPS = ("settings.imposed", "settings.user", "evidence")
"""Fields whose keys are names of somebody else's, each of which is one place of the same path."""
CHANGED = "changed"
"""The way of a doctoring that gives a field another value."""
LARGE = 10**12
"""Numbers from here on are times in nanoseconds, or ids of records."""
STEP = 10**10
"""What is added to one: ten seconds."""
Rows = list[Any]
Place = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Doctoring:
    """One change of one file.

    Attributes:
        path: of the field; of a change of whole lines what is done to them.
        way: changed, removed, or what is done to lines.
        where: first, middle or last.
    """

    file: str
    path: str
    way: str
    where: str
    change: Callable[[Rows], Rows]

    @property
    def text(self) -> str:
        """Return the same in words."""
        return f"{self.file}: {self.path} {self.way} ({self.where})"


def files_of(run: RunDirectory) -> list[str]:
    """Return the files that a run has."""
    plain = [name for name in (*JSON_FILES, *LINE_FILES) if run.has(name)]
    return plain + [name for name in TABLES if _parts(run.path, name)]


def read_rows(run: RunDirectory, file: str) -> Rows:
    """Return a file's rows."""
    if file in TABLES:
        return [row for path in _parts(run.path, file) for row in pq.read_table(path, partitioning=None).to_pylist()]
    text = (run.path / file).read_text(encoding="utf-8")
    return [msgspec.json.decode(line) for line in ([text] if file in JSON_FILES else text.splitlines())]


def write_rows(run: RunDirectory, file: str, rows: Rows) -> None:
    """Write a file anew; a table as one file, with nulls for cells that were removed."""
    if file in JSON_FILES:
        (run.path / file).write_text(json.dumps(rows[0], indent=1), encoding="utf-8")
    elif file in LINE_FILES:
        (run.path / file).write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    else:
        paths = _parts(run.path, file)
        schema = pa.schema([column.with_nullable(True) for column in pq.read_schema(paths[0])])
        for path in (*paths, *paths[0].parent.glob(".*.crc")):
            path.unlink()
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), paths[0])


def freeze_as_before(run: RunDirectory) -> None:
    """Renew the hash of a prediction that was changed, and leave when it was frozen as it was."""
    before = read_run(run).prediction
    freeze(run)
    after = read_run(run).prediction
    if before is not None and after is not None:
        update_run(run, prediction=replace(before, sha256=after.sha256))


def _parts(base: Path, table: str) -> list[Path]:
    return sorted(base.glob(f"{table}*.parquet"))


def doctorings(file: str, rows: Rows) -> Iterator[Doctoring]:
    """Yield every doctoring of a file."""
    for path, places in sorted(_places(rows).items()):
        for where, place in _spread(places).items():
            value = _at(rows, place)
            if not isinstance(value, dict):
                yield Doctoring(file, path, CHANGED, where, lambda rows, place=place: _set(rows, place, _changed))
            yield Doctoring(file, path, "removed", where, lambda rows, place=place: _set(rows, place, None))
    if file in JSON_FILES:
        return
    for where, at in _spread([(index,) for index in range(len(rows))]).items():
        (i,) = at
        for way, change in _LINES.items():
            yield Doctoring(file, f"a line {way}", "", where, lambda rows, i=i, change=change: change(rows, i))


def _swapped(rows: Rows, i: int) -> Rows:
    return [*rows[: i - 1], *rows[i - 1 : i + 1][::-1], *rows[i + 1 :]]


_LINES: dict[str, Callable[[Rows, int], Rows]] = {
    "removed": lambda rows, i: [*rows[:i], *rows[i + 1 :]],
    "doubled": lambda rows, i: [*rows[: i + 1], *rows[i:]],
    "swapped": lambda rows, i: _swapped(rows, max(i, 1)),
    "and all after it cut off": lambda rows, i: rows[:i],
}


def _places(rows: Rows) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {}

    def walk(value: Any, path: str, place: Place) -> None:  # noqa: ANN401 - a JSON value
        if len(place) > 1:
            found.setdefault(path, []).append(place)
        if isinstance(value, dict):
            for key, inner in value.items():
                name = "*" if key.isdigit() or path in MAPS else key
                walk(inner, f"{path}.{name}".lstrip("."), (*place, key))
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                walk(inner, f"{path}[]", (*place, index))

    for index, row in enumerate(rows):
        walk(row, "", (index,))
    return found


def _spread(places: list[Any]) -> dict[str, Any]:
    """Return the first, the middle and the last of places, each once."""
    picked = {"first": 0, "middle": len(places) // 2, "last": len(places) - 1}
    once: dict[int, str] = {}
    for where, index in picked.items():
        once.setdefault(index, where)
    return {where: places[index] for index, where in once.items() if places}


_FORMS: dict[str, Any] = {"run.json": Run, "timeline.ndjson": TimelineMark, "wire.ndjson": TracedFrame | TraceEnd}


def says_the_same(one: Doctoring, rows: Rows) -> bool:
    """Return whether the typed rows are the same with a doctoring: it changes what nobody reads, or removes nothing."""
    form, after = _FORMS.get(one.file, Any), one.change(rows)
    pairs = ((a, b) for a, b in zip(rows, after, strict=False) if a is not b)
    try:
        return len(rows) == len(after) and all(_typed(a, form) == _typed(b, form) for a, b in pairs)
    except ValueError:
        return False


def _typed(row: Any, form: Any) -> Any:  # noqa: ANN401 - a JSON value
    form = (TraceEnd if "end" in row else TracedFrame) if form == TracedFrame | TraceEnd else form
    return msgspec.convert(row, form)


def _at(rows: Rows, place: Place) -> Any:  # noqa: ANN401 - a JSON value
    value: Any = rows
    for key in place:
        value = value[key]
    return value


def _set(rows: Rows, place: Place, change: Callable[[Any], Any] | None) -> Rows:
    copy = [*rows[: place[0]], json.loads(json.dumps(rows[place[0]])), *rows[place[0] + 1 :]]
    parent = _at(copy, place[:-1])
    if change is None:
        del parent[place[-1]]
    else:
        parent[place[-1]] = change(parent[place[-1]])
    return copy


def _changed(value: Any) -> Any:  # noqa: ANN401 - a JSON value
    match value:
        case bool():
            return not value
        case int():
            return value + (STEP if value >= LARGE else 1)
        case float():
            return value + 1.0
        case str():
            return value + "x"
        case list():
            return value[:-1] if value else [1]
        case _:
            return 1
