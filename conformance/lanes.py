"""How does one command run several clusters side by side? Each lane is a process of its own with a session of its own.

A lane has its brokers and its Spark; work is handed to whichever lane is free, and what comes of it comes back one by
one. The parent alone hears Ctrl-C: it ends each lane once, and waits until that has ended what it had started. A lane
whose parent is gone ends at the next thing that it has to tell.
"""

from __future__ import annotations

import signal
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

from conformance.console import silence_libraries
from conformance.session import session_on
from conformance.signals import terminate
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess
    from types import TracebackType

    from conformance.line import Line
    from conformance.run_options import RunOptions
    from conformance.second_look import SecondLook
    from conformance.session import Session

ENDING_S = 30.0
"""How long a lane may take to end in good order, and once more after its connection is closed; then it is killed."""
Work = TypeVar("Work")
Found = TypeVar("Found")


class LaneError(Exception):
    """A lane ended before its work did; the message says why."""


@dataclass(frozen=True, slots=True)
class SessionOrder:
    """The session that each lane opens; the attributes are those of ``session_on``."""

    line: Line
    options: RunOptions
    seed: int
    words: str
    looks: SecondLook | None = None

    def opened(self, progress: Callable[[str], None]) -> AbstractContextManager[Session]:
        """Return the session, to be entered."""
        return session_on(self.line, self.options, self.seed, progress, self.words, looks=self.looks)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a lane tells: progress, something that it found, or that it is free, has failed, or was asked wrongly."""

    kind: str
    what: Any = None


@dataclass(slots=True)
class _Lane:
    number: int
    process: SpawnProcess
    connection: Connection


class Lanes(Generic[Work, Found]):
    """Lanes that do one kind of work, in a ``with`` block.

    Args:
        count: how many; 1 works in this process.
        order: what each opens.
        work: does a piece of work in a lane's session, and yields what it finds; can be pickled, as pieces can.
        progress: is told what goes on.
    """

    def __init__(
        self,
        count: int,
        order: SessionOrder,
        work: Callable[[Session, Work], Iterable[Found]],
        progress: Callable[[str], None],
    ) -> None:
        self._count, self._order, self._work, self._progress = count, order, work, progress
        self._lanes: list[_Lane] = []
        self._own: Session | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Open the session, or start the lanes that do.

        Raises:
            UsageError: the one session cannot be opened.
        """
        if self._count == 1:
            self._own = self._stack.enter_context(self._order.opened(self._progress))
            return self
        self._stack.callback(self._end_lanes)
        for number in range(1, self._count + 1):
            self._lanes.append(self._started(number))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def _end_lanes(self) -> None:
        for lane in self._lanes:
            lane.process.terminate()
        for lane in self._lanes:
            lane.process.join(ENDING_S)
            lane.connection.close()  # where the signal got lost the lane ends when it asks for more, or tells something
            lane.process.join(ENDING_S)
            lane.process.kill()
            lane.process.join()

    def results(self, pieces: Iterator[Work]) -> Iterator[Found]:
        """Yield what the lanes find, as it comes; a piece is taken when a lane is free for it.

        Raises:
            LaneError: a lane has failed.
            UsageError: the session of a lane cannot be opened.
        """
        if self._own is not None:
            for own in pieces:
                yield from self._work(self._own, own)
            return
        free, busy = list(self._lanes), dict[Any, _Lane]()
        while True:
            while free and (piece := next(pieces, None)) is not None:
                lane = free.pop(0)
                lane.connection.send(piece)
                busy[lane.connection] = lane
            if not busy:
                return
            for connection in wait(list(busy)):
                told = self._told_by(busy[connection])
                if told.kind == "found":
                    yield told.what
                elif told.kind == "free":
                    free.append(busy.pop(connection))

    def _started(self, number: int) -> _Lane:
        spawning = get_context("spawn")
        ours, its = spawning.Pipe()
        process = spawning.Process(target=_lane, args=(its, self._order, self._work), name=f"lane {number}")
        process.start()
        its.close()  # so that the end of the process is the end of the pipe
        return _Lane(number, process, ours)

    def _told_by(self, lane: _Lane) -> _Told:
        try:
            told = cast("_Told", lane.connection.recv())
        except EOFError:
            lane.process.join()
            raise LaneError(f"lane {lane.number} ended with exit code {lane.process.exitcode}") from None
        if told.kind == "progress":
            self._progress(f"lane {lane.number}: {told.what}")
        elif told.kind == "usage":
            raise UsageError(told.what)
        elif told.kind == "failed":
            raise LaneError(f"lane {lane.number}: {told.what}")
        return told


def _lane(connection: Connection, order: SessionOrder, work: Callable[[Session, Work], Iterable[Found]]) -> None:
    """Open the session of a lane, and do what is asked of it until the other end is closed."""
    silence_libraries()
    signal.signal(signal.SIGINT, lambda *_: None)  # no SIG_IGN: the brokers would inherit it
    signal.signal(signal.SIGTERM, terminate)

    def tell(kind: str, what: object = None) -> None:
        connection.send(_Told(kind, what))

    try:
        with order.opened(lambda text: tell("progress", text)) as session:
            while True:
                for found in work(session, connection.recv()):
                    tell("found", found)
                tell("free")
    except (EOFError, ConnectionError):
        return  # nobody is there any more
    except UsageError as refused:
        tell("usage", str(refused))
    except Exception as error:  # noqa: BLE001 - whatever it was, the parent has to say it
        tell("failed", repr(error))
