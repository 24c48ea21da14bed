"""What can be lost, on this release and with these settings? As the kept guarantee table says, or the model predicts.

The table is searched to a bound that it states. What it has not found is told with the extent of the search, never as
safe.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from conformance.kept_guarantees import kept_table
from oracle.brokers.guarantee_table import release_name
from oracle.brokers.questions import Faults, GuaranteeCell
from oracle.rules.by_version import rules_for
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from oracle.brokers.answers import SearchResult
    from oracle.rules.rule_set import RuleSet

REPLICAS_SEARCHED = (2, 3)


@dataclass(frozen=True, slots=True)
class Loss:
    """What a search says of one choice of settings.

    Attributes:
        cell: the settings, and what may happen to brokers.
        found: the search.
    """

    cell: GuaranteeCell
    found: SearchResult

    @property
    def is_found(self) -> bool:
        """Return whether some schedule loses an acknowledged record."""
        return self.found.actions is not None

    @property
    def words(self) -> str:
        """Return it as a sentence."""
        faults = self.cell.faults.value
        if self.is_found:
            first = f": {self.found.decided_by.split(';')[0]}" if self.found.decided_by else ""
            return f"by {faults} an acknowledged record is lost in {self.found.actions} actions{first}"
        extent = "searched whole" if self.found.is_complete else f"searched to {self.found.states:,} states only"
        return f"by {faults} no loss was found with {self.cell.replicas} replicas, {extent}"


@cache
def losses(rules: RuleSet, acks: Acks, min_isr: int, replicas: int, *, unclean: bool) -> tuple[Loss, ...]:
    """Return what the table has of a topic's settings: the worst of kills, and of a power failure.

    Args:
        rules: of the release.
        acks: what producers wait for.
        min_isr: min.insync.replicas.
        replicas: of a partition; more than three were not searched.
        unclean: whether unclean elections are allowed.
    """
    if rules != rules_for(rules.version, rules.metadata):  # eligible leader replicas otherwise than by default
        return ()
    row = kept_table().row_of(release_name(rules))
    if row is None or acks is Acks.NONE or replicas not in REPLICAS_SEARCHED:
        return ()
    cells = [GuaranteeCell(acks, min(min_isr, replicas), unclean, replicas, faults) for faults in Faults]
    found = [Loss(cell, lost) for cell in cells if (lost := row.answers[cell].lost) is not None]
    kills = [one for one in found if one.cell.faults is not Faults.POWER_FAILURE]
    worst = min(kills, key=lambda one: (one.found.actions is None, one.found.actions or 0), default=None)
    power = [one for one in found if one.cell.faults is Faults.POWER_FAILURE]
    return tuple(one for one in (worst, *power) if one is not None)


def loss_words(rules: RuleSet | None, acks: Acks, min_isr: int, replicas: int, *, unclean: bool) -> str:
    """Return what settings lose as a sentence; says so if that was not searched."""
    found = () if rules is None else losses(rules, acks, min_isr, replicas, unclean=unclean)
    if rules is None or not found:
        return "what these settings lose on this release, with its features as they are, was not searched"
    steps = f"kafka-conformance guarantees --kafka {rules.version}/{rules.metadata.value} {found[0].cell.options}"
    worst = next((one for one in found if one.is_found), None)
    return f"{worst.words} (the steps: {steps})" if worst is not None else "; ".join(one.words for one in found)
