"""Which renamings of brokers leave a published model as it is, and which fields tell most brokers apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oracle.explorer.symmetry import Renaming
from oracle.published import async_isr
from oracle.published.parts import Layout
from oracle.published.renaming import all_names

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from oracle.published.constants import Constants
    from oracle.published.renaming import Names


def of_replication(constants: Constants) -> tuple[tuple[Renaming, ...], frozenset[int]]:
    """Return the renamings of a replication module, and the fields to compare first."""
    layout = Layout(constants)
    names = all_names(constants.brokers)
    return tuple(_of_replicas(layout, one) for one in names), layout.requests | {layout.quorum, layout.next_record}


def _of_replicas(layout: Layout, names: Names) -> Renaming:
    replicas = {layout.replica(broker): layout.replica(other) for broker, other in names.of.items()}
    return Renaming(
        moves=replicas,
        renames={
            **dict.fromkeys(replicas, names.replica),
            **dict.fromkeys(layout.requests, names.request),
            layout.quorum: names.quorum,
        },
    )


def of_async_isr(constants: Constants) -> tuple[tuple[Renaming, ...], frozenset[int]]:
    """Return the renamings of AsyncIsr's followers, and the fields to compare first."""
    names = all_names(constants.brokers, fixed=async_isr.LEADER)
    head = frozenset({async_isr.CONTROLLER, async_isr.LEADER_STATE})
    return tuple(_of_followers(one) for one in names), head


def _of_followers(names: Names) -> Renaming:
    renames: dict[int, Callable[[Any], Hashable]] = {
        async_isr.CONTROLLER: names.controller,
        async_isr.LEADER_STATE: names.leader_state,
        async_isr.REQUESTS: names.requests,
        async_isr.OFFSETS: names.offsets,
    }
    return Renaming(moves={}, renames=renames)
