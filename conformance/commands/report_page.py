"""Writes the page of runs as every command does: with what the model finds of their settings beside what was shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.audit.losses import losses
from oracle.brokers.questions import Faults
from oracle.rules.by_version import rules_for
from oracle.vocabulary import Acks, MetadataMode
from reports import write_report
from reports.operators import FoundLosses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conformance.audit.losses import Loss
    from oracle.rules.rule_set import RuleSet
    from reports.baseline import ChangesSince
    from reports.operators import ChosenSettings

NOT_SEARCHED = "not searched on this release with these features"
NO_SETTING = "not searched: no producer can be set so"
NOTHING_PROMISED = "nothing is acknowledged, so nothing is promised"


def write_page(
    runs: Sequence[Path], out: Path, baseline: Path | None = None, tell: Callable[[ChangesSince], None] = lambda _: None
) -> Path:
    """Write the page, and the files for machines beside it; see ``reports.write_report``."""
    return write_report(runs, out, baseline, tell, what_the_table_has)


def what_the_table_has(chosen: ChosenSettings) -> FoundLosses:
    """Return what the kept guarantee table has of some settings: of crashes, and of a power failure."""
    acks = next((one for one in Acks if one.word == chosen.acks), None)
    if acks is None:
        return FoundLosses(chosen.acks, NO_SETTING, NO_SETTING)
    if acks is Acks.NONE:
        return FoundLosses(chosen.acks, NOTHING_PROMISED, NOTHING_PROMISED)
    rules = _rules_of(chosen)
    found = () if rules is None else losses(rules, acks, chosen.min_isr, chosen.replicas, unclean=chosen.unclean)
    power = [one for one in found if one.cell.faults is Faults.POWER_FAILURE]
    return FoundLosses(chosen.acks, _words([one for one in found if one not in power]), _words(power))


def _words(found: Sequence[Loss]) -> str:
    return found[0].outcome if found else NOT_SEARCHED


def _rules_of(chosen: ChosenSettings) -> RuleSet | None:
    """Return the rules of a release as it comes; None if there are none, or the cluster had other features."""
    try:
        rules = rules_for(chosen.kafka, MetadataMode(chosen.metadata))
    except ValueError:
        return None
    return rules if rules.has_eligible_by_default == chosen.has_elr else None
