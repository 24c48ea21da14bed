"""How is a defect demonstrated? By its own entry of the catalogue, on a release that has it, and mended.

A known defect is told with the topic's settings. Other settings mend it mostly by refusing what its entry sends. So the
second telling is on the release that repaired it, with the settings as they are. A late request is told by its script
of transactions, on a cluster with the transaction.version that was read; mended is a higher one, or another release.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.audit.checks_of_transactions import (
    LATE_REQUESTS,
    TRANSACTION_VERSION,
    broken_by,
    level_of_new,
    script_at,
)
from conformance.audit.cluster import MIN_ISR, UNCLEAN
from conformance.audit.defects import exposed_by, with_settings
from conformance.audit.demonstrations import AS_READ, MENDED, NothingToShowError, Telling, Twins
from conformance.catalogue.questions import in_words
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.signs import PromiseSign
from conformance.line import NEWEST, Line, line_named
from conformance.registry import select
from oracle.rules.transactions import TRANSACTION_FEATURE
from oracle.schedule import TopicSettings
from oracle.transactions.promised import PROMISED

if TYPE_CHECKING:
    from conformance.audit.defects import DefectSeen
    from conformance.audit.release_seen import ReleaseSeen
    from conformance.scenarios.regressions.defect import KnownDefect

KNOWN_DEFECT = "known-defect"
BY_ENTRIES = (KNOWN_DEFECT, TRANSACTION_VERSION)
"""The checks whose findings entries of the catalogue demonstrate."""
EXAMPLE = TopicSettings(min_insync_replicas=1, unclean_leader_election=True)
"""What exposes most."""


def defect_twins(release: ReleaseSeen, own: TopicSettings, *, has_eligible: bool | None = None) -> Twins:
    """Return a defect that a topic's settings expose on a release, and the same where it is repaired.

    Raises:
        NothingToShowError: they expose none.
    """
    exposed = exposed_by(release, own, has_eligible=has_eligible)
    if not exposed:
        line = "an unknown release" if release.line is None else f"Kafka {release.line.text}"
        raise NothingToShowError(f"{_words(own)} exposes no known defect of {line} that other settings avoid")
    return _twins(min(exposed, key=_loses_nothing), own)


def _loses_nothing(one: DefectSeen) -> bool:
    return not isinstance(one.defect.sign, PromiseSign)


def _twins(one: DefectSeen, own: TopicSettings) -> Twins:
    defect, mode = one.defect, one.rules.metadata.value
    has_it, has_it_no_more = line_named(f"{one.rules.version}/{mode}"), line_named(f"{defect.fixed}/{mode}")
    return Twins(
        _telling(defect, own, has_it, f"{_words(own)} on Kafka {has_it.text}"),
        _telling(defect, own, has_it_no_more, f"Kafka {has_it_no_more.text}"),
    )


def _telling(defect: KnownDefect, own: TopicSettings, line: Line, settings: str) -> Telling:
    (entry,) = select([defect.scenario])
    assert isinstance(entry, Scenario), "the settings decide, so it has a schedule"
    entry = with_settings(entry, own)
    value = defect.sign.read(entry, line.rules)
    what = f"{defect.issue}: {defect.symptom}" if value == defect.there else f"{defect.issue} is not there"
    return Telling(line, entry, settings, f"{what} ({defect.sign.text}: {in_words(value)})")


def _words(own: TopicSettings) -> str:
    unclean = str(own.unclean_leader_election).lower()
    return f"{MIN_ISR}={own.min_insync_replicas}, {UNCLEAN}={unclean}"


def late_request_twins(line: Line, level: int | None) -> Twins:
    """Return what a late request breaks on a release, and that it breaks nothing once mended.

    Args:
        line: what the cluster runs.
        level: its transaction.version; None as new clusters of the release have it.

    Raises:
        NothingToShowError: no late request breaks anything.
    """
    for entry in (entry for late in LATE_REQUESTS for entry in late.entries):
        if broken_by(entry, line.rules, level):
            mended = line_named(NEWEST) if broken_by(entry, line.rules, None) else line
            return Twins(_script(entry, AS_READ, line, level), _script(entry, MENDED, mended, None))
    raise NothingToShowError(f"no late request breaks what is promised of transactions with {_cluster(line, level)}")


def example_level(line: Line) -> int | None:
    """Return the transaction.version of a cluster that was upgraded to a release, None where it has no such feature."""
    return 1 if level_of_new(line.rules) > 1 else None


def _script(entry: str, place: str, line: Line, level: int | None) -> Telling:
    """Return a telling of a script by a name of its own: the catalogue's has no other level than its own."""
    script, broken = script_at(entry, level), broken_by(entry, line.rules, level)
    parts = [f"{what.removeprefix(PROMISED)}: {', '.join(which)}" for what, which in broken]
    shows = (
        "; ".join(parts) or "every acknowledged record of a committed transaction is given to consumers, and no other"
    )
    name, settings = f"audit/{TRANSACTION_VERSION}-{place}", _cluster(line, level)
    requirement = f"With {settings}: {shows}."
    return Telling(line, replace(script, name=name, id=name, requirement=requirement), settings, shows)


def _cluster(line: Line, level: int | None) -> str:
    """Return a cluster in words: its release, and its transaction.version where there is one."""
    newest = level_of_new(line.rules)
    return f"Kafka {line.text}" + (f", {TRANSACTION_FEATURE}={newest if level is None else level}" if newest else "")
