"""How does the tester look on a terminal? Within its width, verdicts in colour, and a bar with the time left."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Self, TextIO

from rich.console import Console as RichConsole
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from conformance.layout import fit
from conformance.record.verdict import Conformance, PromiseKept

if TYPE_CHECKING:
    from types import TracebackType

STYLES: dict[str, str] = {
    Conformance.CONFORMS: "green",
    Conformance.DEVIATES: "red",
    Conformance.INCONCLUSIVE: "yellow",
    Conformance.HARNESS_ERROR: "yellow",
    Conformance.NOT_RUN: "dim",
    PromiseKept.BROKEN: "red",
    PromiseKept.BROKEN_AS_PREDICTED: "red",
}
VERDICT = re.compile(rf"\b(?:{'|'.join(STYLES)})\b")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
A_DAY_S = 24 * 60 * 60
BAR_COLUMNS = 20
REFRESHES_PER_SECOND = 2


class Terminal:
    """A stream that a person reads."""

    def __init__(self, stream: TextIO) -> None:
        self.rich = RichConsole(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)

    def laid_out(self, text: str) -> Text:
        """Return a text within the width, its verdicts in colour, and without what would steer the terminal."""
        shown = Text(fit(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text), self.rich.width))
        for word in VERDICT.finditer(shown.plain):
            shown.stylize(STYLES[word[0]], *word.span())
        return shown

    def rendered(self, text: str) -> str:
        """Return what to write for a text that ends a line."""
        with self.rich.capture() as captured:
            self.rich.print(self.laid_out(text))
        return captured.get()


class EntryBar:
    """The last line of a terminal while entries run: which one of how many, its name, and the time left.

    The time left is what is left at the mean pace of those that are done.
    """

    def __init__(self, terminal: Terminal, total: int) -> None:
        self._terminal = terminal
        self._progress = Progress(
            TextColumn("entry {task.fields[number]} of {task.total:.0f}"),
            BarColumn(BAR_COLUMNS),
            TimeRemainingColumn(),
            TextColumn("left", markup=False),
            TextColumn(
                "{task.fields[entry]}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
            ),
            console=terminal.rich,
            transient=True,
            expand=True,
            refresh_per_second=REFRESHES_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
            speed_estimate_period=A_DAY_S,
        )
        self._task = self._progress.add_task("", total=total, number=0, entry="", visible=False)
        self._number = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, entry: str) -> None:
        """Show the next entry; the one before is done."""
        self._progress.advance(self._task, min(self._number, 1))
        self._number += 1
        self._progress.update(self._task, number=self._number, entry=entry, visible=True)

    def leave_out(self, number: int) -> None:
        """Take entries off that need not be run."""
        total = self._progress.tasks[0].total or 0
        self._progress.update(self._task, total=total - number)

    def write(self, text: str) -> None:
        """Write a text above the bar."""
        self._terminal.rich.print(self._terminal.laid_out(text))
