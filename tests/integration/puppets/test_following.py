"""Does a follower whose leader is a puppet ask, cut and copy as the model of its release does?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.puppets.model import entries_of
from tests.integration.puppets.stage import Stage

if TYPE_CHECKING:
    from fault_injection.puppets.leader import LeaderPuppet
    from tests.integration.puppets.stage import Stage

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]

NOT_LEADER_OR_FOLLOWER = 6


def test_a_follower_cuts_what_its_leader_does_not_have(stage: Stage, leaders: dict[int, LeaderPuppet]) -> None:
    stage.follow(leaders[2], 5, entries_of((3, "ab"), (5, "cd")), high_watermark=1)
    stage.follow(leaders[3], 8, entries_of((3, "ab"), (6, "x"), (8, "yz")), high_watermark=1)
    stage.follow(leaders[2], 9, entries_of((3, "ab"), (5, "cd"), (9, "efg")), high_watermark=3)


def test_a_follower_of_the_same_leader_cuts_as_its_release_does(stage: Stage, leaders: dict[int, LeaderPuppet]) -> None:
    stage.follow(leaders[2], 5, entries_of((3, "a"), (5, "bc")), high_watermark=1)
    stage.follow(leaders[2], 9, entries_of((3, "a"), (7, "xyz")), high_watermark=2)


def test_a_former_leader_cuts_its_uncommitted_records(stage: Stage, leaders: dict[int, LeaderPuppet]) -> None:
    stage.lead(5, isr=(1, 2, 3))
    stage.append("a", "b", "c")
    for follower in (2, 3):
        stage.fetch(follower, 1, 5)
    stage.follow(leaders[3], 6, entries_of((5, "a"), (6, "xy")), high_watermark=2)
    assert stage.run.client.append(stage.topic, b"late")[0] == NOT_LEADER_OR_FOLLOWER


def test_a_follower_whose_leader_dies_before_it_answers_has_not_asked_in_vain(
    stage: Stage, leaders: dict[int, LeaderPuppet]
) -> None:
    stage.follow(leaders[2], 5, entries_of((3, "ab"), (5, "cd")), high_watermark=1)
    stage.follow_into_silence(leaders[3], 6)
    stage.lead(7, isr=(1, 2))  # up to 0.10.2 it has cut without asking; later it has not cut at all
    stage.append("e")


def test_a_follower_that_restarts_begins_at_its_checkpointed_high_watermark(
    stage: Stage, leaders: dict[int, LeaderPuppet]
) -> None:
    log = entries_of((5, "abc"))
    stage.follow(leaders[2], 5, log, high_watermark=1)
    stage.restart()
    stage.follow(leaders[3], 6, log, high_watermark=2)  # KAFKA-1211: up to 0.10.2 it has cut what it had
    stage.restart()
    stage.lead(7, isr=(1, 2))


def test_an_empty_answer_leaves_the_last_fetched_epoch_alone(stage: Stage, leaders: dict[int, LeaderPuppet]) -> None:
    log = entries_of((5, "ab"))
    stage.follow(leaders[2], 5, log, high_watermark=2)
    stage.follow(leaders[3], 6, log, high_watermark=2)  # whose first answer has no records
    # KAFKA-15510: from 3.5.1 to 3.6 it does not
    assert (stage.idle_words(leaders[3]) == {stage.idle}) is not stage.forgets_last_epoch
