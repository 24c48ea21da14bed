"""Whose doing is it that a node ended although the tester did not end it?

A signal is somebody else's: the tester knows those that it sends. A machine that has no memory, no room on its disk or
a broken Java is the machine's. Anything else is the node's own end, and its log says why.
"""

import re
from dataclasses import dataclass

from fault_injection.cluster.backend import ProcessState

MACHINE_FAULTS = (
    "java.lang.OutOfMemoryError",
    "insufficient memory for the Java Runtime Environment",
    "No space left on device",
    "Too many open files",
    "A fatal error has been detected by the Java Runtime Environment",
)
"""What a log says when the machine, or what it was given of it, failed the node."""

_SEVERE = re.compile(r"^\[[^]]*] (ERROR|FATAL) ")
_EXCEPTION = re.compile(r"^(?:Caused by: )?[\w$]+(?:\.[\w$]+)+(?:Exception|Error|Fault|Throwable)\b")
_QUOTE_MAX = 400


@dataclass(frozen=True, slots=True)
class LostNode:
    """A node that ended although nobody ended it.

    Attributes:
        name: the node, such as ``broker-1`` or ``controller-100``.
        state: how its process ended.
        log: what it logged and printed since it was last started.
    """

    name: str
    state: ProcessState
    log: str

    @property
    def foreign_cause(self) -> str | None:
        """Who ended it, if neither the tester nor the node itself did: a signal of somebody's, or the machine."""
        if self.state.signal_number is not None:
            return f"was killed by signal {self.state.signal_number}, not by the tester"
        fault = next((line for line in self.log.splitlines() if any(it in line for it in MACHINE_FAULTS)), None)
        return None if fault is None else f"ended because the machine failed it: {_quoted(fault)}"


def first_cause(log: str) -> str | None:
    """Return the first line at FATAL or ERROR of a node's log, with the exception below it; None if there is none."""
    lines = log.splitlines()
    at = next((number for number, line in enumerate(lines) if _SEVERE.search(line)), None)
    if at is None:
        return None
    below = lines[at + 1] if at + 1 < len(lines) else ""
    return _quoted(f"{lines[at]} {below}" if _EXCEPTION.match(below) else lines[at])


def _quoted(line: str) -> str:
    line = line.strip()
    return line if len(line) <= _QUOTE_MAX else f"{line[:_QUOTE_MAX]} …"
