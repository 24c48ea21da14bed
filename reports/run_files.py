"""How is one file of a run directory read? Missing is allowed, broken is not.

A missing file yields an empty value: a run may have ended early. A file that is there and cannot be
read raises ``BrokenRunDirectory`` naming it. Control characters in any text become U+FFFD, so that no
name found in a run can break the HTML, the SVG or the XML.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ROWS_MAX = 20_000
"""Parquet folders with more rows than this are counted, never loaded."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class BrokenRunDirectory(ValueError):  # noqa: N818 - named after what is broken
    """A file of the run directory is there and cannot be read."""


def read_object(path: Path) -> dict[str, Any]:
    """Return a JSON object, or an empty one if there is no such file.

    Raises:
        BrokenRunDirectory: the file is not a JSON object.
    """
    value = _read_json(path)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BrokenRunDirectory(f"{path.name} is not a JSON object")
    return value


def read_array(path: Path) -> list[Any]:
    """Return a JSON array, or an empty one if there is no such file.

    Raises:
        BrokenRunDirectory: the file is not a JSON array.
    """
    value = _read_json(path)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BrokenRunDirectory(f"{path.name} is not a JSON array")
    return value


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of an NDJSON file; a last line cut short by a crash is left out.

    Raises:
        BrokenRunDirectory: any other line is not a JSON object.
    """
    if not path.is_file():
        return []
    lines = [line for line in _text(path).splitlines() if line.strip()]
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                break
            raise BrokenRunDirectory(f"{path.name}, line {number}: {error}") from error
        if not isinstance(row, dict):
            raise BrokenRunDirectory(f"{path.name}, line {number} is not a JSON object")
        rows.append(printable(row))
    return rows


def count_rows(folder: Path, pattern: str = "*.parquet") -> int:
    """Return how many rows the folder's Parquet files hold."""
    return sum(_metadata_rows(path) for path in sorted(folder.glob(pattern)))


def read_rows(folder: Path, columns: Sequence[str], pattern: str = "*.parquet") -> list[dict[str, Any]]:
    """Return the rows of the folder's Parquet files, or none if there are more than ``ROWS_MAX``.

    Columns that a file does not have are None in its rows.

    Raises:
        BrokenRunDirectory: a file is not Parquet.
    """
    if count_rows(folder, pattern) > ROWS_MAX:
        return []
    rows: list[dict[str, Any]] = []
    for path in sorted(folder.glob(pattern)):
        rows += [{column: printable(row.get(column)) for column in columns} for row in _parquet_rows(path)]
    return rows


def whole(value: object) -> int | None:
    """Return a JSON number as int, or None for null.

    Raises:
        BrokenRunDirectory: it is neither.
    """
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value)
    raise BrokenRunDirectory(f"{value!r} stands where a number belongs")


def printable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value with every control character replaced by U+FFFD."""
    match value:
        case str():
            return _UNPRINTABLE.sub("\ufffd", value)
        case dict():
            return {str(printable(key)): printable(item) for key, item in value.items()}
        case list():
            return [printable(item) for item in value]
        case _:
            return value


def _read_json(path: Path) -> Any:  # noqa: ANN401 - any JSON value
    if not path.is_file():
        return None
    try:
        return printable(json.loads(_text(path)))
    except ValueError as error:
        raise BrokenRunDirectory(f"{path.name}: {error}") from error


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _metadata_rows(path: Path) -> int:
    import pyarrow as pa  # noqa: PLC0415 - a report needs it, and the commands that need no run do not
    import pyarrow.parquet as pq  # noqa: PLC0415 - likewise

    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError) as error:
        raise BrokenRunDirectory(f"{path.parent.name}/{path.name}: {error}") from error


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa  # noqa: PLC0415 - likewise
    import pyarrow.parquet as pq  # noqa: PLC0415 - likewise

    try:
        rows: list[dict[str, Any]] = pq.ParquetFile(path).read().to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise BrokenRunDirectory(f"{path.parent.name}/{path.name}: {error}") from error
    return rows
