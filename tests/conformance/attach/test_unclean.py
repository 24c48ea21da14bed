"""Which looks at settings excuse a loss, and which accuse? Those of when it can have come about, if there were any."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.attach.judging import judge_attached
from conformance.attach.unclean import GAP_S, SUPPOSED_S
from conformance.record.attached import AttachVerdict, EpochEndTold, Promised, SettingsWatched
from conformance.record.fault_commands import CommandRun, FaultCommand
from tests.conformance.attach.test_attach_judging import (
    CLEAN,
    ELECTED,
    HIDDEN,
    LED,
    MS,
    UNCLEAN,
    UNCLEAN_NAME,
    ZOOKEEPER,
    evidence,
)

S = 1000 * MS
HOUR_S = 3600.0
ZOOKEEPER_ON = replace(ZOOKEEPER, values={**ZOOKEEPER.values, UNCLEAN_NAME: "true"}, unclean_by_broker={1: "true"})


def clean(*seconds: float, of: SettingsWatched = CLEAN) -> tuple[SettingsWatched, ...]:
    return tuple(replace(of, at_ns=int(one * S)) for one in seconds)


def lost(*settings: SettingsWatched, acknowledged_s: float, elected_s: float) -> AttachVerdict:
    """Judge three records that are lost, the last of them acknowledged at one time, before a leader at another."""
    watched = (LED, replace(ELECTED, at_ns=int(elected_s * S)))
    return judge_attached(evidence(lost=3, settings=settings, lost_at=int(acknowledged_s * S), watched=watched))


@pytest.mark.parametrize(
    ("on_off", "promise"),
    [
        ([("on", 0), ("off", 0.002), ("off", 5)], Promised.BROKEN),
        ([("on", 0), ("off", 0.03)], Promised.INCONCLUSIVE),
        ([("off", 0), ("on", 0.03)], Promised.INCONCLUSIVE),
        ([("off", 0), ("on", 0.015), ("off", 0.03)], Promised.ALLOWED_BY_SETTINGS),
        ([("on", 0), ("on", 5)], Promised.ALLOWED_BY_SETTINGS),
        ([("on", 0), ("on", HOUR_S)], Promised.INCONCLUSIVE),
        ([("off", 0), ("off", 0.03), ("on", 1)], Promised.BROKEN),
    ],
)
def test_only_what_was_set_between_the_acknowledgement_and_the_election_counts(
    on_off: list[tuple[str, float]], promise: Promised
) -> None:
    looks = [replace(UNCLEAN if state == "on" else CLEAN, at_ns=int(at * S)) for state, at in on_off]
    verdict = lost(*looks, acknowledged_s=0.01, elected_s=0.02)
    assert verdict.promise is promise, verdict


def test_the_end_of_an_epoch_is_excused_by_what_was_set_after_its_high_watermark_was_seen() -> None:
    ends = (EpochEndTold(0, 4, 99), EpochEndTold(0, 5, 120))
    before = (replace(UNCLEAN, at_ns=0), *clean(0.000_000_001, 5))
    assert judge_attached(evidence(epoch_ends=ends, settings=before)).promise is Promised.BROKEN


def test_a_partition_whose_loss_is_not_excused_accuses_although_another_is() -> None:
    both = evidence(lost=3, settings=(replace(UNCLEAN, at_ns=5), *clean(1, 9)))
    (one,) = both.counted.partitions
    later = replace(one, partition=1, losses=replace(one.losses, completed_ns=2 * S))  # type: ignore[type-var]
    watched = (*both.watched, replace(LED, partition=1), replace(ELECTED, partition=1, at_ns=3 * S))
    both = replace(both, counted=replace(both.counted, partitions=(one, later)), watched=watched)
    assert judge_attached(both).promise is Promised.BROKEN


def test_an_hour_without_a_look_hides_what_was_set() -> None:
    verdict = lost(*clean(0, HOUR_S), acknowledged_s=HOUR_S - 2, elected_s=HOUR_S - 1)
    assert verdict.promise is Promised.INCONCLUSIVE
    assert "no look saw for 3,600 s" in verdict.reason
    told = " ".join(verdict.rests_on)
    assert "settings at each look, and not seen for 3,600 s" in told
    assert "seen once a second, but for 3,599 s not at all" in told
    assert "all along" not in told


OFF_AND_ON = {Promised.BROKEN: "on and off again", Promised.ALLOWED_BY_SETTINGS: "off and on again"}


@pytest.mark.parametrize(
    ("of", "gap_s", "promise"),
    [
        (CLEAN, GAP_S, Promised.BROKEN),
        (CLEAN, SUPPOSED_S, Promised.BROKEN),
        (CLEAN, SUPPOSED_S + 1, Promised.INCONCLUSIVE),
        (ZOOKEEPER, GAP_S, Promised.BROKEN),
        (ZOOKEEPER, GAP_S + 1, Promised.INCONCLUSIVE),
        (UNCLEAN, GAP_S, Promised.ALLOWED_BY_SETTINGS),
        (UNCLEAN, SUPPOSED_S, Promised.ALLOWED_BY_SETTINGS),
        (UNCLEAN, SUPPOSED_S + 1, Promised.INCONCLUSIVE),
        (ZOOKEEPER_ON, GAP_S, Promised.ALLOWED_BY_SETTINGS),
        (ZOOKEEPER_ON, GAP_S + 1, Promised.INCONCLUSIVE),
    ],
)
def test_a_value_that_holds_for_all_is_supposed_for_a_while_and_it_is_said(
    of: SettingsWatched, gap_s: float, promise: Promised
) -> None:
    verdict = lost(*clean(0, gap_s, of=of), acknowledged_s=1, elected_s=2)
    assert verdict.promise is promise, verdict
    is_supposed = promise is not Promised.INCONCLUSIVE and gap_s > GAP_S
    told = f"supposed that nobody switched {UNCLEAN_NAME} {OFF_AND_ON.get(promise, '')}"
    assert (told in verdict.reason) is is_supposed


def test_nothing_is_supposed_of_a_time_after_the_last_look() -> None:
    assert lost(*clean(0), acknowledged_s=1, elected_s=GAP_S - 1).promise is Promised.BROKEN
    assert lost(*clean(0), acknowledged_s=1, elected_s=GAP_S + 1).promise is Promised.INCONCLUSIVE


def test_a_gap_before_what_is_lost_was_acknowledged_hides_nothing() -> None:
    verdict = lost(*clean(0, HOUR_S, HOUR_S + 5), acknowledged_s=HOUR_S + 1, elected_s=HOUR_S + 2)
    assert verdict.promise is Promised.BROKEN
    assert "supposed that" not in verdict.reason


def test_looks_that_nobody_answered_are_counted_and_are_no_look_at_settings() -> None:
    silent = tuple(replace(HIDDEN, at_ns=one * 5 * S, why_not="no broker answers") for one in range(1, 720))
    verdict = lost(*clean(0), *silent, *clean(HOUR_S), acknowledged_s=HOUR_S - 2, elected_s=HOUR_S - 1)
    assert verdict.promise is Promised.INCONCLUSIVE
    assert "719 looks at the cluster or its settings were not answered: no broker answers" in verdict.rests_on


@pytest.mark.parametrize(
    ("command", "promise"),
    [
        ("kafka-leader-election.sh --election-type UNCLEAN --all-topic-partitions", Promised.INCONCLUSIVE),
        ("kafka-leader-election.sh --election-type=unclean", Promised.INCONCLUSIVE),
        ("kafka-leader-election.sh --election-type \\\n unclean", Promised.INCONCLUSIVE),
        ("kafka-configs.sh --alter --add-config unclean.leader.election.enable=true", Promised.INCONCLUSIVE),
        ("kafka-leader-election.sh --election-type preferred; echo unclean", Promised.BROKEN),
    ],
)
def test_a_command_that_asks_for_an_unclean_election_makes_nobody_else_guilty(command: str, promise: Promised) -> None:
    ran = CommandRun(command, 1, 2, 0, "command-001.log")
    verdict = judge_attached(replace(evidence(lost=3), commands=[ran]))
    assert verdict.promise is promise
    is_supposed = [line for line in verdict.rests_on if "supposed: nobody asked for an unclean election" in line]
    assert bool(is_supposed) is (promise is Promised.BROKEN)


def test_a_command_that_asks_for_an_unclean_election_after_the_loss_or_never_excuses_nothing() -> None:
    command = "kafka-leader-election.sh --election-type unclean"
    late = CommandRun(command, ELECTED.at_ns + 1, ELECTED.at_ns + 2, 0, "command-001.log")
    assert judge_attached(replace(evidence(lost=3), commands=[late])).promise is Promised.BROKEN
    given = [FaultCommand(command, 100)]
    assert judge_attached(replace(evidence(lost=3), given=given)).promise is Promised.BROKEN


def test_what_was_switched_on_after_the_first_change_of_leader_excuses_nothing() -> None:
    watched = (LED, replace(ELECTED, at_ns=2 * S), replace(LED, leader_epoch=9, at_ns=12 * S))
    settings = (*clean(0, 2, 5), replace(UNCLEAN, at_ns=10 * S), replace(UNCLEAN, at_ns=12 * S))
    verdict = judge_attached(evidence(lost=3, settings=settings, lost_at=S, watched=watched))
    assert verdict.promise is Promised.INCONCLUSIVE
    assert "only after leaders had changed" in verdict.reason


def test_settings_that_were_refused_until_the_end_were_not_seen_all_along() -> None:
    refused = replace(HIDDEN, at_ns=600 * S, why_not="refused")
    lines = judge_attached(evidence(settings=(*clean(0, 5, 10), refused))).rests_on
    assert [line for line in lines if "settings at each look, and not seen for 590 s" in line]
