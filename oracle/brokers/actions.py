"""What happens in one step of a path? One event, or two where the model lets a consequence follow at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.events import (
    BrokerDied,
    BrokerReturned,
    JoinCommitted,
    JoinRefused,
    RecordSent,
    RequestReceived,
    ResponseReceived,
    TailLost,
)

if TYPE_CHECKING:
    from oracle.events import Event
    from oracle.vocabulary import BrokerId


@dataclass(frozen=True, slots=True)
class Action:
    """One step of a path.

    Attributes:
        events: what happens; the first event is the cause of the others.
    """

    events: tuple[Event, ...]

    @property
    def cause(self) -> Event:
        """The event that the others follow from."""
        return self.events[0]

    def __str__(self) -> str:  # type: ignore[explicit-override] # typing has it from 3.12 on
        """Return what happens in words."""
        return ", ".join(filter(None, map(_words, self.events)))


def mover(action: Action) -> BrokerId | None:
    """Return the follower whose link an action moves, or None."""
    match action.cause:
        case RequestReceived(follower) | ResponseReceived(follower) | JoinCommitted(follower) | JoinRefused(follower):
            return follower
        case _:
            return None


def _words(event: Event) -> str:
    match event:
        case RecordSent(label, acks):
            return f"{label} is sent with acks={'all' if acks < 0 else int(acks)}"
        case RequestReceived(follower):
            return f"the request of broker {follower} reaches its leader"
        case ResponseReceived(follower):
            return f"the answer reaches broker {follower}"
        case JoinCommitted(follower):
            return f"broker {follower} joins the ISR"
        case JoinRefused(follower):
            return f"the controller does not let broker {follower} join the ISR"
        case BrokerDied(broker, graceful):
            return f"broker {broker} is {'stopped' if graceful else 'killed'}"
        case TailLost(broker, offset):
            return f"the disk of broker {broker} loses what is at offset {offset} and above"
        case BrokerReturned(broker):
            return f"broker {broker} starts"
        case _:
            return ""
