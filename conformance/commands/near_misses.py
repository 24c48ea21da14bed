"""What may a mistyped command or option have been? argparse with a suggestion, and the usage of the right command."""

from __future__ import annotations

import argparse
import sys
from ast import literal_eval
from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

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
