"""On which release can an entry be run that the chosen one does not run? The newest of the ladder that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.ladder import LADDER
from conformance.commands.choosing import foretold
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from conformance.catalogue.examination import Entry
    from oracle.rules.rule_set import RuleSet


def line_that_runs(entry: Entry) -> RuleSet | None:
    """Return the rules of the newest line of the ladder that an entry is run on; None if there is none.

    Raises:
        ScheduleFileError: no rule of a release satisfies its schedule.
    """
    for line in reversed(LADDER):
        rules = rules_for(line.release.version, MetadataMode(line.metadata.value))
        if foretold(entry, rules).not_run is None:
            return rules
    return None
