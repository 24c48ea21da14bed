"""``run --step``: how does a run stand at a checkpoint? A table of every replica, beside what was predicted.

The run goes on when a line is typed. What would end by itself before that is said, and then nobody is waited for: a
run that is looked at must not become another one.
"""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.commands.parser import table_lines
from conformance.probes.connection import ProbeError
from conformance.record.prediction import read_prediction
from conformance.record.schedule import read_schedule
from fault_injection.waiting import DeadlineExceededError, until
from reports.overview import duration_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.console import Console
    from conformance.record.directory import RunDirectory
    from conformance.record.observations import MeasuredNumbers
    from conformance.record.prediction import FrozenPrediction, PredictedMoment
    from conformance.running.standstill import Limit, Standstill

LEAST_S = 5.0
"""Who cannot look for so long is not asked to."""
MARGIN_S = 60.0
"""So long before a client or a broker gives up the run goes on: what is left of the schedule takes that long."""
AFRESH_S = 1.0
"""How often the numbers are read again while somebody looks."""
SOON_S = 600.0
"""What ends later by itself is not told: hardly anybody looks for so long."""
KEYS = "Enter goes on to the next checkpoint, g goes on without pauses, Ctrl-C ends the run"


@dataclass(slots=True)
class Stepper:
    """Shows a run at each of its checkpoints, and waits for a person.

    Attributes:
        is_over: whether nobody wants to be waited for any more.
    """

    console: Console
    typed: TypedLines = field(default_factory=lambda: TypedLines(None if sys.stdin is None else sys.stdin.fileno()))
    is_over: bool = False

    def look(self, run: RunDirectory, still: Standstill) -> None:
        """Show how a run stands, and return when it is to go on."""
        self.console.answer("\n".join(shown(run, still)))
        if self.is_over:
            return
        first = next(iter(still.limits), None)
        left_s = float("inf") if first is None else first.at - time.monotonic() - MARGIN_S
        if first is not None and left_s < LEAST_S:
            self.console.answer(f"  no pause here: {first.why} if the run stands for long\n")
            return
        self.console.answer(f"  {KEYS}{_by_itself(first, left_s)}")
        self._await_word(still, left_s)

    def _await_word(self, still: Standstill, left_s: float) -> None:
        fresh = _Fresh(self.console, still)

        def told() -> str | None:
            fresh.look()
            return self.typed.line()

        with suppress(DeadlineExceededError):
            word = until(told, deadline_s=left_s, what="a word", interval_s=0.05)
            self.is_over = self.typed.is_closed or word.strip().lower() == "g"
        if self.typed.is_closed:
            self.console.answer("  standard input is closed: the run goes on without pauses\n")


def _by_itself(first: Limit | None, left_s: float) -> str:
    if first is None or left_s >= SOON_S:
        return ""
    return f"; in {duration_words(left_s)} it goes on by itself, before {first.why}"


class TypedLines:
    """Lines that a person types, or that are piped.

    Args:
        descriptor: what they are read from; None if there is no standard input.

    Attributes:
        is_closed: whether there is no line any more.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._typed = b""
        self.is_closed = descriptor is None

    def line(self) -> str | None:
        """Return the next line without its end, an empty one once there are no more; None if there is none yet."""
        if b"\n" not in self._typed:
            self._read()
        line, end, rest = self._typed.partition(b"\n")
        if end:
            self._typed = rest
            return line.decode(errors="replace")
        return "" if self.is_closed else None

    def _read(self) -> None:
        if self._descriptor is not None and select.select([self._descriptor], [], [], 0)[0]:
            more = os.read(self._descriptor, 4096)
            self.is_closed = not more
            self._typed += more


class _Fresh:
    """Reads the numbers again now and then, and shows those that have changed."""

    def __init__(self, console: Console, still: Standstill) -> None:
        self._console, self._still = console, still
        self._shown: MeasuredNumbers = still.measured
        self._next = time.monotonic() + AFRESH_S

    def look(self) -> None:
        """Read the numbers again if it is time to; a broker that does not answer now is asked again later."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + AFRESH_S
        with suppress(ProbeError, DeadlineExceededError):
            seen = self._still.measure()
            if _plain(seen) != _plain(self._shown):
                self._console.answer("\n".join(("  it has changed while you looked:", *_table(seen, None))))
                self._shown = seen


def _plain(seen: MeasuredNumbers) -> tuple[object, ...]:
    return seen.leader, seen.leader_epoch, sorted(seen.isr), dict(seen.replicas)


# What does a person see?


def shown(run: RunDirectory, still: Standstill) -> Iterator[str]:
    """Yield the lines that say how a run stands."""
    prediction, measured = read_prediction(run), still.measured
    names = [moment.step for moment in prediction.checkpoints]
    yield ""
    yield f"checkpoint {names.index(still.step) + 1} of {len(names)}, after step {still.step + 1}: {measured.name}"
    yield from _table(measured, _predicted(prediction, still.step))
    now = time.monotonic()
    yield from (f"  held: {one.name}, {one.text}, for {now - one.since:.1f} s" for one in still.held)
    if still.pending:
        yield f"  waiting for their answers: {', '.join(still.pending)}"
    steps = read_schedule(run).steps[still.step + 1 :]
    if steps:
        yield f"  next: {steps[0].sentence()}"


def _predicted(prediction: FrozenPrediction, step: int) -> PredictedMoment | None:
    """Return what was predicted of a checkpoint; None where several outcomes are open."""
    if prediction.alternatives:
        return None
    return next(moment for moment in prediction.checkpoints if moment.step == step)


def _table(seen: MeasuredNumbers, predicted: PredictedMoment | None) -> Iterator[str]:
    """Yield who leads, and every replica's numbers; what is not as predicted says so."""
    leader = "nobody leads" if seen.leader is None else f"broker {seen.leader} leads"
    isr = ", ".join(map(str, seen.isr))
    yield f"  {leader} in leader epoch {seen.leader_epoch}; in-sync replicas {isr}{_differs(seen, predicted)}"
    epochs = getattr(seen, "epoch_files", None) or {}
    of_epochs = ("leader epochs (from offset)",) if any(epochs.values()) else ()
    head = ("", ("log end offset", "high watermark", *of_epochs))
    rows = [(f"broker {broker}", _cells(seen, predicted, broker, epochs)[: len(head[1])]) for broker in seen.replicas]
    yield from (f"    {line}" for line in table_lines([head, *rows]))


def _differs(seen: MeasuredNumbers, predicted: PredictedMoment | None) -> str:
    if predicted is None or (predicted.leader, sorted(predicted.isr)) == (seen.leader, sorted(seen.isr)):
        return ""
    leader = "nobody" if predicted.leader is None else f"broker {predicted.leader}"
    return f" ≠ predicted: {leader} leads, in-sync replicas {', '.join(map(str, predicted.isr))}"


def _cells(
    seen: MeasuredNumbers,
    predicted: PredictedMoment | None,
    broker: int,
    epochs: Mapping[int, tuple[tuple[int, int], ...]],
) -> tuple[str, ...]:
    numbers, wanted = seen.replicas[broker], None if predicted is None else predicted.replicas.get(broker)

    def cell(name: str) -> str:
        found, expected = getattr(numbers, name), getattr(wanted, name, None)
        return f"{found}" if wanted is None or found == expected else f"{found} ≠ predicted {expected}"

    told = ", ".join(f"{epoch} ({start})" for epoch, start in epochs.get(broker, ()))
    down = "" if numbers.alive else " (down)"
    return cell("log_end_offset"), cell("high_watermark") + down, told
