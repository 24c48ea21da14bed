"""What do the settings promise? And does a loss that the model predicts break the promise?

Always: replicas' logs agree below their high watermarks, and nothing appears that nobody produced.
acks=all: an acknowledged record survives every clean election.
acks=all, unclean election on: an uncleanly elected replica serves every committed record it ever appended.
acks=1: an acknowledged record survives as long as its leader does. acks=0: nothing.

Sources: KIP-101, KIP-966; the durability notes on ``acks`` and ``unclean.leader.election.enable``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from oracle.vocabulary import Acks, ProduceOutcome

if TYPE_CHECKING:
    from oracle.schedule import TopicSettings
    from oracle.state import LostRecord


class PromiseVerdict(StrEnum):
    """What a record's end means for the promise made about it."""

    KEPT = "kept"
    ALLOWED_BY_SETTINGS = "allowed_by_settings"
    BROKEN = "broken"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Promise:
    """A verdict with the sentence that explains it."""

    verdict: PromiseVerdict
    reason: str | None = None


def promise_of(acks: int, outcome: ProduceOutcome) -> str | None:
    """Return the promise made about a record in words, or None if there is none."""
    if outcome is not ProduceOutcome.ACKNOWLEDGED or acks is Acks.NONE:
        return None
    if acks is Acks.LEADER:
        return "acks=1: survives as long as its leader does"
    return "acks=all: survives every election of a replica that had appended it"


def judge_loss(acks: int, outcome: ProduceOutcome, settings: TopicSettings, loss: LostRecord, source: str) -> Promise:
    """Judge an acknowledged record that an election stopped serving.

    Args:
        acks: what the producer waited for.
        outcome: what it was told.
        settings: the topic's settings.
        loss: the election that lost the record.
        source: KIP, KAFKA issue or Kafka class of the rule behind the loss, for the reason.
    """
    if promise_of(acks, outcome) is None:
        return Promise(PromiseVerdict.NONE)
    if acks is Acks.LEADER:
        reason = f"acks=1 promises nothing once its leader is gone; broker {loss.new_leader} was elected"
        return Promise(PromiseVerdict.ALLOWED_BY_SETTINGS, reason)
    if loss.had_appended:
        reason = f"broker {loss.new_leader} had appended the record, cut it, and was elected ({source})"
        return Promise(PromiseVerdict.BROKEN, reason)
    if loss.was_clean:
        reason = f"broker {loss.new_leader} was elected cleanly without the record ({source})"
        return Promise(PromiseVerdict.BROKEN, reason)
    reason = (
        f"unclean election made broker {loss.new_leader} leader, which never had the record: "
        f"min.insync.replicas={settings.min_insync_replicas} with unclean election "
        f"{'on' if settings.unclean_leader_election else 'off'} does not promise more"
    )
    return Promise(PromiseVerdict.ALLOWED_BY_SETTINGS, reason)
