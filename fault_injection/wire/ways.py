"""Which bytes does a fault of the network concern?

A *flow* is what one connection carries in one direction: its requests, or its answers. A *way* names flows by
who sends the bytes and who receives them, whoever opened the connection: ``Way(1, 2)`` is all that 1 sends to
2, the requests on connections that 1 opened and the answers on those that 2 opened. So "2 does not hear 1"
is one way, and both ways together are what lies between two nodes.

Choices: a node always reaches itself. While the sender of a connection is not known, which it is from the
first frame on, only a way that leaves the sender open carries it.
"""

from dataclasses import dataclass
from typing import Literal

from fault_injection.wire.points import Direction, LinkKind

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
        """The node that these bytes come from."""
        return self.source if self.direction == "request" else self.destination

    @property
    def receiver(self) -> int | None:
        """The node that these bytes go to."""
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
class Way:
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
        """Whether a flow goes this way."""
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


def between(one: int, other: int, kind: LinkKind | None = None) -> tuple[Way, Way]:
    """Give both ways between two nodes."""
    return Way(one, other, kind), Way(other, one, kind)


def around(node: int, kind: LinkKind | None = None) -> tuple[Way, Way]:
    """Give all ways from and to a node."""
    return Way(sender=node, kind=kind), Way(receiver=node, kind=kind)


def _name(node: int | None, unknown: str) -> str:
    return unknown if node is None else NAMES.get(node, str(node))
