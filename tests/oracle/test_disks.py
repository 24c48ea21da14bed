"""What is left on a disk that forgot something, and what may not be forgotten?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.events import BrokerDied, BrokerRemoved, HighWatermarkLost, LogTailLost, RecordSent
from oracle.predict import initial_world, predict
from oracle.replication.following import TAIL_LOST
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, LoseCheckpoint, LoseTail
from oracle.steps.step import ScheduleError, Step
from oracle.transitions import Refusal, step
from oracle.vocabulary import Acks, Label, MetadataMode, Offset
from tests.oracle.schedules import ONE, TWO, produce, schedule

if TYPE_CHECKING:
    from oracle.world import World

RULES = rules_for("3.9.2", MetadataMode.KRAFT)


def stopped_follower() -> World:
    """Broker 2 was stopped in good order with m0 and m1 on its log, both committed."""
    world = initial_world(schedule(produce("m0")), RULES, (ONE, TWO))
    for label in ("m0", "m1"):
        world = world.apply(RecordSent(Label(label), Acks.ALL)).settle()
    return world.apply(BrokerDied(TWO, graceful=True)).apply(BrokerRemoved(TWO)).settle()


def test_a_lost_tail_takes_records_epochs_and_the_clean_shutdown_with_it() -> None:
    before = stopped_follower().state.replica(TWO)
    assert (before.log.log_end_offset, before.high_watermark, before.shut_down_cleanly) == (2, 2, True)
    after = stopped_follower().apply(LogTailLost(TWO, Offset(0))).state
    replica = after.replica(TWO)
    assert (replica.log.entries, replica.log.epochs) == ((), ())
    assert (replica.high_watermark, replica.checkpointed_high_watermark) == (0, 2)
    assert not replica.shut_down_cleanly
    assert after.history_truncations == ((TWO, "m0", TAIL_LOST), (TWO, "m1", TAIL_LOST))


def test_a_lost_checkpoint_leaves_the_log() -> None:
    replica = stopped_follower().apply(HighWatermarkLost(TWO)).state.replica(TWO)
    assert (replica.log.log_end_offset, replica.high_watermark, replica.checkpointed_high_watermark) == (2, 0, 0)
    assert replica.shut_down_cleanly


@pytest.mark.parametrize("event", [LogTailLost(ONE, Offset(0)), HighWatermarkLost(ONE)])
def test_a_broker_that_runs_forgets_nothing(event: LogTailLost | HighWatermarkLost) -> None:
    reason = "broker 1 runs: only a broker that is down can lose what its disk holds"
    assert step(stopped_follower().state, event, RULES) == Refusal(event, reason)


def test_a_tail_that_is_not_there_cannot_be_lost() -> None:
    event = LogTailLost(TWO, Offset(2))
    reason = "the log of broker 2 ends at 2: nothing is lost from 2 on"
    assert step(stopped_follower().state, event, RULES) == Refusal(event, reason)


@pytest.mark.parametrize("lose", [LoseTail(ONE, Offset(0)), LoseCheckpoint(ONE)])
def test_a_schedule_that_loses_what_a_running_broker_has_is_refused(lose: Step) -> None:
    with pytest.raises(ScheduleError, match="broker 1 runs") as refused:
        predict(schedule(produce("m0"), Kill(TWO), lose), RULES)
    assert (refused.value.step, refused.value.field) == (2, "broker")
