"""How is a schedule written for a person to read? YAML, one line per step, as ``schedule_file`` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from oracle.schedule_format import encode

if TYPE_CHECKING:
    from oracle.schedule import Schedule

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
