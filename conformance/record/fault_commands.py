"""Which commands were to break the cluster beside a ledger (``commands-given.ndjson``), and which did?

``commands.ndjson`` has a command when it begins, and again when it has ended: one that is there once was running when
the tester ended, and one that is not there was not run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory

COMMANDS_FILE = "commands.ndjson"
COMMANDS_GIVEN_FILE = "commands-given.ndjson"


@dataclass(frozen=True, slots=True)
class FaultCommand:
    """A command that is given to break the cluster, and when it is due, in seconds since the first record."""

    command: str
    at_s: float


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command that was given to break the cluster, from its start to its end.

    Attributes:
        ended_ns: None if its end is not known: the tester ended first.
        exit_code: None of an end that is not known, or if it had not ended so long after the ledger, and was ended.
        output: name of the file with what it printed.
    """

    command: str
    began_ns: int
    ended_ns: int | None
    exit_code: int | None
    output: str

    @property
    def is_end_known(self) -> bool:
        """Return whether it ended while the tester ran."""
        return self.ended_ns is not None


def read_commands(run: RunDirectory) -> list[CommandRun]:
    """Read which commands began, each with its end if that is known."""
    noted = run.lines(COMMANDS_FILE, msgspec.json.Decoder(CommandRun).decode, may_be_cut=True)
    return list({one.output: one for one in noted}.values())


def read_given_commands(run: RunDirectory) -> list[FaultCommand]:
    """Read which commands were given, in the order in which they are due; those that began are the first of them."""
    return run.lines(COMMANDS_GIVEN_FILE, msgspec.json.Decoder(FaultCommand).decode, may_be_cut=True)
