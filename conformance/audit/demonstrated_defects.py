"""How is a known defect demonstrated? By its own entry with the topic's settings, on a release that has it, and mended.

Other settings mend it mostly by refusing what its entry sends. So the second telling is on the release that repaired
it, with the settings as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.audit.cluster import MIN_ISR, UNCLEAN
from conformance.audit.defects import exposed_by, with_settings
from conformance.audit.demonstrations import NothingToShowError, Telling, Twins
from conformance.catalogue.questions import in_words
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.signs import PromiseSign
from conformance.line import Line, line_named
from conformance.registry import select
from oracle.schedule import TopicSettings

if TYPE_CHECKING:
    from conformance.audit.defects import DefectSeen
    from conformance.audit.release_seen import ReleaseSeen
    from conformance.scenarios.regressions.defect import KnownDefect

KNOWN_DEFECT = "known-defect"
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
