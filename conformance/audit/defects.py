"""Which known defects has the release, and do the cluster's settings expose them? By the rules of the model.

A defect is there if its own entry of the catalogue shows it by the release's rules; of a line of which the patch is not
known, it may be there if the first patch has it. Settings expose it if its schedule shows it with them, too. What the
recommended settings expose only another release mends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from conformance.audit.cluster import MIN_ISR, UNCLEAN
from conformance.audit.finding import AuditCheck, AuditFinding, Severity, Unseen, setting_ground
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.track_record import TRACK_RECORD
from conformance.registry import select
from conformance.scenarios.regressions.defect import Kind
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.steps.step import ScheduleError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.audit.audited import Audited
    from conformance.audit.release_seen import ReleaseSeen
    from conformance.scenarios.regressions.defect import KnownDefect
    from oracle.rules.rule_set import RuleSet

RECOMMENDED = TopicSettings(min_insync_replicas=2)
"""With three replicas and acks=all."""


@dataclass(frozen=True, slots=True)
class DefectSeen:
    """A known defect that the release has, or may have.

    Attributes:
        rules: of a patch that has it.
        patches: in words, those of the release line that have it; empty if each has, or the release is known.
    """

    defect: KnownDefect
    rules: RuleSet
    patches: str = ""

    @property
    def is_sure(self) -> bool:
        """Return whether the release has it, whichever patch of its line it is."""
        return not self.patches

    @property
    def words(self) -> str:
        """Return what it is, and how sure that the release has it."""
        only = f" ({self.patches} only)" if self.patches else ""
        return f"{self.defect.issue}{only}: {self.defect.symptom}"


@cache
def defects_seen(release: ReleaseSeen, *, has_eligible: bool | None = None) -> tuple[DefectSeen, ...]:
    """Return the defects of the track record that a release has, or may have.

    Args:
        release: what is known of it.
        has_eligible: whether the cluster has eligible leader replicas; None for the release's default.
    """
    if release.line is None:
        return ()
    version, mode = release.line.release.version, release.line.rules.metadata
    patches = (version,) if release.is_named else _patches(version)
    rules = tuple(rules_for(patch, mode, eligible_leader_replicas=has_eligible) for patch in patches)
    return tuple(one for defect in TRACK_RECORD if (one := _seen_in(defect, rules)) is not None)


def _patches(newest: str) -> tuple[str, ...]:
    """Return every patch of a release line, the first one first."""
    line, _, patch = newest.rpartition(".")
    return tuple(f"{line}.{number}" for number in range(int(patch) + 1))


def _seen_in(defect: KnownDefect, patches: tuple[RuleSet, ...]) -> DefectSeen | None:
    """Return a defect that a patch of a line has, with which ones those are; patches between two alike are as they."""
    ends = {_shows(defect, one) for one in (patches[0], patches[-1])}
    if ends == {False}:
        return None
    if ends == {True}:
        return DefectSeen(defect, patches[-1])
    first_has_it = _shows(defect, patches[0])
    change = next(one for one in patches if _shows(defect, one) is not first_has_it)
    if first_has_it:
        return DefectSeen(defect, patches[0], f"patches before {change.version}")
    return DefectSeen(defect, patches[-1], f"patches from {change.version} on")


def unavoidable(audited: Audited) -> tuple[DefectSeen, ...]:
    """Return the defects that a release has, or may have, and that the recommended settings show, too."""
    every = defects_seen(audited.release, has_eligible=audited.has_eligible)
    return tuple(one for one in every if _shows(one.defect, one.rules, RECOMMENDED))


def exposed_defects(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics whose settings expose a defect that the recommended settings do not.

    What a release merely lacks, the check of that setting tells.
    """
    if audited.rules is None:
        yield Unseen("known-defect", "cluster", "the release is not known: name it with --kafka")
    yield from audited.unseen_topics("known-defect")
    replicated = [(one, TopicSettings(one.needed, one.is_unclean)) for one in audited.topics if one.replicas > 1]
    for facts, own in replicated:
        for one in exposed_by(audited.release, own, has_eligible=audited.has_eligible):
            yield AuditFinding(
                "known-defect",
                Severity.HIGH if one.is_sure else Severity.MEDIUM,
                f"topic {facts.name}",
                (setting_ground(MIN_ISR, facts.min_isr), setting_ground(UNCLEAN, facts.unclean)),
                f"{one.words}; shown by {one.defect.command(one.rules.version)}",
                f"Kafka {one.defect.fixed} or newer, or {MIN_ISR}=2 with 3 replicas and {UNCLEAN}=false",
                issue=one.defect.issue,
            )


@cache
def exposed_by(release: ReleaseSeen, own: TopicSettings, *, has_eligible: bool | None = None) -> tuple[DefectSeen, ...]:
    """Return the defects that a topic's settings expose, and that the recommended ones do not."""
    every = defects_seen(release, has_eligible=has_eligible)
    repaired = [one for one in every if one.defect.kind is Kind.REPAIRED]
    avoidable = [one for one in repaired if not _shows(one.defect, one.rules, RECOMMENDED)]
    return tuple(one for one in avoidable if _shows(one.defect, one.rules, own))


def _shows(defect: KnownDefect, rules: RuleSet, settings: TopicSettings | None = None) -> bool:
    """Return whether a release shows a defect that, with these settings, the one which repaired it does not."""
    number, repaired = TRACK_RECORD.index(defect), rules_for(defect.fixed, defect.metadata)
    return _is_shown(number, rules, settings) and not _is_shown(number, repaired, settings)


@cache
def _is_shown(number: int, rules: RuleSet, settings: TopicSettings | None) -> bool:
    """Return whether a defect's own entry shows it, with other settings if they are given and it has a schedule."""
    defect = TRACK_RECORD[number]
    (entry,) = select([defect.scenario])
    if rules.metadata is not defect.metadata or entry.where.reason_not_to_run(rules.version, rules.metadata):
        return False
    if isinstance(entry, Scenario) and settings is not None:
        entry = with_settings(entry, settings)
    try:
        return bool(defect.sign.read(entry, rules) == defect.there)
    except (ScheduleError, StopIteration):
        return False


def with_settings(entry: Scenario, settings: TopicSettings) -> Scenario:
    """Return an entry on a topic with other durability settings; its message format stays."""
    own = replace(
        entry.schedule.settings,
        min_insync_replicas=settings.min_insync_replicas,
        unclean_leader_election=settings.unclean_leader_election,
    )
    return replace(entry, schedule=replace(entry.schedule, settings=own))


CHECKS: tuple[AuditCheck, ...] = (
    AuditCheck("known-defect", "do these settings expose a known defect?", "the track record", exposed_defects),
)
