"""Where is everything about one run, and how is one of its files read? Typed, whole, and of a format that is known.

A file is decoded into the frozen dataclass that its module declares; what does not fit it names the file and the place.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

if TYPE_CHECKING:
    from pathlib import Path


FORMAT_VERSION = 2
"""Of what a run is written in."""
FIRST_FORMAT = 1
"""The format before. It has no digests of the evidence in run.json. Its timeline has no typed proof of a fault, tells
of holds as of other faults, and is a little off: time and step of a mark were read apart."""
READABLE = (FIRST_FORMAT, FORMAT_VERSION)
T = TypeVar("T")


class RunDirectoryError(Exception):
    """A directory that is no run, a file of one that cannot be read, or a frozen part that has changed."""


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """One run's directory, and how its files are read and written."""

    path: Path

    @classmethod
    def create(
        cls, runs: Path, name: str, parts: Sequence[str] = ("prediction", "ledger", "replica_logs", "brokers")
    ) -> RunDirectory:
        """Create a new run directory with its parts below ``runs``; a taken name gets a number."""
        for number in range(1, 1000):
            path = runs / (name if number == 1 else f"{name}-{number}")
            if not path.exists():
                for part in parts:
                    (path / part).mkdir(parents=True)
                return cls(path)
        raise RunDirectoryError(f"{runs} holds too many runs named {name}")

    def has(self, name: str) -> bool:
        """Return whether a file exists."""
        return (self.path / name).exists()

    def read(self, name: str, form: type[T]) -> T:
        """Read a JSON file of the run.

        Raises:
            RunDirectoryError: it is missing, no JSON, or not of this form.
        """
        try:
            return msgspec.json.decode((self.path / name).read_bytes(), type=form)
        except (OSError, ValueError, RecursionError) as error:
            raise RunDirectoryError(f"{self.path / name} cannot be read: {error}") from error

    def write(self, name: str, value: object) -> None:
        """Write a JSON file of the run; if the tester ends meanwhile, it is the old one or the new one."""
        write_whole(self.path / name, as_text(value) + "\n")

    def lines(self, name: str, decode: Callable[[bytes], T], *, may_be_cut: bool = False) -> list[T]:
        """Read a file of one JSON value a line; none if it does not exist.

        Args:
            name: of the file.
            decode: takes a line without its end.
            may_be_cut: whether a last line without an end is left out: its writer was killed.

        Raises:
            RunDirectoryError: a line is not what ``decode`` takes, as when its writer was killed; names it.
        """
        path = self.path / name
        decoded: list[T] = []
        try:
            content = path.read_bytes() if path.exists() else b""
            for line in (content[: content.rfind(b"\n") + 1] if may_be_cut else content).splitlines():
                decoded += [decode(line)] if line else []
        except (OSError, ValueError, RecursionError) as error:
            raise RunDirectoryError(f"{path}, line {len(decoded) + 1} cannot be read: {error}") from error
        return decoded


def as_plain(value: object) -> Any:  # noqa: ANN401 - a JSON value
    """Return a value as JSON has it."""
    return msgspec.to_builtins(value, str_keys=True)


_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def cleaned(value: T) -> T:
    """Return a record with every control character in its texts replaced by U+FFFD, for those who show it."""
    if isinstance(value, str) and not isinstance(value, Enum):
        return _UNPRINTABLE.sub("\ufffd", value)  # type: ignore[return-value]
    if isinstance(value, Mapping):
        return {cleaned(key): cleaned(item) for key, item in value.items()}  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return type(value)(map(cleaned, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: cleaned(getattr(value, one.name)) for one in fields(value)})
    return value


def as_text(value: object) -> str:
    """Return a value as the JSON text of a file, indented for people."""
    return json.dumps(as_plain(value), indent=1)


def as_line(value: object) -> str:
    """Return a record as one line of JSON; what may be left out and is None is left out."""
    plain = as_plain(value)
    columns = fields(cast("Any", value))
    told = (one.name for one in columns if plain[one.name] is not None or one.default is not None)
    return json.dumps({name: plain[name] for name in told}) + "\n"


class AppendedLines:
    """A file of one record a line that is written while it goes on; lines that were written survive the tester.

    One that is there is gone on with from its last whole line: what a killed writer had begun after it is no record.
    """

    def __init__(self, path: Path) -> None:
        _cut_to_whole_lines(path)
        self._stream = path.open("a", encoding="utf-8")

    def append(self, record: object) -> None:
        """Write a record, whole; what comes after the end is dropped."""
        if not self._stream.closed:
            self._stream.write(as_line(record))
            self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def _cut_to_whole_lines(path: Path) -> None:
    content = path.read_bytes() if path.exists() else b""
    if (whole := content.rfind(b"\n") + 1) < len(content):
        os.truncate(path, whole)


def write_whole(path: Path, text: str) -> None:
    """Write a file by another name and rename it: it is the old one or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def run_name(kafka: str, metadata: str, scenario: str) -> str:
    """Return a run's directory name: time, release and scenario."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return f"{stamp}-{kafka}-{metadata}-{slug(scenario)}"


def is_run_name(name: str, kafka: str, metadata: str, scenario: str) -> bool:
    """Return whether a run of a scenario is called so: numbered, if two began in one second, or predicted anew."""
    end = re.escape(f"-{kafka}-{metadata}-{slug(scenario)}")
    return re.fullmatch(rf"\d{{8}}T\d{{6}}{end}(-\d+)?(/repredicted-.*)?", name) is not None


def topic_name(scenario: str, run: str) -> str:
    """Return the name of a run's topic: that of its scenario, and when it began."""
    return f"{slug(scenario)}-{run[:15].lower()}"


def slug(text: str) -> str:
    """Return a text as a file or topic name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-").lower()
