"""``schedule-help``: how is a schedule written?"""

from __future__ import annotations

import dataclasses
import inspect
from enum import Enum
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from conformance.commands.parser import add_json
from oracle.composite_steps import COMPOSITES
from oracle.schedule_format import KINDS, SINGLE_FIELD, plain
from oracle.steps.step import STEP_CLASSES, written_name

if TYPE_CHECKING:
    from conformance.commands.parser import Parser
    from conformance.console import Console

HEAD = """A schedule is a YAML file:

  id: my/first-schedule            # a path-like name
  requirement: One sentence that a reviewer could dispute.
  sources: [KIP-101]               # optional
  replicas: [1, 2]                 # the first one leads
  settings: {min.insync.replicas: 1, unclean.leader.election.enable: true}
                                   # and message.format.version: "0.10.2", on 0.10 to 2.8: records without epochs
  timing: session                  # who removes a silent replica from the ISR: the controller (session), or the
                                   # leader (lag: replica.lag.time.max.ms is 3 s and passes at await_lag; a broker's
                                   # session is 60 s, so nobody notices a kill or a pause, and who was killed cannot
                                   # start again; a follower may be silent for 2.5 s before await_lag)
  checkpointing: prompt            # or never: the high watermark reaches no disk while a broker runs
  fetch_wait_max_ms: 100           # how long leaders park a follower's empty fetch
  fetch_sessions: true             # as brokers have them from 1.1 on (KIP-227): an idle partition is in no fetch, and
                                   # holds know its offset all the same; false: every fetch lists every partition
  steps: [...]

Ask the model first: `kafka-conformance predict --schedule FILE --kafka V`. To start from: examples/ of the project.
Every step ends at rest: all replication that no hold blocks has run. The steps:
"""


def add_schedule_help(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe("Documents the steps of a schedule file, each with its fields.")
    add_json(parser)
    parser.set_defaults(command=lambda console, _: schedule_help(console))


def schedule_help(console: Console) -> int:
    """Print every step with its fields, and the words that stand for several steps."""
    words: dict[str, type[Any]] = {**STEP_CLASSES, **COMPOSITES}
    if console.as_json:
        console.answer_json({"steps": [_step_json(word, step) for word, step in words.items()]})
        return 0
    console.answer(HEAD)
    for word, step in words.items():
        console.answer("\n".join(_step_text(word, step)))
    return 0


def _step_json(word: str, step: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(step)
    fields = [
        {
            "name": written_name(field),
            "type": _type_name(hints[field.name]),
            "required": field.default is dataclasses.MISSING,
            "default": None if field.default is dataclasses.MISSING else plain(field.default),
            "help": field.metadata["help"],
        }
        for field in dataclasses.fields(step)
    ]
    return {"step": word, "help": inspect.cleandoc(step.__doc__ or ""), "fields": fields}


def _step_text(word: str, step: type[Any]) -> list[str]:
    described = _step_json(word, step)
    short = f"   (short: `{word}: …`)" if word in (*SINGLE_FIELD, *COMPOSITES) else ""
    lines = [f"- {word}:{short}", *(f"    {line}".rstrip() for line in described["help"].splitlines() if line)]
    for field in described["fields"]:
        default = "none" if field["default"] is None else field["default"]
        optional = "" if field["required"] else f" [default: {default}]"
        lines.append(f"      {field['name']}: {field['help']}{optional}")
    return lines


def _type_name(hint: Any) -> str:  # noqa: ANN401 - a type annotation
    """Return what a field takes in the words of a schedule file."""
    inner = get_args(hint)
    if NoneType in inner:
        return f"{_type_name(inner[0])} or none"
    if get_origin(hint) is tuple:
        return f"list of {_type_name(inner[0])}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return f"one of {', '.join(str(plain(member)) for member in hint)}"
    return KINDS[getattr(hint, "__supertype__", hint)].removeprefix("a ")
