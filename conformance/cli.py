"""``kafka-conformance``: the command line. Thin: it parses, calls one command, and returns its exit code.

Exit codes: 0 conforms; 1 deviates; 2 usage; 3 inconclusive; 4 harness error. Precedence 1 > 4 > 3 > 0.
"""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
import traceback
from itertools import islice
from typing import TYPE_CHECKING

try:
    from conformance.commands.groups import GROUPS
    from conformance.commands.parser import USAGE, Parser, own_version, table_lines
    from conformance.console import Console, silence_libraries
    from conformance.signals import INTERRUPTED, interrupt, terminate
except KeyboardInterrupt:  # no run has begun
    sys.stderr.write("kafka-conformance: interrupted\n")
    sys.exit(130)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROGRAM = "kafka-conformance"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
EPILOG = """examples:
  kafka-conformance list
  kafka-conformance predict TR-01 --kafka 0.10.2.2        what must happen; needs no cluster
  kafka-conformance run TR-01 --kafka 0.10.2.2            real brokers, a held FETCH, a verdict
  kafka-conformance run --kafka 4.4.0                     the quick profile
  kafka-conformance run --schedule my.yaml --kafka 3.9    your own schedule (see schedule-help)
  kafka-conformance judge runs/RUN --rules-of 4.4.0       the same run under another release's rules
  kafka-conformance trace runs/RUN                        its wire, frame by frame, as the model reads it

exit codes: 0 conforms, 1 deviates, 2 usage, 3 inconclusive, 4 harness error, 130 Ctrl-C, 143 SIGTERM
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parsed, console = argparse.Namespace(), Console()
    silence_libraries()
    try:
        parsed = build_parser().parse_args(_without_null_characters(arguments))
        console = Console(as_json=getattr(parsed, "json", False), quiet=getattr(parsed, "quiet", False))
        signal.signal(signal.SIGTERM, terminate)
        signal.signal(signal.SIGINT, interrupt)
        return int(parsed.command(console, parsed))
    except BrokenPipeError:
        sys.stdout = None  # nobody reads any more
        return 0
    except KeyboardInterrupt:
        had_brokers = hasattr(parsed, "backend")
        console.complain("interrupted; all brokers of this run were ended" if had_brokers else "interrupted")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - Python's own exit code of an exception is the one of a deviation
        return _failed(console, error, parsed)


def _failed(console: Console, error: Exception, parsed: argparse.Namespace) -> int:
    """Return what went wrong, and return whose mistake it was: the user's, or the tester's."""
    from conformance.commands.choosing import USAGE_ERRORS  # noqa: PLC0415 - who fails pays
    from conformance.judgement.verdicts import EXIT_CODES  # noqa: PLC0415 - likewise
    from conformance.record.verdict import Conformance  # noqa: PLC0415 - likewise

    harness_error = EXIT_CODES[Conformance.HARNESS_ERROR]
    if isinstance(error, USAGE_ERRORS):
        console.complain(str(error))
        return USAGE
    if isinstance(error, OSError) and error.errno in FULL:
        console.complain(_cut_short(error, parsed))
        return harness_error
    if isinstance(error, OSError):
        console.complain(f"{error.filename or ''}: {error.strerror or error}".lstrip(": "))
        return USAGE
    traceback.print_exception(error)
    console.complain(f"the tester failed, not the brokers: {error!r}")
    return harness_error


def _without_null_characters(arguments: Sequence[str] | None) -> Sequence[str]:
    """Refuse what no file and no scenario can be named, and what a shell cannot pass on."""
    given = sys.argv[1:] if arguments is None else arguments
    if any("\0" in argument for argument in given):
        Console().complain("an argument has a null character, which no name can have")
        sys.exit(USAGE)
    return given


def _cut_short(error: OSError, parsed: argparse.Namespace) -> str:
    """Return what is incomplete and where, since a write to an open file does not name it."""
    written = {"run": "run", "runs_dir": "run", "out": "file"}
    option = next((name for name in written if getattr(parsed, name, None) is not None), None)
    place, what = (getattr(parsed, option), written[option]) if option else ("", "answer")
    if _is_of_answer(error):
        place, what = "standard output", "answer"
    return f"{error.filename or place}: {os.strerror(error.errno or 0)}; the {what} is incomplete".lstrip(": ")


def _is_of_answer(error: OSError) -> bool:
    """Return whether it was standard output that could not be written to."""
    return any(frame.f_code is Console.answer.__code__ for frame, _ in traceback.walk_tb(error.__traceback__))


def build_parser() -> Parser:
    """Return the parser of all commands."""
    parser = Parser(prog=PROGRAM, usage=f"{PROGRAM} [-h] [--version] COMMAND ...")
    parser.describe("\n".join(_help_lines()), EPILOG)
    parser.add_argument("--version", action="version", version=f"%(prog)s {own_version()}", help="the tester's own")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", help=argparse.SUPPRESS, prog=PROGRAM)
    for group in GROUPS.values():
        for command in group:
            commands.add_parser(command.name, later=command.add_to)
    return parser


def _help_lines() -> Iterator[str]:
    """Yield what the tester is, and its commands by what they are for."""
    yield "Tests whether real Apache Kafka brokers replicate as the protocol says they must."
    lines = iter(table_lines([(one.name, (one.help,)) for group in GROUPS.values() for one in group]))
    for purpose, group in GROUPS.items():
        yield from ("", f"{purpose}:")
        yield from (f"  {line}" for line in islice(lines, len(group)))


if __name__ == "__main__":
    sys.exit(main())
