"""Are real traces allowed by their own release's rules, and refused by those that differ on them?"""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from itertools import permutations, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from oracle.replication.remote import RemoteReplica
from oracle.rules.by_version import rules_for
from oracle.trace_check import TraceCheck, TraceSettings
from oracle.tracing.invariants import Invariant
from oracle.tracing.observed import BrokerEnded, BrokerStarted, LeadershipHeard
from oracle.vocabulary import MetadataMode
from tests.oracle.schedules import TWO
from tests.oracle.tracing.recording import ALL, RECORDED, names, recording

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet

GOLDEN = Path(__file__).parent / "wrong_rules.json"
RELEASES = (
    ("0.10.2.2", "zookeeper"),
    ("0.11.0.3", "zookeeper"),
    ("1.1.1", "zookeeper"),
    ("2.0.0", "zookeeper"),
    ("2.0.1", "zookeeper"),
    ("2.4.1", "zookeeper"),
    ("2.8.0", "zookeeper"),
    ("2.8.2", "zookeeper"),
    ("3.2.3", "zookeeper"),
    ("3.4.1", "kraft"),
    ("3.6.2", "zookeeper"),
    ("3.9.2", "zookeeper"),
    ("3.9.2", "kraft"),
    ("4.3.1", "kraft"),
)
BEHAVIOUR = tuple(invariant for invariant in ALL if invariant is not Invariant.REQUEST_OF_RELEASE)
SIZE_MAX = 60_000


@pytest.mark.parametrize("name", names())
def test_a_real_trace_is_allowed_by_its_own_rules(name: str) -> None:
    report = recording(name).check()
    assert report.violation is None, str(report.violation)
    assert report.partitions == 1
    assert report.not_followed == ()


@pytest.mark.parametrize("name", names())
def test_nobody_is_accused_when_a_broker_dies_by_itself(name: str) -> None:
    """The tester notes only the ends that it brings about; such a broker does not come back."""
    until_a_return = takewhile(lambda event: not isinstance(event, BrokerStarted), recording(name).events)
    report = recording(name).check(event for event in until_a_return if not isinstance(event, BrokerEnded))
    assert report.violation is None, str(report.violation)


def test_every_invariant_was_looked_at() -> None:
    held = dict.fromkeys(Invariant, 0)
    for name in names():
        for invariant, count in recording(name).check().held.items():
            held[invariant] += count
    assert all(held.values()), held


def test_recordings_are_small() -> None:
    assert all(path.stat().st_size < SIZE_MAX for path in RECORDED.iterdir())


@pytest.mark.parametrize("name", names())
def test_wrong_rules_are_refused_where_they_differ(name: str) -> None:
    golden = json.loads(GOLDEN.read_text())
    assert refusals(name) == golden[name]


@cache
def refusals(name: str) -> dict[str, str]:
    """Say for every release at which event its rules refuse a trace, and at which by behaviour alone."""
    found = {}
    for release in RELEASES:
        any_way, by_behaviour = (_refused(name, release, enforced) for enforced in (ALL, BEHAVIOUR))
        found[" ".join(release)] = any_way if any_way == by_behaviour else f"{any_way}; by behaviour {by_behaviour}"
    return found


def _refused(name: str, release: tuple[str, str], enforced: tuple[Invariant, ...]) -> str:
    report = recording(name).check(rules_of=release, enforced=enforced)
    if report.violation is None:
        return "allowed"
    place = sum(report.events.values()) - 1
    return f"{report.violation.invariant.name.lower()} at event {place}"


@pytest.mark.parametrize("name", names())
def test_rules_of_other_releases_are_told_apart(name: str) -> None:
    """The rules of every release that speaks other requests are refused."""
    own = recording(name)
    allowed = {release for release, found in refusals(name).items() if found.startswith("allowed")}
    assert f"{own.kafka} {own.metadata.value}" in allowed
    assert {release.split()[0][:3] for release in allowed} == {own.kafka[:3]}


@pytest.mark.parametrize(
    ("name", "fixed_in", "invariant"),
    [
        ("2.0.0-zookeeper-without-epoch-entry", "2.0.1", Invariant.EPOCH_ANSWER),
        ("2.8.0-zookeeper-diverging-fetch", "2.8.2", Invariant.ISR_EXPANSION),
        ("2.4.1-zookeeper-divergence", "1.1.1", Invariant.EPOCH_ANSWER),
        ("3.6.2-zookeeper-below-min-isr", "3.9.2", Invariant.FROZEN_HIGH_WATERMARK),
        ("3.9.2-zookeeper-below-min-isr", "3.6.2", Invariant.HIGH_WATERMARK_OF_LEADER),
    ],
)
def test_one_changed_rule_is_told_apart_by_behaviour(name: str, fixed_in: str, invariant: Invariant) -> None:
    report = recording(name).check(rules_of=(fixed_in, "zookeeper"), enforced=BEHAVIOUR)
    assert report.violation is not None
    assert report.violation.invariant is invariant, str(report.violation)


NEVER_REFUSED = {
    ("3.9.2 zookeeper", "3.9.2 kraft"): "a broker in KRaft mode may skip decisions, and none has to",
}
"""The releases whose traces another release's rules allow whatever was recorded, and why."""


def test_every_wrong_rule_is_refused_on_some_trace() -> None:
    refused = {
        (f"{recording(name).kafka} {recording(name).metadata.value}", release)
        for name in names()
        for release, found in refusals(name).items()
        if not found.startswith("allowed")
    }
    every = set(permutations((" ".join(release) for release in RELEASES), 2))
    assert every - refused == set(NEVER_REFUSED)


class Read:
    """A rule set that notes what is read of it."""

    def __init__(self, rules: RuleSet) -> None:
        """Read a rule set."""
        self.names: set[str] = set()
        self._rules = rules

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the rule set has
        """Note the name, and give what the rule set has."""
        self.names.add(name)
        return getattr(self._rules, name)


def test_what_zookeeper_mode_allows_kraft_mode_allows() -> None:
    """Why the one pair is never refused: of what differs a replay reads little, and that only allows more.

    The leader is not followed in what it knows of a follower's broker epoch (Partition.isReplicaIsrEligible), so that
    both modes wait for the same; and no broker in ZooKeeper mode hears that nobody leads.
    """
    zookeeper, kraft = (rules_for("3.9.2", mode) for mode in (MetadataMode.ZOOKEEPER, MetadataMode.KRAFT))
    read = Read(zookeeper)
    for name in names():
        if name.startswith("3.9.2-zookeeper-"):
            own = recording(name)
            check = TraceCheck(cast("RuleSet", read), TraceSettings(lag_time_max_ms=own.lag_time_max_ms))
            assert all(check.feed(event) is None for event in own.events)
            assert all(event.leader is not None for event in own.events if isinstance(event, LeadershipHeard))
    differ = {field.name for field in fields(kraft) if getattr(kraft, field.name) != getattr(zookeeper, field.name)}
    assert differ & read.names <= {"metadata", "delivery", "waits_for_caught_up", "rules"}
    assert (zookeeper.delivery.merges, kraft.delivery.merges) == (False, True)
    asked = [(RemoteReplica(TWO, is_caught_up=True, is_this_incarnation=True), is_there) for is_there in (False, True)]
    assert [zookeeper.waits_for_caught_up(*one) for one in asked] == [kraft.waits_for_caught_up(*one) for one in asked]


def write_golden() -> None:
    """Write the table anew: python -c "from tests.oracle.tracing.test_recorded import *; write_golden()"."""
    table = {name: refusals(name) for name in names()}
    GOLDEN.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
