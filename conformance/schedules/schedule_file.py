"""How does a user's YAML schedule become a scenario? Read, decoded, and refused with a line number.

Every error names the file, the line, the step (counted from 1) and the field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from conformance.catalogue.scenario import Scenario
from oracle.composite_steps import written_at
from oracle.schedule import check_structure
from oracle.schedule_format import decode, encode
from oracle.steps.step import ScheduleError

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.schedule import Schedule


UNNAMED = '"<unicode string>"'
"""What the YAML parser calls a text whose file it does not know."""


class ScheduleFileError(Exception):
    """A schedule file that cannot be used; the message says where and why."""


def read_schedule(path: Path) -> Scenario:
    """Read a YAML schedule as a scenario named after its id.

    Raises:
        ScheduleFileError: if it cannot be read or understood.
    """
    document, root = read_yaml(path)
    try:
        schedule = decode(document)
        check_structure(schedule)
    except ScheduleError as error:
        raise ScheduleFileError(located(path, root, error)) from error
    return Scenario(name=schedule.id, schedule=schedule, explanation=f"from {path.name}")


def read_yaml(path: Path) -> tuple[Any, yaml.Node | None]:
    """Read a YAML file: what it holds, and its nodes, which know their lines.

    Raises:
        ScheduleFileError: it cannot be read, is no YAML, or has a key twice in one mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = yaml.safe_load(text)
        root = yaml.compose(text)
    except OSError as error:
        raise ScheduleFileError(f"{path}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        what = " ".join(str(error).split()).replace(UNNAMED, f'"{path.name}"')
        raise ScheduleFileError(f"{path}: not valid YAML: {what}") from error
    if (twice := _key_that_stands_twice(root)) is not None:
        raise ScheduleFileError(f"{path}:{twice}")
    return document, root


def _key_that_stands_twice(root: yaml.Node | None) -> str | None:
    """Find a key that a mapping has twice, of which YAML would take the last, as the line and what is wrong there."""
    coming, seen = [] if root is None else [root], set[int]()
    while coming:
        node = coming.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            first: dict[str, int] = {}
            for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
                line = key.start_mark.line + 1
                if key.value in first:
                    return f"{line}: {key.value!r} stands twice in one mapping; the first is in line {first[key.value]}"
                first[key.value] = line
            coming += (value for _, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            coming += node.value
    return None


def locate(path: Path, error: ScheduleError) -> str:
    """Return an error about a schedule that was read from ``path`` with its place in the file."""
    return located(path, yaml.compose(path.read_text(encoding="utf-8")), error)


def located(path: Path, root: yaml.Node | None, error: ScheduleError) -> str:
    """Return a schedule error in words: file, line, step, field, what is wrong."""
    at = _place(root, error)
    return error_words(f"{path}:{_line(root, error, at) + 1}", at, error)


def error_words(place: str, step: int | None, error: ScheduleError) -> str:
    """Return a schedule error in words: its place, the step as it is written there, field, what is wrong."""
    at = "" if step is None else f" step {step + 1}:"
    field = "" if error.field is None else f" field {error.field!r}:"
    return f"{place}:{at}{field} {error}"


def _place(root: yaml.Node | None, error: ScheduleError) -> int | None:
    """Find the place in the file of the step that an error is about."""
    steps = value_at(root, "steps")
    if error.step is None or not isinstance(steps, yaml.SequenceNode):
        return error.step
    return written_at(yaml.safe_load(yaml.serialize(steps)), error.step)


def _line(root: yaml.Node | None, error: ScheduleError, place: int | None) -> int:
    """Find the line of the field, else of the step, else of the document."""
    node = root
    if place is not None:
        steps = value_at(root, "steps") or value_at(root, "transactions")
        if isinstance(steps, yaml.SequenceNode) and place < len(steps.value):
            node = steps.value[place]
    found = key_line(node, error.field) if error.field is not None else None
    if found is not None:
        return found
    return node.start_mark.line if node is not None else 0


def value_at(node: yaml.Node | None, key: str) -> yaml.Node | None:
    """Find what a mapping has under a key; None if it has none, or is no mapping."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


def key_line(node: yaml.Node | None, key: str) -> int | None:
    """Find the line, from 0, of a key in a mapping or in the mappings directly below it."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    for name, value in pairs:
        if name.value == key:
            return int(name.start_mark.line)
        below = key_line(value, key) if isinstance(value, yaml.MappingNode) else None
        if below is not None:
            return below
    return None


# How is a schedule written for a person to read? YAML, one line per step, as ``schedule_file`` reads it.


WIDTH = 10_000


def schedule_text(schedule: Schedule, comment: str = "") -> str:
    """Return a schedule as YAML text, with a comment of any number of lines above it."""
    document = encode(schedule)
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += [f"{name}: {_flow(document[name])}" for name in document if name != "steps"]
    lines += ["steps:", *(f"  - {_step(step)}" for step in document["steps"])]
    return "\n".join(lines) + "\n"


def _step(step: dict[str, Any]) -> str:
    ((word, fields),) = step.items()
    return f"{word}: {_flow(fields)}"


def _flow(value: Any) -> str:  # noqa: ANN401 - a JSON value
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=WIDTH, allow_unicode=True)
    return text.removesuffix("...\n").strip()
