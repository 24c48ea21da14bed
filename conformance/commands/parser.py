"""How is a command line parsed? argparse with commands that are imported when they are called, and with suggestions."""

from __future__ import annotations

import argparse
import re
import sys
from ast import literal_eval
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NoReturn

from typing_extensions import override

from conformance.console import is_terminal
from conformance.layout import fill
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


# Which options would have no effect? They are refused with the reason, never ignored in silence.


IN_ORDER = "is about the catalogue: schedules of yours run in their order, on one cluster."
NAMED_TOO = "chooses entries where none is named: leave one of the two out."
"""Why `--profile` is refused beside names or schedules."""


def refuse(parsed: argparse.Namespace, options: Iterable[str], why: str) -> None:
    """Refuse options that were given.

    Args:
        parsed: the command line.
        options: the options by their names; ``GLOB`` stands for names of entries.
        why: completes the sentence that begins with the option.

    Raises:
        UsageError: one of them was given.
    """
    for option in options:
        if is_given(parsed, option):
            raise UsageError(f"{'names of entries' if option == 'GLOB' else option} {why}")


def is_given(parsed: argparse.Namespace, option: str) -> bool:
    """Return whether an option was given; left out, it must be None, False or nothing."""
    value = given(parsed)(option)
    return value is not None and value is not False and value not in ([], ())


def given(parsed: argparse.Namespace) -> Callable[[str], Any]:
    """Return what returns the value of an option, by the option's name; ``GLOB`` stands for names of entries."""
    return lambda option: getattr(parsed, "globs" if option == "GLOB" else option[2:].replace("-", "_"))


# Which options do several commands have?


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add the option of every command: its answer as JSON."""
    parser.add_argument("--json", action="store_true", help="answer as JSON on standard output")


def add_lanes(parser: argparse._ActionsContainer) -> None:
    """Add ``--lanes``, None if it is left out."""
    lanes = whole_number(1, LANES_MAX)
    parser.add_argument("--lanes", type=lanes, metavar="N", help="run on N clusters side by side (default: 1)")


def add_require_promise(parser: Parser) -> None:
    """Add the option that has a promise broken as predicted end in a failure."""
    parser.add_argument("--require-promise", action="store_true", help="exit 1 also when a promise broke as predicted")


# How does an option take a whole number? As plain digits within its bounds; anything else is a usage error.

ROUNDS_MAX = 100_000
"""How many rounds ``--repeat`` takes at most."""
LANES_MAX = 16


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return what argparse calls with an option's text, for numbers from ``least`` to ``most``."""

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)

    return parse


# How does an option take a time? As digits with their unit.

_DURATION = re.compile(r"(\d{1,6})([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def duration(text: str) -> float:
    """Return a time such as ``20m`` in seconds."""
    found = _DURATION.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 90s, 20m or 1h")
    return int(found[1]) * _SECONDS[found[2]]


# What may a mistyped command or option have been? argparse with a suggestion, and the usage of the right command.


USAGE = 2


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Descriptions and examples as they are written; on a terminal within its width."""

    @override
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return fill(text, width) if is_terminal(sys.stdout) else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser that suggests what is close to a word that it does not know, and keeps the lines of its help.

    Args:
        later: adds what the command does and takes, once it is called: what it needs is imported then.
    """

    def __init__(self, *, later: Callable[[Parser], None] | None = None, **options: Any) -> None:  # noqa: ANN401 - argparse's own
        super().__init__(formatter_class=HelpFormatter, **options)
        self._later = later

    def describe(self, description: str, epilog: str = "") -> None:
        """Say what the command does, above its options, and give examples below."""
        self.description, self.epilog = description, epilog

    def parse_known_args(  # type: ignore[override,explicit-override]  # from Python 3.12 on
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; a command refuses by itself what it does not know, so that its own usage is shown."""
        later, self._later = self._later, None
        if later is not None:
            later(self)
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{suggestion(unknown[0], self.words())}")
        return known, unknown

    def words(self) -> list[str]:
        """Return every option and command that there is."""
        commands = [name for action in self._actions for name in action.choices or () if not action.option_strings]
        return [*commands, *(option for action in self._actions for option in action.option_strings)]

    def error(self, message: str) -> NoReturn:  # type: ignore[explicit-override]  # from Python 3.12 on
        """Refuse the command line; where none is given, tell the help; where it is none, what comes close."""
        start, _, refused = message.partition("invalid choice: ")
        if refused and start.startswith("argument COMMAND"):
            word = literal_eval(refused.rpartition(" (choose from ")[0])  # argparse quotes it as Python does
            message = f"there is no command {word!r}{suggestion(word, self.words())}; --help names them all"
        if message.endswith("required: COMMAND"):
            self.print_help(sys.stderr)
            self.exit(USAGE, f"\n{self.prog}: error: {message}\n")
        super().error(message)


def suggestion(word: str, words: Sequence[str]) -> str:
    """Return what a word may have been meant to be, as the end of a sentence; nothing if no word comes close."""
    close = get_close_matches(word.partition("=")[0], words, n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


# Can something be written where the user says? Asked before anything takes long.


def check_writable(directory: Path) -> None:
    """Make a directory if need be, and make sure that files can be written there.

    Raises:
        UsageError: they cannot.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=directory).close()
    except OSError as error:
        why = "it is no directory" if isinstance(error, FileExistsError) else error.strerror
        raise UsageError(f"nothing can be written to {directory}: {why}") from error


def check_file(path: Path) -> None:
    """Make sure that a file can be written, in a directory that is there.

    Raises:
        UsageError: it cannot.
    """
    if path.is_dir():
        raise UsageError(f"nothing can be written to {path}: it is a directory; name a file")
    if not path.parent.is_dir():
        why = "it is no directory" if path.parent.exists() else "it does not exist"
        raise UsageError(f"nothing can be written to {path.parent}: {why}")


# How does a table look in a terminal? Columns as wide as their widest cell, two blanks between them.


def table_lines(rows: Sequence[tuple[str, tuple[str, ...]]]) -> Iterable[str]:
    """Yield a table's lines, given each row's first cell and the others."""
    widths = [max(map(len, column)) for column in zip(*((what, *values) for what, values in rows), strict=True)]
    for what, values in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip((what, *values), widths, strict=True)).rstrip()


# Which version is the tester itself? The one of the installed package, as ``--version`` prints it.


PACKAGE = "kafka-conformance"


def own_version() -> str:
    """Return the version of the tester, such as ``0.1.0``; if it is used without being installed, that."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "of a checkout that is not installed"
