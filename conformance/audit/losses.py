"""What can be lost, on this release and with these settings? As the kept guarantee table says, or the model predicts.

The table is searched to a bound that it states. What it has not found is told with the extent of the search, never as
safe. More replicas than were searched are told by the steps that lose a record with three, tried in a prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from conformance.kept_guarantees import kept_table
from oracle.brokers.guarantee_table import release_name
from oracle.brokers.lifting import REPLICAS_MAX, schedule_of_cell
from oracle.brokers.questions import SEARCHED, Faults, GuaranteeCell
from oracle.rules.by_version import rules_for
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from oracle.brokers.answers import SearchAnswer, SearchResult
    from oracle.rules.rule_set import RuleSet


AFTER = {
    Faults.KILLS: "after crashes of brokers",
    Faults.KILLS_WITHOUT_CHECKPOINT: "after crashes of brokers that had not written their high watermark lately",
    Faults.POWER_FAILURE: "after restarts and a power failure of one broker",
}
_HAPPENS = (
    ("by tail-lost", "a broker's machine loses power before the record is on its disk"),
    ("elected uncleanly without it", "a replica that is not in sync, and lacks it, is elected (unclean election)"),
    ("elected cleanly without it", "a replica that is in the ISR, and lacks it, is elected"),
    ("by truncate-", "a replica truncates it before it follows a leader"),
)
"""What happens to a record that is lost, by the words of a prediction."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What is known of one choice of settings.

    Attributes:
        cell: the settings, and what may happen to brokers.
        found: the search, of at most three replicas.
        is_lifted: whether the steps that it has found lose a record of the cell's replicas, by prediction.
    """

    cell: GuaranteeCell
    found: SearchResult
    is_lifted: bool = False

    @property
    def is_found(self) -> bool:
        """Return whether some schedule loses an acknowledged record."""
        return self.found.actions is not None and (self.is_lifted or self.cell == self.cell.searched)

    @property
    def words(self) -> str:
        """Return it as a sentence."""
        return f"{AFTER[self.cell.faults]}{' an acknowledged record ' if self.is_found else ': '}{self.outcome}"

    @property
    def outcome(self) -> str:
        """Return whether an acknowledged record can be lost, or how far was searched, without what brokers meet."""
        searched = self.cell.searched.replicas
        unsearched = "" if self.cell == self.cell.searched else f"with {self.cell.replicas} replicas not searched; "
        if self.is_found:
            lifted = (
                f" (a loss with {searched} replicas, proved for {self.cell.replicas} by prediction)"
                if unsearched
                else ""
            )
            return f"can be lost{happens(self.found.decided_by)}{lifted}"
        none = self.found.none_found(searched) if self.found.actions is None else f"with {searched} one is lost"
        return f"{unsearched}{none}"


def happens(decided_by: str | None) -> str:
    """Return what loses a record as the field says it, what is first first: ``: a replica that … is elected``."""
    parts = (decided_by or "").split(";")
    said = (words for part in parts for sign, words in _HAPPENS if sign in part)
    told = ", then ".join(dict.fromkeys(said))
    return f": {told}" if told else ""


@cache
def losses(rules: RuleSet, acks: Acks, min_isr: int, replicas: int, *, unclean: bool) -> tuple[Loss, ...]:
    """Return what the table has of a topic's settings: the worst of kills, and of a power failure.

    Args:
        rules: of the release.
        acks: what producers wait for.
        min_isr: min.insync.replicas.
        replicas: of a partition.
        unclean: whether unclean elections are allowed.
    """
    if rules != rules_for(rules.version, rules.metadata):  # eligible leader replicas otherwise than by default
        return ()
    row = kept_table().row_of(release_name(rules))
    minimum = min(min_isr, replicas)
    if row is None or acks is Acks.NONE or not (0 < replicas <= REPLICAS_MAX and minimum <= SEARCHED[-1]):
        return ()
    cells = [GuaranteeCell(acks, minimum, unclean, replicas, faults) for faults in Faults]
    found = [one for cell in cells if (one := _loss(rules, cell, row.answers[cell.searched])) is not None]
    kills = [one for one in found if one.cell.faults is not Faults.POWER_FAILURE]
    worst = min(kills, key=lambda one: (not one.is_found, one.found.actions or 0), default=None)
    power = [one for one in found if one.cell.faults is Faults.POWER_FAILURE]
    return tuple(one for one in (worst, *power) if one is not None)


def _loss(rules: RuleSet, cell: GuaranteeCell, found: SearchAnswer) -> Loss | None:
    if found.lost is None:
        return None
    is_more = cell != cell.searched and found.lost.actions is not None
    is_lifted = is_more and schedule_of_cell(rules, cell, found) is not None
    is_same = found.lost.actions is not None and found.lost.schedule is None  # as the one that breaks a promise
    return Loss(cell, found.broken if is_same and found.broken is not None else found.lost, is_lifted)


def loss_words(rules: RuleSet | None, acks: Acks, min_isr: int, replicas: int, *, unclean: bool) -> str:
    """Return what settings lose as a sentence; says so if that was not searched."""
    found = () if rules is None else losses(rules, acks, min_isr, replicas, unclean=unclean)
    if rules is None or not found:
        return "what these settings lose on this release, with its features as they are, was not searched"
    steps = f"kafka-conformance guarantees --kafka {rules.version}/{rules.metadata.value} {found[0].cell.options}"
    worst = next((one for one in found if one.is_found), None)
    return f"{worst.words} (the steps: {steps})" if worst is not None else "; ".join(one.words for one in found)
