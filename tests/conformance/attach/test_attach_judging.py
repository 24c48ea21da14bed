"""What do losses, duplicates and orders mean for what the settings promise? Each rule, and what turns it over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.attach.evidence import AttachEvidence
from conformance.attach.judging import judge_attached
from conformance.record.attached import Attached, EpochEndTold, PartitionWatched, Promised, SettingsWatched
from conformance.record.attached_counted import Counted, LossTimes, PartitionCounted
from conformance.record.fault_commands import CommandRun, FaultCommand
from oracle.vocabulary import Acks

CLASSES = ("lost", "phantom", "value_changed", "duplicated", "resurrected", "moved", "reordered", "deleted")
UNCLEAN_NAME = "unclean.leader.election.enable"
FOREVER = {"cleanup.policy": "delete", "retention.bytes": "-1", "retention.ms": "-1"}
CLEAN = SettingsWatched(0, {**FOREVER, UNCLEAN_NAME: "false"}, sources={UNCLEAN_NAME: "topic"})
UNCLEAN = SettingsWatched(5, {**FOREVER, UNCLEAN_NAME: "true"}, sources={UNCLEAN_NAME: "topic"})
A_DAY = replace(CLEAN, values={**CLEAN.values, "retention.ms": "86400000"})
A_MOMENT = replace(CLEAN, values={**CLEAN.values, "retention.ms": "1"})
SOME_BYTES = replace(CLEAN, values={**CLEAN.values, "retention.bytes": "1000"})
BYTES_NOT_TOLD = replace(CLEAN, values={**CLEAN.values, "retention.bytes": None})
IN_A_FILE = replace(CLEAN, sources={UNCLEAN_NAME: "server.properties"})
BUILT_IN = replace(UNCLEAN, sources={UNCLEAN_NAME: "built-in"}, is_kraft=True)
A_DEFAULT = replace(CLEAN, sources={UNCLEAN_NAME: "cluster default"}, is_kraft=True)
ZOOKEEPER = replace(IN_A_FILE, is_kraft=False, unclean_by_broker={1: "false", 2: "false"})
HIDDEN = SettingsWatched(0, {}, "not allowed to see: DescribeConfigs was refused")
LED = PartitionWatched(1, 0, 1, 4, (1, 2, 3), 1, 100)
MS = 1_000_000
ELECTED = PartitionWatched(20 * MS, 0, 2, 5, (2, 3), 1, 90)
OF_A_ZOMBIE = replace(LED, at_ns=30 * MS, told_by=3)
OLD_LED, OLD_ELECTED = replace(LED, leader_epoch=None), replace(ELECTED, leader_epoch=None)
OLD_STALE = replace(OLD_LED, at_ns=30 * MS, told_by=3)
ATTACHED = Attached("b:1", "t", 1, 3, -1, True, 0, 100, 0, is_at_rest=True, topic_id="id")
LOST = {"lost": 3}
TIMED_OUT = {"errors": {"_MSG_TIMED_OUT": 2}}


def evidence(*, watched: tuple[PartitionWatched, ...] = (LED, ELECTED), **changes: object) -> AttachEvidence:
    """Return 100 records, of which 90 were acknowledged, with some in classes beside."""
    classes = {name: changes.pop(name) for name in CLASSES if name in changes}
    settings = changes.pop("settings", (CLEAN,))
    outcomes = {"acknowledged": changes.pop("acknowledged", 90), "indeterminate": changes.pop("indeterminate", 0)}
    holds, ends = changes.pop("identity_holds", True), changes.pop("epoch_ends", ())
    losses = LossTimes(changes.pop("lost_at", 1), changes.pop("is_first_lost", False)) if "lost" in classes else None
    more = {name: changes.pop(name) for name in ("errors", "unplaced") if name in changes}
    counted = Counted((PartitionCounted(0, 100, 90, outcomes, classes, {}, losses=losses, **more),), (), 0, holds)
    return AttachEvidence(replace(ATTACHED, **changes), counted, watched, settings, epoch_ends=ends)


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
        ({**LOST, "settings": (UNCLEAN,), "lost_at": 21 * MS}, Promised.INCONCLUSIVE),
        ({**LOST, "settings": (A_DEFAULT,)}, Promised.BROKEN),
        ({**LOST, "settings": (IN_A_FILE,)}, Promised.INCONCLUSIVE),
        ({**LOST, "settings": (replace(IN_A_FILE, is_kraft=True),)}, Promised.INCONCLUSIVE),
        ({**LOST, "settings": (BUILT_IN,)}, Promised.INCONCLUSIVE),
        ({**LOST, "settings": (ZOOKEEPER,)}, Promised.BROKEN),
        (
            {**LOST, "settings": (replace(ZOOKEEPER, at_ns=5, unclean_by_broker={1: "false", 2: "true"}),)},
            Promised.INCONCLUSIVE,
        ),
        (
            {**LOST, "settings": (replace(ZOOKEEPER, at_ns=5, unclean_by_broker={1: "true", 2: "true", 3: None}),)},
            Promised.ALLOWED_BY_SETTINGS,
        ),
        (
            {**LOST, "settings": (replace(ZOOKEEPER, at_ns=5, is_kraft=None, unclean_by_broker={1: "true"}),)},
            Promised.INCONCLUSIVE,
        ),
        ({**LOST, "settings": (replace(ZOOKEEPER, unclean_by_broker={1: "false", 2: None}),)}, Promised.INCONCLUSIVE),
        (
            {**LOST, "settings": (replace(ZOOKEEPER, unclean_by_broker={1: None, 2: "false"}), ZOOKEEPER)},
            Promised.BROKEN,
        ),
        ({**LOST, "is_first_lost": True}, Promised.BROKEN),
        ({**LOST, "is_first_lost": True, "topic_id": None}, Promised.INCONCLUSIVE),
        ({**LOST, "topic_id": None}, Promised.BROKEN),
        ({**LOST, "is_first_lost": True, "topic_id": None, "phantom": 1}, Promised.BROKEN),
        ({"reordered": 1}, Promised.BROKEN),
        ({"moved": 1, "is_idempotent": False}, Promised.ALLOWED_BY_SETTINGS),
        ({"value_changed": 1, "is_idempotent": False}, Promised.BROKEN),
        ({"resurrected": 1, "is_idempotent": False}, Promised.BROKEN),
        ({"settings": (HIDDEN,)}, Promised.KEPT),
        ({"lost": 3, "acks": 1}, Promised.ALLOWED_BY_SETTINGS),
        ({"lost": 3, "acks": 1, "lost_at": 21 * MS}, Promised.INCONCLUSIVE),
        ({"lost": 3, "acks": 1, "lost_at": 21 * MS, "watched": (LED, ELECTED, OF_A_ZOMBIE)}, Promised.INCONCLUSIVE),
        ({"lost": 3, "acks": 1, "watched": (LED,)}, Promised.BROKEN),
        ({"lost": 3, "acks": 1, "watched": (replace(LED, leader_epoch=None),)}, Promised.INCONCLUSIVE),
        ({"lost": 3, "acks": 1, "watched": (OLD_LED, OLD_ELECTED)}, Promised.ALLOWED_BY_SETTINGS),
        (
            {"lost": 3, "acks": 1, "lost_at": 25 * MS, "watched": (OLD_LED, OLD_ELECTED, OLD_STALE)},
            Promised.INCONCLUSIVE,
        ),
        ({"lost": 3, "acks": 1, "watched": (LED, replace(LED, leader_epoch=5))}, Promised.INCONCLUSIVE),
        ({"duplicated": 1}, Promised.BROKEN),
        ({"duplicated": 1, **TIMED_OUT}, Promised.INCONCLUSIVE),
        ({"moved": 1, **TIMED_OUT}, Promised.INCONCLUSIVE),
        ({"reordered": 1, **TIMED_OUT}, Promised.INCONCLUSIVE),
        ({"reordered": 1, "errors": {"_PURGE_INFLIGHT": 2}}, Promised.BROKEN),
        ({"duplicated": 3, "indeterminate": 40}, Promised.INCONCLUSIVE),
        ({"duplicated": 3, "indeterminate": 40, "is_idempotent": False}, Promised.ALLOWED_BY_SETTINGS),
        ({"moved": 1, "indeterminate": 3, "errors": {"_PURGE_INFLIGHT": 2}}, Promised.INCONCLUSIVE),
        ({"moved": 1, "indeterminate": 2, "errors": {"_PURGE_INFLIGHT": 2}}, Promised.BROKEN),
        ({"indeterminate": 40}, Promised.KEPT),
        ({"value_changed": 1, **TIMED_OUT}, Promised.BROKEN),
        (TIMED_OUT, Promised.KEPT),
        ({"duplicated": 1, "is_idempotent": False}, Promised.ALLOWED_BY_SETTINGS),
        ({"duplicated": 1, "is_idempotent": False, "phantom": 1}, Promised.BROKEN),
        ({"deleted": 4}, Promised.INCONCLUSIVE),
        ({"deleted": 4, "settings": (A_DAY,)}, Promised.INCONCLUSIVE),
        ({"deleted": 4, "settings": (A_MOMENT,)}, Promised.ALLOWED_BY_SETTINGS),
        ({"deleted": 4, "settings": (CLEAN, A_MOMENT)}, Promised.ALLOWED_BY_SETTINGS),
        ({"deleted": 4, "settings": (SOME_BYTES,)}, Promised.ALLOWED_BY_SETTINGS),
        ({"deleted": 4, "settings": (BYTES_NOT_TOLD,)}, Promised.INCONCLUSIVE),
        ({"deleted": 4, "settings": (SOME_BYTES,), "is_own": True, "ends": (5,)}, Promised.INCONCLUSIVE),
        ({"deleted": 4, "settings": (SOME_BYTES,), "is_own": True, "ends": (6,)}, Promised.ALLOWED_BY_SETTINGS),
        (
            {"deleted": 4, "settings": (SOME_BYTES,), "is_own": True, "ends": (5,), "beside_others": True},
            Promised.ALLOWED_BY_SETTINGS,
        ),
        ({"deleted": 4, "settings": (HIDDEN,)}, Promised.INCONCLUSIVE),
        ({"deleted": 4, "unplaced": 4, "settings": (A_MOMENT,)}, Promised.INCONCLUSIVE),
        ({"acks": 0, "acknowledged": 0}, Promised.NONE),
        ({"acknowledged": 0}, Promised.INCONCLUSIVE),
        ({"is_at_rest": False}, Promised.INCONCLUSIVE),
        ({"epoch_ends": (EpochEndTold(0, 4, 100), EpochEndTold(0, 5, 120))}, Promised.KEPT),
        ({"epoch_ends": (EpochEndTold(0, 4, 99), EpochEndTold(0, 5, 120))}, Promised.BROKEN),
        ({"epoch_ends": (EpochEndTold(0, 4, 120), EpochEndTold(0, 5, 119))}, Promised.BROKEN),
        (
            {"epoch_ends": (EpochEndTold(0, 4, 120), EpochEndTold(0, 5, 119)), "is_at_rest": False},
            Promised.INCONCLUSIVE,
        ),
        (
            {"epoch_ends": (EpochEndTold(0, 4, 99), EpochEndTold(0, 5, 120)), "settings": (UNCLEAN,)},
            Promised.ALLOWED_BY_SETTINGS,
        ),
        (
            {"epoch_ends": (EpochEndTold(0, 4, 99), EpochEndTold(0, 5, 120)), "settings": (HIDDEN,)},
            Promised.INCONCLUSIVE,
        ),
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
        (replace(ELECTED, told_by=-1), replace(ELECTED, leader_epoch=4, leader=1, told_by=-1)),
    ],
    ids=["in another epoch", "not told", "by another broker", "of another partition", "by who is not known"],
)
def test_what_may_fall_is_not_held_against_a_cluster(watched: tuple[PartitionWatched, ...]) -> None:
    assert judge_attached(evidence(watched=watched)).promise is Promised.KEPT


def test_what_a_release_does_not_tell_is_said() -> None:
    old = replace(LED, leader_epoch=None)
    verdict = judge_attached(evidence(watched=(old, replace(old, high_watermark=3))))
    unseen = [one.what for one in verdict.judged if one.verdict is Promised.UNSEEN]
    assert unseen == ["high_watermark_fell", "leader_epoch_fell", "epoch_ends_disagree"]
    assert verdict.promise is Promised.KEPT


def test_a_change_of_settings_meanwhile_is_part_of_the_verdict() -> None:
    verdict = judge_attached(evidence(settings=(CLEAN, CLEAN, UNCLEAN)))
    assert [line for line in verdict.rests_on if "changed meanwhile" in line and line.count("; then ") == 1]


def test_retention_by_bytes_that_is_not_told_is_not_taken_for_off() -> None:
    reason = judge_attached(evidence(deleted=4, settings=(BYTES_NOT_TOLD,))).reason
    assert "whether retention is on cannot be seen here" in reason


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
    assert not [line for line in lines if "end is not known" in line]
    assert "2 commands were run against the cluster, 1 of them failed" in lines
    assert "commands that had not ended long after the ledger were ended: 'hang'" in lines
    assert "1 of 3 commands were not run: 'start b' (due at 40 s)" in lines
    assert not [
        line
        for line in judge_attached(replace(evidence(), commands=ran, given=given[:2])).rests_on
        if "not run" in line
    ]


def test_a_command_that_was_running_when_the_tester_ended_was_neither_ended_nor_not_run() -> None:
    begun = CommandRun("kill b", 0, None, None, "command-001.log")
    lines = judge_attached(replace(evidence(), commands=[begun], given=[FaultCommand("kill b", 1)])).rests_on
    assert "commands begun whose end is not known, since the tester ended first: 'kill b'" in lines
    assert not [line for line in lines if "were ended" in line or "not run" in line]


def test_partitions_of_other_replication_factors_are_told() -> None:
    looks = (replace(LED, assigned=(1, 2, 3)), replace(LED, partition=1, assigned=(1, 2)))
    lines = judge_attached(evidence(watched=looks, partitions=2)).rests_on
    assert "acks=all, idempotent, 2 to 3 replicas of each of 2 partitions" in lines
    assert "acks=all, idempotent, 3 replicas of each of 1 partitions" in judge_attached(evidence()).rests_on


def test_why_a_ledger_is_not_at_rest_is_the_reason() -> None:
    unread = "partition 0 has records beyond the high watermark"
    verdict = judge_attached(evidence(is_at_rest=False, unread=unread))
    assert verdict.reason == f"{unread}: go on with --resume when the cluster is whole"


def test_what_brokers_do_not_tell_and_whose_value_holds_is_part_of_the_verdict() -> None:
    verdict = judge_attached(evidence(settings=(BUILT_IN,), not_told=("a topic id: whether",)))
    assert "cannot be told here: a topic id: whether" in verdict.rests_on
    assert [line for line in verdict.rests_on if f"{UNCLEAN_NAME}=true (built-in)" in line]


def test_a_ledger_beside_which_nothing_was_seen_to_break_says_so() -> None:
    whole = "no replica was seen out of sync and no leader changed: nothing was seen to break"
    assert whole in judge_attached(evidence(watched=(LED, LED))).rests_on
    assert whole not in judge_attached(evidence()).rests_on
    assert whole not in judge_attached(evidence(watched=(LED, replace(LED, at_ns=LED.at_ns + 60_000 * MS)))).rests_on
    assert whole not in judge_attached(evidence(watched=(LED, replace(LED, isr=LED.isr[:1])))).rests_on


def test_what_is_lost_is_counted_in_the_reason_with_what_that_means() -> None:
    assert judge_attached(evidence(lost=3)).reason.startswith("3 lost (acknowledged, and not there): ")
