"""Does a figure tell apart what is committed, uncommitted, cut, deleted and diverged, in words too?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports.site.figure import described, draw_checkpoint
from reports.site.model import CheckpointAt, GoneRecord, ReplicaAt
from tests.reports.page_reader import PageReader

LEADER = ReplicaAt(1, ("m0", "m1"), 2, 1, is_leader=True, is_in_sync=True)
FOLLOWER = ReplicaAt(2, ("m0",), 1, 1, is_in_sync=True, ghosts=(GoneRecord(1, "m9"),))


def checkpoint(*replicas: ReplicaAt) -> CheckpointAt:
    return CheckpointAt(3, "follower has m0", 1, (1, 2), replicas)


def looks(drawn: CheckpointAt) -> list[str]:
    cells = PageReader(draw_checkpoint(drawn, "x")).named("rect")
    return [one.attributes["class"].removeprefix("log-cell ") for one in cells]


def test_the_high_watermark_parts_what_is_committed_from_what_is_not() -> None:
    assert looks(checkpoint(LEADER)) == ["committed", "uncommitted"]
    assert looks(checkpoint(replace(LEADER, high_watermark=2))) == ["committed", "committed"]


def test_what_was_cut_and_what_was_deleted_are_struck_out() -> None:
    drawn = checkpoint(replace(LEADER, high_watermark=2, log_start_offset=1), FOLLOWER)
    assert looks(drawn) == ["deleted", "committed", "committed", "cut"]
    assert str(draw_checkpoint(drawn, "x")).count('class="strike"') == 2


def test_different_committed_records_at_one_offset_are_diverged_and_others_are_not() -> None:
    other = ReplicaAt(2, ("m0", "m2"), 2, 2)
    assert looks(checkpoint(replace(LEADER, high_watermark=2), other)) == ["committed", "diverged"] * 2
    assert looks(checkpoint(LEADER, other)) == ["committed", "uncommitted", "committed", "committed"]


def test_both_numbers_stand_beside_every_replica() -> None:
    words = [one.words for one in PageReader(draw_checkpoint(checkpoint(LEADER, FOLLOWER), "x")).named("text")]
    assert words[:6] == ["broker 1", "leads", "m0", "m1", "LEO 2", "HW 1"]
    assert words[6:] == ["broker 2", "in sync", "m0", "m9", "LEO 1", "HW 1"]


def test_the_description_says_the_same() -> None:
    assert described(checkpoint(LEADER, FOLLOWER)) == (
        "Broker 1 (leads): m0 at 0, m1 at 1; log end offset 2, high watermark 1. "
        "Broker 2 (in sync): m0 at 0; log end offset 1, high watermark 1. m9, once at 1, is gone."
    )


@pytest.mark.parametrize(
    ("replica", "role"),
    [
        (LEADER, "leads"),
        (replace(LEADER, is_alive=False), "down"),
        (replace(LEADER, is_alive=False, is_hung=True), "hangs"),
        (FOLLOWER, "in sync"),
        (replace(FOLLOWER, is_in_sync=False), "out of sync"),
    ],
)
def test_a_replica_is_what_it_is(replica: ReplicaAt, role: str) -> None:
    assert replica.role == role


def test_a_hostile_label_is_shown_and_never_obeyed() -> None:
    drawn = str(draw_checkpoint(checkpoint(replace(LEADER, labels=("<b>", "m1"))), "x"))
    assert "<b>" not in drawn
    assert "&lt;b&gt;" in drawn
