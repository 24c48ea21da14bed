"""What has a hunt done so far? One line a schedule, appended when it has its verdict, so that a hunt can go on.

``hunt.ndjson`` in the hunt's directory has a line for every schedule of every line and seed, ``transactions.ndjson``
one for every script of transactions. What deviates, or has no
verdict, is written as a YAML file of its own, with the command that runs it, in ``findings/``.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import yaml

from conformance.record.directory import as_line, write_whole
from conformance.record.verdict import Conformance
from conformance.session import new_seed, verdict_words
from fault_injection.releases import UsageError
from oracle.schedule_format import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from conformance.line import Line
    from conformance.run_options import RunOptions
    from oracle.schedule import Schedule

JOURNAL = "hunt.ndjson"
FINDINGS, UNRUN = "findings", "schedules"
"""Folders of schedules: what has a run that somebody has to look at, and what was written and not run."""
RUNS = "runs"


class JournalError(UsageError):
    """A journal that cannot be read; the message says where and why."""


@dataclass(frozen=True, slots=True)
class HuntedSchedule:
    """One schedule of a hunt that has its verdict, or one script of transactions.

    Attributes:
        line: the release in its metadata mode, such as ``3.9.2/kraft``.
        seed: of the hunt.
        number: which schedule of that seed, from 0.
        steps: the words of its steps, or acts, in their order.
        seconds: how long it took until its topic was read.
        run: the name of its run directory.
        finding: the file that it was written to; None if it conforms.
        tries: how often a difference was tried again, each time on a fresh cluster.
        came_back: how often it was there again.
        rules_of: the rules that it is held against, if they are not the release's own.
        explained_by: the rules, one apart from these, by which its run conforms.
        shrunk_steps: how many steps the shortest schedule has that still shows it, which then is ``finding``; None if
            nothing could be taken away, or nobody tried.
        shrunk_run: the run directory of that schedule, in that of the runs.
        brings: the decisions of rules in it that no schedule drawn before met, by which later ones are guided.
        mended: the mistake of the tester's that made this row, once it is mended; the row stays as it was run.
        answers: how many answers of a script's brokers were compared.
        again: what the schedule's run is by the mended tester; None if such a schedule is refused, or not grown, now.
    """

    line: str
    seed: int
    number: int
    conformance: Conformance
    promise: str | None
    reason: str
    steps: tuple[str, ...]
    seconds: float
    run: str
    finding: str | None = None
    tries: int = 0
    came_back: int = 0
    rules_of: str | None = None
    explained_by: tuple[str, ...] = ()
    shrunk_steps: int | None = None
    shrunk_run: str | None = None
    brings: tuple[str, ...] = ()
    mended: str | None = None
    again: Conformance | None = None
    answers: int = 0

    @property
    def is_withdrawn(self) -> bool:
        """Return whether the schedule is none any more: the mended tester refuses it."""
        return self.mended is not None and self.again is None

    @property
    def counted(self) -> Conformance:
        """What it counts as: a difference that does not come back each time tells nothing for certain."""
        if self.again is not None:
            return self.again
        is_unsteady = self.conformance is Conformance.DEVIATES and self.came_back < self.tries
        return Conformance.INCONCLUSIVE if is_unsteady else self.conformance

    @property
    def is_finding(self) -> bool:
        """Return whether somebody has to look at it."""
        return self.conformance is not Conformance.CONFORMS

    @property
    def words(self) -> str:
        """Return the verdict, and what a finding is, as progress tells them."""
        verdict = verdict_words(self.counted.value, self.promise, self.seconds)
        if not self.is_finding:
            return verdict
        rules = " or ".join(self.explained_by)
        explained = f"; as the rules say with {rules} swapped" if rules else ""
        shrunk = "" if self.shrunk_steps is None else f"; shrunk from {len(self.steps)} to {self.shrunk_steps} steps"
        return f"{verdict}: {self.reason}; {self.finding}{explained}{shrunk}"


class Journal:
    """The journal of one directory.

    Args:
        directory: of the hunts.
        name: the journal's file.
    """

    def __init__(self, directory: Path, name: str = JOURNAL) -> None:
        self._directory, self._name = directory, name

    @property
    def path(self) -> Path:
        """Return the journal's file."""
        return self._directory / self._name

    def read(self) -> tuple[HuntedSchedule, ...]:
        """Return every schedule so far; a line that was cut off at the end is none.

        Raises:
            JournalError: a line cannot be read.
        """
        if not self.path.exists():
            return ()
        whole, _, _ = self.path.read_text(encoding="utf-8").rpartition("\n")
        return tuple(self._decoded(number, line) for number, line in enumerate(whole.splitlines(), start=1))

    def _decoded(self, number: int, line: str) -> HuntedSchedule:
        try:
            return msgspec.json.decode(line, type=HuntedSchedule)
        except msgspec.DecodeError as error:
            message = f"{self.path}, line {number}: {error}; move the file away to begin anew"
            raise JournalError(message) from error

    def seed(self, asked: int | None) -> int:
        """Return the seed that is asked for, that of the last schedule, or a new one.

        Raises:
            JournalError: the journal cannot be read.
        """
        before = self.read()
        if asked is not None:
            return asked
        return before[-1].seed if before else new_seed()

    def hunted(self, line: str, seed: int, rules_of: str | None = None) -> dict[int, HuntedSchedule]:
        """Return the schedules of a line, seed and rules that have a verdict, by their numbers.

        Raises:
            JournalError: the journal cannot be read.
        """
        wanted = (line, seed, rules_of)
        return {one.number: one for one in self.read() if (one.line, one.seed, one.rules_of) == wanted}

    def note(self, hunted: HuntedSchedule) -> None:
        """Append a schedule; a line that was cut off before is given up."""
        if not self._ends_whole():
            content = self.path.read_bytes()
            write_whole(self.path, content[: content.rfind(b"\n") + 1].decode())
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(as_line(hunted))

    def _ends_whole(self) -> bool:
        """Return whether the last line has its end, by the last byte alone: a journal grows long."""
        if not self.path.exists() or self.path.stat().st_size == 0:
            return True
        with self.path.open("rb") as stream:
            stream.seek(-1, os.SEEK_END)
            return stream.read() == b"\n"

    def write_schedule(self, line: Line, schedule: Schedule, reason: str, folder: str, options: RunOptions) -> Path:
        """Write a schedule as a file that ``run --schedule`` takes, with the command that does so, and return it.

        Args:
            line: the release, and the rules that it is held against.
            schedule: what is written.
            reason: why it is.
            folder: FINDINGS or UNRUN.
            options: how it was run, or is to be: what changes a run is in the command.
        """
        written = yaml.safe_dump(encode(schedule), sort_keys=False, allow_unicode=True, width=120)
        return self.write(line, schedule.id, written, reason, folder, options)

    def write(self, line: Line, name: str, written: str, reason: str, folder: str, options: RunOptions) -> Path:
        """Write a file that ``run --schedule`` takes, as ``write_schedule`` does, and return it.

        Args:
            line: as there.
            name: the id of what is written.
            written: what the file says.
            reason: as there.
            folder: as there.
            options: as there.
        """
        name = f"{line.text.replace('/', '-')}-{name.rpartition('/')[2]}.yaml"
        path = self._directory / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        command = " ".join(("kafka-conformance run --schedule", shlex.quote(str(path)), *_run_like(line, options)))
        heading = f"# {' '.join(reason.split())}\n#\n#   {command}\n#\n# {_ALONE}\n"
        path.write_text(heading + written, encoding="utf-8")
        return path


_ALONE = "This file is all that another machine needs, beside the same version of the tester."


def _run_like(line: Line, options: RunOptions) -> Iterator[str]:
    """Yield the options by which ``run`` runs a schedule as it was, or is to be."""
    own = line.own
    if own is None:
        yield f"--kafka {line.release.version}"
    elif own.home is not None:
        yield f"--kafka-home {shlex.quote(str(own.home))}"
    else:
        yield f"--image {shlex.quote(str(own.image))}"
    yield f"--metadata {line.metadata.value}"
    rules_of = line.rules_of if own is None else own.rules_of
    if rules_of is not None:
        yield f"--rules-of {shlex.quote(rules_of)}"
    if line.label is not None:
        yield f"--label {shlex.quote(line.label)}"
    if not options.fetch_sessions:
        yield "--no-fetch-sessions"


def counted(hunted: Iterable[HuntedSchedule]) -> dict[str, int]:
    """Return how many schedules had which verdict."""
    return dict(Counter(one.counted.value for one in hunted))
