"""``completion``: what has a shell complete commands, options, scenarios, releases and models.

The script has every word in it, so that a TAB starts no Python.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import shtab

from conformance.catalogue.ladder import LADDER
from conformance.commands.groups import GROUPS
from conformance.commands.parser import Parser
from conformance.registry import CATALOGUE
from fault_injection.releases import RELEASES
from oracle.published.catalogue import NAMES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from conformance.console import Console

PROGRAM = "kafka-conformance"
SHELLS = ("bash", "zsh", "fish")
DESCRIPTION = """Prints a script that has a shell complete commands, options, scenarios, releases and models. Write it
once, and again after an upgrade: it is a list of words, and none is looked up when you press TAB."""
EPILOG = """to install it:
  bash  mkdir -p ~/.local/share/bash-completion/completions
        kafka-conformance completion bash > ~/.local/share/bash-completion/completions/kafka-conformance
        (needs the package bash-completion; else have ~/.bashrc source that file)
  zsh   mkdir -p ~/.zfunc
        kafka-conformance completion zsh > ~/.zfunc/_kafka-conformance
        (~/.zshrc needs these two lines: fpath+=~/.zfunc and autoload -Uz compinit && compinit)
  fish  mkdir -p ~/.config/fish/completions
        kafka-conformance completion fish > ~/.config/fish/completions/kafka-conformance.fish

Open a new shell then. In bash, where = ends a word, EL-03 stands for its variants such as EL-03/acks=1,...
"""


def add_completion(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    parser.set_defaults(command=lambda console, parsed: print_script(console, parsed.shell))


def print_script(console: Console, shell: str) -> int:
    """Print the script for a shell."""
    console.answer(shtab.complete(_whole_parser(shell), shell), as_it_is=True)
    return 0


def _whole_parser(shell: str) -> Parser:
    """Return the parser with every option of every command, and the words that each takes."""
    words = {metavar: sorted(_fit_for(shell, each)) for metavar, each in _words().items()}
    parser = Parser(prog=PROGRAM)
    commands = parser.add_subparsers(metavar="COMMAND")
    for command in (command for group in GROUPS.values() for command in group):
        one = commands.add_parser(command.name, help=command.help)
        command.add_to(one)
        for action in one._actions:  # noqa: SLF001 - as shtab reads them
            _name_words(action, words)
    return parser


def _words() -> dict[str, set[str]]:
    """Return what may stand for a value, by the name that ``--help`` gives it."""
    names = {entry.name for entry in CATALOGUE}
    rows = {name.split("/")[0] for name in names}
    scenarios = names | rows | {row.split("-")[0] for row in rows}
    releases = {"newest", *(release.version for release in RELEASES), *(line.text for line in LADDER)}
    by_metavar = {"GLOB": scenarios, "ENTRY": scenarios, "MODULE": set(NAMES)}
    return by_metavar | {"V": releases, "VERSION": releases, "LIST": {"ladder", *releases} - {"newest"}}


def _fit_for(shell: str, words: Iterable[str]) -> set[str]:
    """Leave out what a shell would take apart."""
    return {word for word in words if shell != "bash" or "=" not in word}


def _name_words(action: argparse.Action, words: dict[str, list[str]]) -> None:
    if action.choices is None and action.metavar in words:
        action.choices = words[str(action.metavar)]
    elif action.type is Path:
        action.complete = shtab.FILE  # type: ignore[attr-defined]
