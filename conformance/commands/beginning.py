"""``new-scenario``: a scenario to start from, in a file that is new."""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.parser import add_json, check_writable
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from conformance.commands.parser import Parser
    from conformance.console import Console

DESCRIPTION = """Writes a scenario that runs as it is, to be changed: a frame is held, records are sent, a broker is
killed, and comments say what each step does. In Python it is written as the catalogue is, and one function makes
a scenario for each of several settings; in YAML it is one schedule. No file is overwritten."""
EPILOG = """examples:
  kafka-conformance new-scenario slow-follower              ./slow_follower.py
  kafka-conformance new-scenario slow-follower --yaml my    my/slow-follower.yaml

  then: predict --schedule FILE says what must happen, run --schedule FILE runs it, schedule-help has every step,
  and schedule-help --example TR-01 prints a scenario of the catalogue as such a file
"""
TEMPLATES = "conformance.schedules"
TEMPLATE = "starting_scenario"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
NAME_LENGTH_MAX = 60


def add_new_scenario(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("name", metavar="NAME", help="lower-case words with hyphens, such as slow-follower")
    parser.add_argument(
        "directory", nargs="?", type=Path, default=Path(), metavar="DIR", help="where the file goes (default: here)"
    )
    parser.add_argument("--yaml", action="store_true", help="a schedule in YAML instead of Python")
    add_json(parser)
    parser.set_defaults(command=lambda console, a: new_scenario(console, a.name, a.directory, in_yaml=a.yaml))


def new_scenario(console: Console, name: str, directory: Path, *, in_yaml: bool = False) -> int:
    """Write a scenario to start from, and say what to run next.

    Raises:
        UsageError: a name that cannot be, a file that is there, or nothing can be written to the directory.
    """
    if not NAME.fullmatch(name) or len(name) > NAME_LENGTH_MAX:
        raise UsageError(
            f"{name!r} cannot be a scenario's name: give lower-case words with hyphens between them, such as "
            f"slow-follower, at most {NAME_LENGTH_MAX} characters; a directory and --yaml are said apart"
        )
    file = f"{name}.yaml" if in_yaml else f"{name.replace('-', '_')}.py"
    check_writable(directory)
    _write(path := directory / file, starting_text(name, file))
    commands = _next(path)
    if console.as_json:
        console.answer_json({"file": str(path), "next": list(commands)})
        return 0
    width = max(map(len, commands))
    told = "\n".join(f"  {command:{width}}  # {what}" for command, what in commands.items())
    console.answer(f"{path}: a scenario that runs as it is, to be changed\n\n{told}", as_it_is=True)
    return 0


def starting_text(name: str, file: str) -> str:
    """Return the template under a name, as the content of a file; its ending says which of the two."""
    template = f"{TEMPLATE}{Path(file).suffix}"
    text = files(TEMPLATES).joinpath(template).read_text(encoding="utf-8")
    return text.replace(template, file).replace(TEMPLATE.replace("_", "-"), name)


def _write(path: Path, text: str) -> None:
    """Write a file that is new; leave nothing of it if it cannot be written whole."""
    try:
        file = path.open("x", encoding="utf-8")
    except FileExistsError as error:
        raise UsageError(f"{path} is there already, and is left as it is: give another name or directory") from error
    try:
        with file:
            file.write(text)
    except OSError as error:
        path.unlink()
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _next(path: Path) -> dict[str, str]:
    """Return what to run next, each command with what it does."""
    file = shlex.quote(str(path))
    return {
        f"kafka-conformance predict --schedule {file}": "what must happen; needs no broker",
        f"kafka-conformance run --schedule {file}": "the same on real brokers, and a report",
        f"pytest {file} --kafka-version 4.4.0": "as a test",
        "kafka-conformance schedule-help": "every step",
    }
