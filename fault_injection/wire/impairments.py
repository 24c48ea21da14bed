"""What can be wrong with a network, and what shows that it was?

An impairment concerns some ways, has a name while it is imposed, and leaves evidence: the connections that it
touched, how many frames and bytes, and the first frame of each.
"""

from dataclasses import dataclass
from typing import Literal

from fault_injection.wire.points import Direction, LinkKind

# Which bytes does a fault of the network concern?
#
# A *flow* is what one connection carries in one direction: its requests, or its answers. A *way* names flows by
# who sends the bytes and who receives them, whoever opened the connection: ``Way(1, 2)`` is all that 1 sends to
# 2, the requests on connections that 1 opened and the answers on those that 2 opened. So "2 does not hear 1"
# is one way, and both ways together are what lies between two nodes.
#
# Choices: a node always reaches itself. While the sender of a connection is not known, which it is from the
# first frame on, only a way that leaves the sender open carries it.


Opener = Literal["sender", "receiver"]

NAMES = {-1: "clients", -2: "zookeeper"}
"""The ends that are no broker, by the ids that ``cluster.relay`` gives them."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What one connection carries in one direction.

    Attributes:
        kind: which of the destination's listeners the connection leads to.
        source: who opened the connection; None while that is not known.
        destination: whom it leads to.
        direction: whether these are the requests or the answers.
    """

    kind: LinkKind
    source: int | None
    destination: int
    direction: Direction

    @property
    def sender(self) -> int | None:
        """Return the node that these bytes come from."""
        return self.source if self.direction == "request" else self.destination

    @property
    def receiver(self) -> int | None:
        """Return the node that these bytes go to."""
        return self.destination if self.direction == "request" else self.source

    @property
    def reverse(self) -> "Flow":
        """What the connection carries the other way."""
        direction: Direction = "response" if self.direction == "request" else "request"
        return Flow(self.kind, self.source, self.destination, direction)

    @property
    def text(self) -> str:
        """Say in words what it is, for example ``requests 2→1 (replication)``."""
        return f"{self.direction}s {_name(self.sender, '?')}→{_name(self.receiver, '?')} ({self.kind})"


@dataclass(frozen=True, slots=True)
class LinkDirection:
    """All flows between two nodes one way; None stands for any other node, any channel, either opener.

    Attributes:
        sender: the node that the bytes come from.
        receiver: the node that they go to.
        kind: the channel that carries them.
        opened_by: which of the two opened the connection: ``sender`` names requests, ``receiver`` answers.
    """

    sender: int | None = None
    receiver: int | None = None
    kind: LinkKind | None = None
    opened_by: Opener | None = None

    def carries(self, flow: Flow) -> bool:
        """Return whether a flow goes this way."""
        opener: Opener = "sender" if flow.direction == "request" else "receiver"
        return (
            flow.source != flow.destination
            and self.sender in (None, flow.sender)
            and self.receiver in (None, flow.receiver)
            and self.kind in (None, flow.kind)
            and self.opened_by in (None, opener)
        )

    @property
    def text(self) -> str:
        """Say in words what it is, for example ``1→2`` or ``requests 2→any (replication)``."""
        what = {None: "", "sender": "requests ", "receiver": "answers "}[self.opened_by]
        channel = f" ({self.kind})" if self.kind is not None else ""
        return f"{what}{_name(self.sender, 'any')}→{_name(self.receiver, 'any')}{channel}"


def between(one: int | None, other: int | None, kind: LinkKind | None = None) -> tuple[LinkDirection, LinkDirection]:
    """Return both ways between two nodes."""
    return LinkDirection(one, other, kind), LinkDirection(other, one, kind)


def around(node: int, kind: LinkKind | None = None) -> tuple[LinkDirection, LinkDirection]:
    """Return all ways from and to a node."""
    return LinkDirection(sender=node, kind=kind), LinkDirection(receiver=node, kind=kind)


def _name(node: int | None, unknown: str) -> str:
    return unknown if node is None else NAMES.get(node, str(node))


NS_PER_MS = 1_000_000


class ImpairmentError(Exception):
    """An impairment was imposed under a name in use, or an unknown one was lifted or asked for."""


@dataclass(frozen=True, slots=True)
class LinkCut:
    """Nothing passes on these ways.

    A *blackhole* is what a partition is: bytes stop, connections stay, also their ends are not heard of; a
    connection that is opened meanwhile carries nothing in either direction, since opening one needs both. What
    was stopped goes on when the cut is lifted, as retransmitted segments do. A *reset* ends the connections
    that have one of these ways, and every new one at its first frame.
    """

    ways: tuple[LinkDirection, ...]
    by: Literal["blackhole", "reset"] = "blackhole"

    @property
    def text(self) -> str:
        """How, in words."""
        return "by a blackhole" if self.by == "blackhole" else "by resets"


@dataclass(frozen=True, slots=True)
class LinkDelay:
    """Bytes arrive ``delay_ms`` later on these ways; as much can be under way as before."""

    ways: tuple[LinkDirection, ...]
    delay_ms: int

    def __post_init__(self) -> None:
        if self.delay_ms < 1:
            raise ValueError(f"a delay takes time, not {self.delay_ms} ms")

    @property
    def text(self) -> str:
        """By how much, in words."""
        return f"of {self.delay_ms} ms"


Impairment = LinkCut | LinkDelay


@dataclass(frozen=True, slots=True)
class FrameMark:
    """Which frame it was: ``seq`` is the one of its line in the trace."""

    seq: int
    api: str
    correlation_id: int
    fetch_offset: int | None = None


@dataclass(frozen=True, slots=True)
class Touched:
    """What an impairment did to one flow.

    Attributes:
        connection: number of the connection, as in the trace.
        flow: which of its flows.
        frames: frames, or pieces of a channel without frames, that were stopped, delayed or reset.
        size: their bytes.
        first: the first of the frames; None if it was no frame.
        at_ns: when it was touched first, monotonic.
    """

    connection: int
    flow: Flow
    frames: int
    size: int
    first: FrameMark | None
    at_ns: int

    @property
    def text(self) -> str:
        """Say in words what was touched."""
        first = f", first {self.first.api} {self.first.correlation_id}" if self.first is not None else ""
        return f"connection {self.connection}, {self.flow.text}: {self.frames} frames of {self.size} bytes{first}"


TOLD_MAX = 4
"""How many flows are told one by one."""


@dataclass(frozen=True, slots=True)
class ImpairmentEvidence:
    """What an impairment did so far.

    Attributes:
        name: the name it was imposed under.
        impairment: what was imposed.
        imposed_ns: when, monotonic.
        lifted_ns: when it was lifted; None while it is imposed.
        touched: what it touched, in order of the first time.
        untold: how many more flows it touched than ``touched`` has room for.
    """

    name: str
    impairment: Impairment
    imposed_ns: int
    lifted_ns: int | None
    touched: tuple[Touched, ...]
    untold: int = 0

    @property
    def has_fired(self) -> bool:
        """Return whether any traffic met it."""
        return bool(self.touched)

    @property
    def size(self) -> int:
        """How many bytes it touched, of those flows."""
        return sum(touched.size for touched in self.touched)

    @property
    def text(self) -> str:
        """Say in words what it touched: every one of a few flows, of many how many there were and the first frame."""
        flows, first = len(self.touched) + self.untold, self.first
        if first is None or flows <= TOLD_MAX:
            return "; ".join(touched.text for touched in self.touched) or "nothing came that way"
        frames = sum(touched.frames for touched in self.touched)
        told = f"the first {len(self.touched)} of them" if self.untold else "them"
        return f"{flows} flows, in {told} {frames} frames of {self.size} bytes, such as {first.text}"

    @property
    def first(self) -> Touched | None:
        """What proves it: the first flow with a frame, otherwise the first flow."""
        framed = (touched for touched in self.touched if touched.first is not None)
        return next(framed, self.touched[0] if self.touched else None)
