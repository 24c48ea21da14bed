"""Which faults are to come in a soak, and when? ``faults.json``, as it was drawn from a seed or read from a file.

A soak's ``faults.json`` is also what a user writes: it can be given to another soak, which then has the same timeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.record.soak import FAULTS_FILE

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory


class FaultKind(StrEnum):
    """What can be done to the brokers of a soak.

    The last three provoke losses: of records sent with acks=1 everywhere, ``second_leader`` also of records sent with
    acks=all, on releases without KIP-101 (before 0.11).
    """

    KILL = "kill"
    STOP = "stop"
    FREEZE = "freeze"
    ISOLATE = "isolate"
    CUT = "cut"
    HOLD = "hold"
    ROLL = "roll"
    ELECTION = "election"
    KILL_AHEAD = "kill_ahead"
    KILL_LEADERS = "kill_leaders"
    SECOND_LEADER = "second_leader"


class CutBy(StrEnum):
    """How a link is cut: connections stay and nothing arrives, or they end whenever they are tried."""

    BLACKHOLE = "blackhole"
    RESET = "reset"


class HeldFrame(StrEnum):
    """Which frame of a fetch stands: what the follower asks, or what the leader answers."""

    REQUEST = "request"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """One fault that is to come.

    Attributes:
        at_s: when it is due, in seconds since load began; it waits longer until all replicas are in sync.
        for_s: how long it lasts, in seconds: a broker is down, or frozen, or a link cut; of ``kill_ahead`` how long the
            leader is alone with what it appends before it is killed, and how long it is down.
        broker: to whom it happens; else it happens to who leads ``partition`` by then.
        follower, leader: the ends of a link; else those of ``partition`` by then, the next in its replicas following.
        partition: whose leader, or link, or leaders in turn.
        by: of a cut; a blackhole if it is not said.
        frame: of a hold; the request if it is not said.
    """

    at_s: float
    kind: FaultKind
    for_s: float = 0.0
    broker: int | None = None
    follower: int | None = None
    leader: int | None = None
    partition: int | None = None
    by: CutBy | None = None
    frame: HeldFrame | None = None

    def sentence(self) -> str:
        """Return it in words, with its time, as one line."""
        return f"{self.at_s:7.1f} s  {_TELLING[self.kind].format(self._broker, *self._link, self.for_s, self._how)}"

    @property
    def _broker(self) -> str:
        return f"the leader of partition {self.partition}" if self.broker is None else f"broker {self.broker}"

    @property
    def _link(self) -> tuple[str, str]:
        if self.follower is None:
            return f"a follower of partition {self.partition}", "its leader"
        return f"broker {self.follower}", f"broker {self.leader}"

    @property
    def _how(self) -> str:
        if self.kind is FaultKind.HOLD:
            return "request" if self.frame is not HeldFrame.ANSWER else "answer"
        return (self.by or CutBy.BLACKHOLE).value


_TELLING = {
    FaultKind.KILL: "{0} is killed (SIGKILL), and started again {3:g} s later",
    FaultKind.STOP: "{0} is stopped (SIGTERM), and started again {3:g} s later",
    FaultKind.FREEZE: "{0} stands still for {3:g} s",
    FaultKind.ISOLATE: "{0} reaches no other node for {3:g} s",
    FaultKind.CUT: "{1} and {2} do not hear each other for {3:g} s ({4})",
    FaultKind.HOLD: "a fetch of {1} from {2} stands for {3:g} s (its {4})",
    FaultKind.ROLL: "every broker is stopped and started again {3:g} s later, one after the other",
    FaultKind.ELECTION: "preferred leaders are elected for all partitions",
    FaultKind.KILL_AHEAD: "{0} is killed with {3:g} s of records that nobody has fetched",
    FaultKind.KILL_LEADERS: "{0} is killed, and at once who leads after it; both are started again {3:g} s later",
    FaultKind.SECOND_LEADER: (
        "{0} is killed, and who leads after it before a follower, cut to its high watermark, has fetched again;"
        " both are started again {3:g} s later"
    ),
}


@dataclass(frozen=True, slots=True)
class FaultTimeline:
    """All the faults of a soak, in the order of time.

    Attributes:
        faults: none may be there.
        seed: they were drawn from; None if they were read from a file.
        is_provoking: whether they are those that provoke losses.
    """

    faults: tuple[PlannedFault, ...] = ()
    seed: int | None = None
    is_provoking: bool = False

    def sentences(self) -> tuple[str, ...]:
        """Return what is planned, a line a fault."""
        return tuple(fault.sentence() for fault in self.faults)


def write_faults(run: RunDirectory, timeline: FaultTimeline) -> None:
    """Write which faults are to come."""
    run.write(FAULTS_FILE, timeline)


def read_faults(run: RunDirectory) -> FaultTimeline:
    """Read which faults were to come.

    Raises:
        RunDirectoryError: the directory has none, or they cannot be read.
    """
    return run.read(FAULTS_FILE, FaultTimeline)
