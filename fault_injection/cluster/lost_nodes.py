"""A node ended, and the tester did not end it: did the broker fail, or did somebody kill it?

A signal is somebody else's: the tester knows those that it sends. A machine that has no memory, no room on its disk or
a broken Java is the machine's, if that is what the node met last: a fault that it survived is not why it ended.
Anything else is the node's own end, and its log says why.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from fault_injection.cluster.backend import ProcessState

_JAVA_ENDS = (
    "insufficient memory for the Java Runtime Environment",
    "A fatal error has been detected by the Java Runtime Environment",
    "Terminating due to java.lang.OutOfMemoryError",
)
"""What Java prints when it can go on no longer: nothing comes after it."""
MACHINE_FAULTS = (*_JAVA_ENDS, "java.lang.OutOfMemoryError", "No space left on device", "Too many open files")
"""What a node says when the machine, or what it was given of it, failed the node."""

_ENDING = timedelta(seconds=10)
"""What a node logged for longer before its last error is no part of its end."""
_LOGGED = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ([A-Z]+) ")
_SEVERE = ("ERROR", "FATAL")
_EXCEPTION = re.compile(
    r"^(?:Caused by: |Exception in thread .*? )?[\w$]+(?:\.[\w$]+)+(?:Exception|Error|Fault|Throwable)\b"
)
_CONSEQUENCE = "org.apache.kafka.common.errors.KafkaStorageException"
"""What a broker says of a log directory that failed before."""
_QUOTE_MAX = 400


@dataclass(frozen=True, slots=True)
class LostNode:
    """A node that ended although nobody ended it.

    Attributes:
        name: the node, such as ``broker-1`` or ``controller-100``.
        state: how its process ended.
        log: what it logged since it was last started.
        printed: what it printed since then, which has no times.
    """

    name: str
    state: ProcessState
    log: str
    printed: str = ""

    @property
    def foreign_cause(self) -> str | None:
        """Who ended it, if neither the tester nor the node itself did: a signal of somebody's, or the machine."""
        if self.state.signal_number is not None:
            return f"was killed by signal {self.state.signal_number}, not by the tester"
        fault = _line_with(_JAVA_ENDS, self.printed.splitlines()) or _line_with(MACHINE_FAULTS, self._last_cause())
        return None if fault is None else f"ended because the machine failed it: {_quoted(fault)}"

    def _last_cause(self) -> list[str]:
        """Return the lines of the error that it met last: the log's, else the last exception that it printed."""
        return _last_error(self.log) or [line for line in self.printed.splitlines() if _EXCEPTION.match(line)][-1:]


def first_cause(log: str) -> str | None:
    """Return the first line at FATAL or ERROR of a node's log, with the exception below it; None if there is none."""
    errors = _errors(log)
    if not errors:
        return None
    line, *below = errors[0][1]
    return _quoted(f"{line} {below[0]}" if below and _EXCEPTION.match(below[0]) else line)


def _last_error(log: str) -> list[str]:
    """Return the lines of the last error of a log that has an exception of its own.

    Those without one announce the end, and one about a log directory that failed before is no cause of its own.
    """
    errors = _errors(log)
    ending = [lines for at, lines in errors if errors[-1][0] - at <= _ENDING]
    causes = [lines for lines in ending if any(_EXCEPTION.match(it) and _CONSEQUENCE not in it for it in lines)]
    return (causes or ending or [[]])[-1]


def _errors(log: str) -> list[tuple[datetime, list[str]]]:
    """Return what a node logged at ERROR or FATAL, with its time: the line, and those below that belong to it."""
    errors: list[tuple[datetime, list[str]]] = []
    is_error = False
    for line in log.splitlines():
        if head := _LOGGED.match(line):
            is_error = head[2] in _SEVERE
            if is_error:
                errors.append((datetime.fromisoformat(f"{head[1].replace(',', '.')}+00:00"), [line]))
        elif is_error:
            errors[-1][1].append(line)
    return errors


def _line_with(faults: tuple[str, ...], lines: list[str]) -> str | None:
    return next((line for line in lines if any(fault in line for fault in faults)), None)


def _quoted(line: str) -> str:
    line = line.strip()
    return line if len(line) <= _QUOTE_MAX else f"{line[:_QUOTE_MAX]} …"
