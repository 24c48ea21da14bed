"""What does ``--help`` say above and below the options?"""

from __future__ import annotations

import argparse
import sys
from ast import literal_eval
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, NoReturn, TypedDict

from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


EPILOG = """examples:
  kafka-conformance list
  kafka-conformance predict TR-01 --kafka 0.10.2.2        what must happen; needs no cluster
  kafka-conformance run TR-01 --kafka 0.10.2.2            real brokers, a held FETCH, a verdict
  kafka-conformance run --kafka 4.4.0                     the quick profile, eleven scenarios
  kafka-conformance run --schedule my.yaml --kafka 3.9    your own schedule (see schedule-help)
  kafka-conformance judge runs/RUN --rules-of 4.4.0       the same run under another release's rules
  kafka-conformance trace runs/RUN                        its wire, frame by frame, as the model reads it

exit codes: 0 conforms, 1 deviates, 2 usage, 3 inconclusive, 4 harness error, 130 Ctrl-C, 143 SIGTERM
"""
RUN = """Runs scenarios, or a schedule of your own, on real brokers that it starts and ends itself; writes one
directory a run, and report.html, junit.xml and report.json beside them. Each schedule is predicted first."""
RUN_EPILOG = """examples:
  kafka-conformance run TR-01 --kafka 0.10.2.2            one scenario on an old release
  kafka-conformance run --schedule my.yaml --kafka 3.9    your own schedule (see schedule-help)
  kafka-conformance run 'EL-*' --kafka 3.9/zookeeper --backend process
  kafka-conformance run TR-01 --repeat 10                 is it the same every time?

exit codes: 0 conforms or does not apply, 1 deviates, 2 usage, 3 inconclusive, 4 harness error,
130 Ctrl-C, 143 SIGTERM; of several runs 1 before 4 before 3 before 0
"""
PREDICT = """Says what must happen on a release, by the model alone: the numbers of each replica at every checkpoint,
what becomes of every record, and each log as label/leadership. Leaderships are counted from 0, one for each leader
change; Kafka's leader epoch may be higher, as some releases raise it without one. Refuses a schedule that the release
cannot follow, with file, line and step."""
JUDGE = """Judges a finished run again from its files; no broker is started. A verdict that differs, as that of another
tester may, takes the first one's place; the first is named and kept as verdict.before.json. Files that cannot be
judged any more leave verdict.json as it was, and the exit code is 4. With --rules-of or --repredict the same run is
held against a new prediction, by another release's rules or by its own; that verdict is written beside the first."""
PREDICT_EPILOG = """examples:
  kafka-conformance predict TR-01 --kafka 0.10.2.2             numbers, fates, and what becomes of the promise
  kafka-conformance predict TR-01 --kafka 0.10.2.2 --explain   which step and which rule decided each
  kafka-conformance predict --schedule my.yaml --kafka 3.9     your own schedule (see schedule-help)
"""
JUDGE_EPILOG = """examples:
  kafka-conformance judge runs/RUN                        the same verdict, or both
  kafka-conformance judge runs/RUN --rules-of 4.4.0       what would differ under another release's rules

exit codes: those of the run that it judges, see run --help
"""
LIST = """Lists the scenarios area by area, each with its requirement; with --kafka also what is not run on that
release, and why."""
LIST_EPILOG = """examples:
  kafka-conformance list                                  all of them
  kafka-conformance list TR --kafka 0.10.2                an area, and what of it that release does not run
  kafka-conformance list --kafka 4.4.0 --not-run          only what it does not run, by reason
"""
EXPLAIN = """Says what a scenario requires, why, what it does step by step, and what a release must answer. Of several:
what they have in common, and a table."""
EXPLAIN_EPILOG = """examples:
  kafka-conformance explain TR-01 --kafka 0.10.2.2        one, in prose, with what that release must show
  kafka-conformance explain EL-03 --kafka 4.4.0           several, as a table
"""
REPORT = "Writes one HTML page over finished runs, from the verdicts and files in their directories."
REPORT_EPILOG = """examples:
  kafka-conformance report runs                           every run in a directory
  kafka-conformance report runs/A runs/B --out both.html  two of them
"""


class Help(TypedDict):
    """What ``add_parser`` takes of a command's help, lines as they stand."""

    description: str
    epilog: str
    formatter_class: type[argparse.HelpFormatter]


def help_of(description: str, epilog: str) -> Help:
    """Return a command's help: what it does above its options, examples below."""
    return {"description": description, "epilog": epilog, "formatter_class": argparse.RawDescriptionHelpFormatter}


# Which options would have no effect? They are refused with the reason, never ignored in silence.


def refuse(parsed: argparse.Namespace, options: Iterable[str], why: str) -> None:
    """Refuse options that were given.

    Args:
        parsed: the command line.
        options: the options by their names; ``GLOB`` stands for scenario names.
        why: completes the sentence that begins with the option.

    Raises:
        UsageError: one of them was given.
    """
    for option in options:
        if is_given(parsed, option):
            raise UsageError(f"{'scenario names' if option == 'GLOB' else option} {why}")


def is_given(parsed: argparse.Namespace, option: str) -> bool:
    """Tell whether an option was given; left out, it must be None, False or nothing."""
    name = "globs" if option == "GLOB" else option.removeprefix("--").replace("-", "_")
    value = getattr(parsed, name)
    return value is not None and value is not False and value != []


# How does an option take a whole number? As plain digits within its bounds; anything else is a usage error.


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return what argparse calls with an option's text, for numbers from ``least`` to ``most``."""

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)

    return parse


# What may a mistyped command or option have been? argparse with a suggestion, and the usage of the right command.


USAGE = 2


class Parser(argparse.ArgumentParser):
    """A parser that suggests what is close to a word that it does not know."""

    def parse_known_args(  # type: ignore[override,explicit-override]  # from Python 3.12 on
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; a command refuses by itself what it does not know, so that its own usage is shown."""
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
        raise UsageError(f"nothing can be written to {path.parent}: it is no directory")


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
