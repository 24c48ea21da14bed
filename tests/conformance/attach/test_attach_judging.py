"""What do losses, duplicates and orders mean for what the settings promise? Each rule, and what turns it over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.attach.judging import AttachEvidence, judge_attached
from conformance.record.attached import Attached, Counted, PartitionCounted, PartitionWatched, Promised, SettingsWatched
from conformance.record.fault_commands import CommandRun, FaultCommand
from oracle.vocabulary import Acks

CLASSES = ("lost", "phantom", "value_changed", "duplicated", "resurrected", "moved", "reordered", "deleted")
CLEAN = SettingsWatched(0, {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"})
UNCLEAN = SettingsWatched(5, {"min.insync.replicas": "2", "unclean.leader.election.enable": "true"})
HIDDEN = SettingsWatched(0, {}, "not allowed to see: DescribeConfigs was refused")
LED = PartitionWatched(1, 0, 1, 4, (1, 2, 3), 1, 100)
ELECTED = PartitionWatched(2, 0, 2, 5, (2, 3), 1, 90)
ATTACHED = Attached("b:1", "t", 1, 3, -1, True, 0, 100, 0, is_at_rest=True)


def evidence(*, watched: tuple[PartitionWatched, ...] = (LED, ELECTED), **changes: object) -> AttachEvidence:
    """Return 100 records, of which 90 were acknowledged, with some in classes beside."""
    classes = {name: changes.pop(name) for name in CLASSES if name in changes}
    settings = changes.pop("settings", (CLEAN,))
    outcomes = {"acknowledged": changes.pop("acknowledged", 90)}
    holds = changes.pop("identity_holds", True)
    counted = Counted((PartitionCounted(0, 100, 90, outcomes, classes, {}),), (), 0, holds)
    return AttachEvidence(replace(ATTACHED, **changes), counted, watched, settings)


@pytest.mark.parametrize(
    ("changes", "promise"),
    [
        ({}, Promised.KEPT),
        ({"lost": 3}, Promised.BROKEN),
        ({"lost": 3, "settings": (CLEAN, UNCLEAN)}, Promised.ALLOWED_BY_SETTINGS),
        ({"lost": 3, "settings": (UNCLEAN,), "watched": (LED,)}, Promised.BROKEN),
        ({"lost": 3, "settings": (HIDDEN,)}, Promised.INCONCLUSIVE),
        ({"lost": 3, "settings": ()}, Promised.INCONCLUSIVE),
        ({"lost": 3, "settings": (CLEAN, HIDDEN)}, Promised.BROKEN),
        ({"lost": 3, "settings": (SettingsWatched(0, {"min.insync.replicas": "2"}),)}, Promised.INCONCLUSIVE),
        ({"reordered": 1}, Promised.BROKEN),
        ({"moved": 1, "is_idempotent": False}, Promised.ALLOWED_BY_SETTINGS),
        ({"value_changed": 1, "is_idempotent": False}, Promised.BROKEN),
        ({"resurrected": 1, "is_idempotent": False}, Promised.BROKEN),
        ({"settings": (HIDDEN,)}, Promised.KEPT),
        ({"lost": 3, "acks": 1}, Promised.ALLOWED_BY_SETTINGS),
        ({"lost": 3, "acks": 1, "watched": (LED,)}, Promised.BROKEN),
        ({"lost": 3, "acks": 1, "watched": (replace(LED, leader_epoch=None),)}, Promised.INCONCLUSIVE),
        ({"lost": 3, "acks": 1, "watched": (LED, replace(LED, leader_epoch=5))}, Promised.INCONCLUSIVE),
        ({"duplicated": 1}, Promised.BROKEN),
        ({"duplicated": 1, "is_idempotent": False}, Promised.ALLOWED_BY_SETTINGS),
        ({"duplicated": 1, "is_idempotent": False, "phantom": 1}, Promised.BROKEN),
        ({"deleted": 4}, Promised.ALLOWED_BY_SETTINGS),
        ({"acks": 0, "acknowledged": 0}, Promised.NONE),
        ({"acknowledged": 0}, Promised.INCONCLUSIVE),
        ({"is_at_rest": False}, Promised.INCONCLUSIVE),
        ({"is_at_rest": False, "phantom": 1}, Promised.BROKEN),
        ({"is_at_rest": False, "lost": 1}, Promised.INCONCLUSIVE),
        ({"identity_holds": False, "lost": 3}, Promised.INCONCLUSIVE),
    ],
)
def test_what_is_found_means_what_was_promised(changes: dict[str, object], promise: Promised) -> None:
    verdict = judge_attached(evidence(**changes))
    assert verdict.promise is promise, verdict
    assert verdict.reason


@pytest.mark.parametrize(
    ("watched", "what"),
    [
        ((LED, replace(LED, high_watermark=99)), "high_watermark_fell"),
        ((ELECTED, replace(ELECTED, leader_epoch=4, leader=1)), "leader_epoch_fell"),
    ],
)
def test_what_clients_see_never_falls(watched: tuple[PartitionWatched, ...], what: str) -> None:
    verdict = judge_attached(evidence(watched=watched))
    assert verdict.promise is Promised.BROKEN
    assert [one.what for one in verdict.judged if one.verdict is Promised.BROKEN] == [what]


@pytest.mark.parametrize(
    "watched",
    [
        (LED, replace(LED, high_watermark=99, leader_epoch=5)),
        (LED, replace(LED, high_watermark=None)),
        (ELECTED, replace(ELECTED, leader_epoch=4, leader=1, told_by=3)),
        (LED, replace(LED, high_watermark=99, partition=1)),
    ],
    ids=["in another epoch", "not told", "by another broker", "of another partition"],
)
def test_what_may_fall_is_not_held_against_a_cluster(watched: tuple[PartitionWatched, ...]) -> None:
    assert judge_attached(evidence(watched=watched)).promise is Promised.KEPT


def test_what_a_release_does_not_tell_is_said() -> None:
    old = replace(LED, leader_epoch=None)
    verdict = judge_attached(evidence(watched=(old, replace(old, high_watermark=3))))
    assert [one.what for one in verdict.judged if one.verdict is Promised.UNSEEN] == ["leader_epoch_fell"]
    assert verdict.promise is Promised.KEPT


def test_a_change_of_settings_meanwhile_is_part_of_the_verdict() -> None:
    verdict = judge_attached(evidence(settings=(CLEAN, CLEAN, UNCLEAN)))
    assert [line for line in verdict.rests_on if "changed meanwhile" in line and line.count("; then ") == 1]


def test_acks_are_told_as_producers_have_them() -> None:
    assert [replace(ATTACHED, acks=int(acks)).acks_word for acks in (Acks.ALL, Acks.LEADER, Acks.NONE)] == [
        "all",
        "1",
        "0",
    ]


def test_a_verdict_rests_on_the_commands_that_ran_and_names_those_that_did_not() -> None:
    given = [FaultCommand(command, at) for command, at in (("kill b", 1), ("hang", 2), ("start b", 40))]
    ran = [CommandRun("kill b", 0, 1, 1, "command-001.log"), CommandRun("hang", 0, 1, None, "command-002.log")]
    lines = judge_attached(replace(evidence(), commands=ran, given=given)).rests_on
    assert "2 commands were run against the cluster, 1 of them failed" in lines
    assert "commands that had not ended long after the ledger were ended: 'hang'" in lines
    assert "1 of 3 commands were not run, or not to their end: 'start b' (due at 40 s)" in lines
    assert not [
        line
        for line in judge_attached(replace(evidence(), commands=ran, given=given[:2])).rests_on
        if "not run" in line
    ]
