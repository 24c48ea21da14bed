"""What does the published controller do? It shrinks the ISR and elects, and each time sends a request in a new epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.published.parts import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.published.constants import Constants
    from oracle.published.parts import History, Isr
    from oracle.vocabulary import BrokerId


@dataclass(frozen=True, slots=True)
class Controller:
    """The controller's actions within the bounds of a model."""

    constants: Constants

    def elects_leader(self, history: History, isr: Isr) -> Iterator[tuple[History, Isr]]:
        """Make another member of the ISR leader."""
        for broker in sorted(isr):
            if broker != leader_of(history):
                yield from self._sends(history, Request(broker, isr))

    def elects_uncleanly(self, history: History, isr: Isr) -> Iterator[tuple[History, Isr]]:
        """Make a replica outside the ISR leader and only member, while there is no leader."""
        if history and leader_of(history) is None:
            for broker in self.constants.brokers:
                if broker not in isr:
                    yield from self._sends(history, Request(broker, frozenset({broker})))

    def shrinks_isr(self, history: History, isr: Isr) -> Iterator[tuple[History, Isr]]:
        """Drop a member; a leader that is dropped leaves none, and stays in the ISR if it is the last one."""
        leader = leader_of(history)
        for broker in sorted(isr):
            if broker != leader:
                yield from self._sends(history, Request(leader, isr - {broker}))
            else:
                yield from self._sends(history, Request(None, isr if isr == {broker} else isr - {broker}))

    def _sends(self, history: History, request: Request) -> Iterator[tuple[History, Isr]]:
        if len(history) <= self.constants.epochs:
            yield (*history, request), request.isr


def leader_of(history: History) -> BrokerId | None:
    """Return the leader that the quorum has named last."""
    return history[-1].leader if history else None
