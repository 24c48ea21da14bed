"""May the last known leader lead again while its broker is fenced? It must not; in 4.0 it does.

Once nobody is in sync or eligible, the replica that led last is elected. 4.0's guard writes into its
log that the broker is fenced, and elects it all the same (KAFKA-19522): the partition has a leader
that is not there, and an ISR of just that broker, although another replica could be waited for.

Source: PartitionChangeBuilder.canElectLastKnownLeader of 4.0.2 and 4.1.2. Versions: fenced in 4.0;
only unfenced from 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId

FENCED = Rule(
    name="fenced-last-known-leader-is-elected",
    source="KAFKA-19522, PartitionChangeBuilder.canElectLastKnownLeader",
    versions="4.0, with eligible leader replicas",
    replaces=None,
    breaks="a partition has a leader that is not there",
)


def if_registered(view: ControllerView) -> BrokerId | None:
    """Return the last known leader if nobody is in sync or eligible, and it runs."""
    known = whoever_it_is(view)
    return known if known in view.registered else None


def whoever_it_is(view: ControllerView) -> BrokerId | None:
    """Return the last known leader if nobody is in sync or eligible, whether it runs or not."""
    return None if view.isr or view.elr else view.last_known_leader
