"""Which findings can be demonstrated, and by what? A story told twice: with the settings as they are, and mended.

What a demonstration must show is asked of the prediction, before a broker starts: the harm in the first telling, none
in the second. What shows nothing on a release is refused with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from conformance.audit import stories
from conformance.audit.audited import ELIGIBLE_FEATURE
from conformance.audit.cluster import MIN_ISR, UNCLEAN
from conformance.audit.shown import Harm, harmed, told
from conformance.audit.stories import Story, TopicCase
from conformance.catalogue.scenario import Scenario
from conformance.line import Line, held_against
from conformance.scenarios.vocabulary import brokers
from oracle.predict import NotOnReleaseError, predict
from oracle.rules.by_version import rules_for, with_eligible_leader_replicas
from oracle.rules.unclean_election import heeded, why_unheeded
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.step import ScheduleError
from oracle.vocabulary import Acks, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from conformance.catalogue.examination import Entry
    from oracle.rules.rule_set import RuleSet

AS_READ, MENDED = "as-read", "mended"


class NothingToShowError(Exception):
    """A demonstration that would show nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A story that is told on brokers, or a script of transactions, and what it must show.

    Attributes:
        line: what the brokers run, and by whose rules they are judged.
        settings: the topic's or the cluster's, in words.
        shows: what the model says becomes of the records.
        features: the levels that the cluster is formatted with, beside the release's own.
    """

    line: Line
    entry: Entry
    settings: str
    shows: str
    features: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Twins:
    """One story with the settings as they are, which does the harm, and with the mended ones, which does not."""

    as_read: Telling
    mended: Telling


@dataclass(frozen=True, slots=True)
class Demonstration:
    """How a check's finding is demonstrated.

    Attributes:
        story: the steps, given the topic.
        harm: what the story shows with the topic as it is, and not with the mended one.
        mended: returns the topic as the finding would have it.
        example: a topic that has the finding.
        needs_eligible: whether it is about eligible leader replicas, which the release must have.
    """

    story: Story
    harm: Harm
    mended: Callable[[TopicCase], TopicCase]
    example: TopicCase
    needs_eligible: bool = False

    def twins(self, check: str, case: TopicCase, line: Line) -> Twins:
        """Return both tellings of a check's story.

        Raises:
            NothingToShowError: the story does no harm on this release, or with the mended settings, too.
        """
        mended = self.mended(case)
        if self.needs_eligible and not has_eligible_feature(line):
            raise NothingToShowError(f"Kafka {line.text} has no eligible leader replicas")
        first, does_harm = self._telling(f"audit/{check}-{AS_READ}", case, line, words(case))
        if not does_harm:
            raise NothingToShowError(f"{_reason(case, first.line.rules)}: {first.shows}")
        second, does_harm = self._telling(f"audit/{check}-{MENDED}", mended, line, difference(case, mended))
        if does_harm:
            raise NothingToShowError(f"with {second.settings} it is the same on Kafka {line.text}: {second.shows}")
        return Twins(first, second)

    def _telling(self, name: str, case: TopicCase, line: Line, settings: str) -> tuple[Telling, bool]:
        """Return a telling, and whether it does the harm."""
        judged, features = _as_formatted(line, case)
        schedule = Schedule(
            id=name,
            requirement="",
            sources=("audit",),
            replicas=brokers(*case.everybody),
            settings=TopicSettings(case.min_isr, case.unclean),
            steps=self.story(case),
        )
        try:
            prediction = predict(schedule, judged.rules)
        except (ScheduleError, NotOnReleaseError) as error:
            raise NothingToShowError(f"with {settings} it cannot be shown on Kafka {line.text}: {error}") from error
        shows = told(prediction)
        schedule = replace(schedule, requirement=f"With {settings}: {shows}.")
        entry = Scenario(name, schedule, "What a finding of an audit comes to: the same steps as read, and mended.")
        return Telling(judged, entry, settings, shows, features), bool(harmed(prediction, self.harm))


def has_eligible_feature(line: Line) -> bool:
    """Return whether clusters of a release can have eligible leader replicas (KIP-966)."""
    version, mode = line.release.version, MetadataMode(line.metadata.value)
    on, off = (rules_for(version, mode, eligible_leader_replicas=each) for each in (True, False))
    return on != off


def _as_formatted(line: Line, case: TopicCase) -> tuple[Line, dict[str, int]]:
    """Return a line by the rules of a cluster that is formatted as the topic's, and the level that it is given then."""
    if case.eligible is None:
        return line, {}
    version, mode = line.release.version, MetadataMode(line.metadata.value)
    named = with_eligible_leader_replicas(version, mode, are_on=case.eligible)
    return (line, {}) if named == version else (held_against(line, named), {ELIGIBLE_FEATURE: int(case.eligible)})


def _reason(case: TopicCase, rules: RuleSet) -> str:
    if case.unclean and heeded(rules.election) is not rules.election:
        return f"nothing to show, as {why_unheeded(rules.version)}"
    return f"nothing to show on Kafka {rules.version} ({rules.metadata.value}) with {words(case)}"


# How are a topic's settings told? What is usual only where it is mended; replicas and the minimum always.


def words(case: TopicCase) -> str:
    """Return a topic's settings in words."""
    usual = _words(TopicCase())
    told_always = ("replicas", MIN_ISR)
    return ", ".join(said for name, said in _words(case).items() if name in told_always or said != usual[name])


def difference(case: TopicCase, mended: TopicCase) -> str:
    """Return in words what a mended topic has otherwise."""
    before = _words(case)
    return ", ".join(said for name, said in _words(mended).items() if said != before[name])


def _words(case: TopicCase) -> dict[str, str]:
    is_away, level = bool(case.away), "as by default" if case.eligible is None else str(int(case.eligible))
    return {
        "replicas": f"replication factor {case.replicas}",
        MIN_ISR: f"{MIN_ISR}={case.min_isr}",
        UNCLEAN: f"{UNCLEAN}={str(case.unclean).lower()}",
        "acks": f"acks={'all' if case.acks is Acks.ALL else int(case.acks)}",
        ELIGIBLE_FEATURE: f"{ELIGIBLE_FEATURE}={level}",
        "away": f"{case.away} of {case.replicas} replicas away" if is_away else "every replica back in sync",
        "power": "replicas in rooms of their own" if case.is_spread else _ROOMS[case.is_spread],
    }


_ROOMS = {None: "", False: "all replicas in one room"}


def everyone_is_back(case: TopicCase) -> TopicCase:
    """Return the topic with every replica in sync."""
    return replace(case, away=0)


def _spread(case: TopicCase) -> TopicCase:
    return replace(case, is_spread=True)


def _one_less(case: TopicCase) -> TopicCase:
    return replace(case, min_isr=max(1, case.replicas - 1))


DEMONSTRATIONS: dict[str, Demonstration] = {
    "replication-factor-1": Demonstration(
        stories.only_disk_is_lost, Harm.LOSS, lambda case: replace(case, replicas=3), TopicCase(1, 1)
    ),
    "replicas-nowhere": Demonstration(
        stories.failures_that_it_should_bear, Harm.BLOCK, everyone_is_back, TopicCase(3, 2, away=1)
    ),
    "weak-acks": Demonstration(
        stories.leader_dies_ahead,
        Harm.LOSS,
        lambda case: replace(case, acks=Acks.ALL),
        TopicCase(3, 2, acks=Acks.LEADER),
    ),
    "min-isr-1": Demonstration(
        stories.lone_leader_forgets, Harm.LOSS, lambda case: replace(case, min_isr=2), TopicCase(3, 1)
    ),
    "min-isr-equals-replicas": Demonstration(stories.one_restart, Harm.BLOCK, _one_less, TopicCase(3, 3)),
    "min-isr-above-replicas": Demonstration(stories.one_restart, Harm.BLOCK, _one_less, TopicCase(3, 4)),
    "two-replicas": Demonstration(
        stories.one_of_two_is_down, Harm.BLOCK, lambda case: replace(case, replicas=3, min_isr=2), TopicCase(2, 1)
    ),
    "one-rack": Demonstration(stories.power_fails, Harm.LOSS, _spread, TopicCase(3, 2, is_spread=False)),
    "unflushed-in-one-room": Demonstration(stories.power_fails, Harm.LOSS, _spread, TopicCase(3, 2, is_spread=False)),
    "unclean-election": Demonstration(
        stories.first_to_crash_is_back_first,
        Harm.LOSS,
        lambda case: replace(case, unclean=False),
        TopicCase(3, 2, unclean=True),
    ),
    "eligible-replicas-off": Demonstration(
        stories.last_in_sync_forgets,
        Harm.LOSS,
        lambda case: replace(case, eligible=True),
        TopicCase(3, 2, eligible=False),
        needs_eligible=True,
    ),
    "offline": Demonstration(stories.nobody_may_lead, Harm.BLOCK, everyone_is_back, TopicCase(3, 2, away=1)),
    "on-eligible-replicas": Demonstration(
        stories.eligible_is_away,
        Harm.BLOCK,
        everyone_is_back,
        TopicCase(3, 2, eligible=True, away=1),
        needs_eligible=True,
    ),
    "under-min-isr": Demonstration(stories.producing_now, Harm.BLOCK, everyone_is_back, TopicCase(3, 2, away=2)),
    "at-min-isr": Demonstration(stories.next_failure, Harm.BLOCK, everyone_is_back, TopicCase(3, 2, away=1)),
    "roll-margin": Demonstration(stories.failure_in_a_roll, Harm.BLOCK, everyone_is_back, TopicCase(3, 1, away=1)),
}
"""By the ids of checks; ``demonstrated_defects`` has those that the catalogue has entries of."""

OWN_TOPIC = "Kafka's own topics are written by brokers: replication-factor-1 and min-isr-1 show the same on a topic"
NOT_DEMONSTRATED: dict[str, str] = {
    "replication-factor-below-norm": "it bears fewer failures, and loses nothing by that alone",
    "unclean-transactions": (
        "run TX-12 shows it on brokers of the release; the example of unclean-election shows that records are lost"
    ),
    "broker-min-isr-unheeded": "the tester sets min.insync.replicas on topics; min-isr-1 shows what the value loses",
    "internal-topics": OWN_TOPIC,
    "auto-create": "no record is lost by it alone; replication-factor-1 shows what such a topic loses",
    "controller-quorum": "a demonstration's cluster has one controller",
    "log-directory-offline": "the tester's brokers have one log directory, and end with it",
    "lag-time": "it decides for how long; weak-acks shows what is lost meanwhile",
    "mixed-versions": "the tester's clusters are of one release",
}
"""Checks that no demonstration shows, and why."""
