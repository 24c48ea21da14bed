"""What does the published controller do? It elects and shrinks the ISR, each time with a request of a new epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from oracle.published.parts import Quorum, Request
from oracle.vocabulary import LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.vocabulary import BrokerId

Sent: TypeAlias = tuple[Quorum, Request]


def elects_leader(quorum: Quorum, _unsent: None) -> Iterator[Sent]:
    """Make another member of the ISR leader."""
    for broker in sorted(quorum.isr):
        if broker != quorum.leader:
            yield sent(quorum, Request(broker, quorum.isr))


def shrinks_isr(quorum: Quorum, _unsent: None) -> Iterator[Sent]:
    """Drop a member; a leader that is dropped leaves none, and stays in the ISR if it is the last one."""
    for broker in sorted(quorum.isr):
        rest = quorum.isr - {broker}
        if broker == quorum.leader:
            yield sent(quorum, Request(None, rest or quorum.isr))
        else:
            yield sent(quorum, Request(quorum.leader, rest))


def elects_uncleanly(brokers: tuple[BrokerId, ...], quorum: Quorum, _unsent: None) -> Iterator[Sent]:
    """Make a replica outside the ISR leader and only member, while there is no leader."""
    if quorum.leader is None:
        for broker in brokers:
            if broker not in quorum.isr:
                yield sent(quorum, Request(broker, frozenset({broker})))


def sent(quorum: Quorum, request: Request) -> Sent:
    """Return the quorum as it is once it has sent a request, and the request."""
    return Quorum(request.isr, request.leader, LeaderEpoch(quorum.leader_epoch + 1)), request
