"""``schedule-help``: how is a schedule written?"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import replace
from enum import Enum
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from conformance.catalogue.examination import Examination
from conformance.commands.choosing import line_that_runs, release_options
from conformance.commands.parser import add_json, refuse
from conformance.record.directory import slug
from conformance.registry import name_alone, select
from conformance.schedules.schedule_file import schedule_text
from fault_injection.releases import UsageError
from oracle.composite_steps import COMPOSITES
from oracle.schedule_format import KINDS, SINGLE_FIELD, plain
from oracle.steps.step import STEP_CLASSES, written_name

if TYPE_CHECKING:
    import argparse

    from conformance.commands.parser import Parser
    from conformance.console import Console

NAMED = 3
DESCRIPTION = """Documents the steps of a schedule file, each with its fields; or prints one to start from."""
EPILOG = """examples:
  kafka-conformance schedule-help                                 every step
  kafka-conformance schedule-help --example TR-01 > my.yaml       a scenario of the catalogue, to be changed
"""
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

Ask the model first: `kafka-conformance predict --schedule FILE --kafka V`. To start from:
`kafka-conformance schedule-help --example TR-01 > my.yaml` has one of the catalogue.
Every step ends at rest: all replication that no hold blocks has run. The steps:
"""


def add_schedule_help(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument(
        "--example", metavar="ENTRY", help="print the schedule of a scenario of the catalogue, as a file to start from"
    )
    add_json(parser)
    parser.set_defaults(command=_schedule_help)


def _schedule_help(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.example is None:
        return schedule_help(console)
    if parsed.json:
        refuse(parsed, ["--example"], "is a YAML file: explain ENTRY --json has its schedule in JSON.")
    console.answer(example(parsed.example).rstrip("\n"), as_it_is=True)
    return 0


def example(name: str) -> str:
    """Return the schedule of a scenario as the text of a user's own file.

    Raises:
        UnknownEntryError: the catalogue has none of that name.
        UsageError: it is several, or an examination, which has no schedule.
    """
    entry, *others = select((name,))
    if others:
        named = [name_alone(one) for one in (entry, *others)]
        more = " and others" if len(named) > NAMED else ""
        raise UsageError(f"--example {name}: that is several: {', '.join(named[:NAMED])}{more}; name one.")
    if isinstance(entry, Examination):
        raise UsageError(f"--example {name}: that is an examination, which has no schedule.")
    rules = line_that_runs(entry)
    options = "" if rules is None else f" {release_options(rules)}"
    asks = "\n\nWhat the scenario asks brokers besides is no part of a file." if entry.questions else ""
    comment = f"""{entry.name} of the catalogue, to be changed: kafka-conformance schedule-help has every step.

  kafka-conformance predict --schedule FILE{options}
  kafka-conformance run --schedule FILE{options}{asks}"""
    return schedule_text(replace(entry.schedule, id=f"my/{slug(entry.name)}"), comment)


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
