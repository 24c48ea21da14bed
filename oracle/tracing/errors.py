"""Which errors may a broker answer to a follower? By its epochs, its role and its log; invariant 18.

Sources: Partition.getPartitionOrException, checkCurrentLeaderEpoch, localLogWithEpochOrThrow; FetchSession.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from oracle.log import NO_EPOCH
from oracle.tracing.observed import FetchSent

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.exchange import Exchange
    from oracle.tracing.replica import Replica


class Code(IntEnum):
    """Kafka's error codes that a follower may get."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    UNKNOWN_TOPIC_OR_PARTITION = 3
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REPLICA_NOT_AVAILABLE = 9
    KAFKA_STORAGE_ERROR = 56
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNKNOWN_TOPIC_ID = 100
    INCONSISTENT_TOPIC_ID = 103
    FETCH_SESSION_TOPIC_ID_ERROR = 106


SESSION_ERRORS = frozenset({Code.FETCH_SESSION_ID_NOT_FOUND, Code.INVALID_FETCH_SESSION_EPOCH})
TOPIC_ID_ERRORS = frozenset({Code.UNKNOWN_TOPIC_ID, Code.INCONSISTENT_TOPIC_ID, Code.FETCH_SESSION_TOPIC_ID_ERROR})
NO_PARTITION = frozenset(
    {
        Code.UNKNOWN_TOPIC_OR_PARTITION,
        Code.NOT_LEADER_OR_FOLLOWER,
        Code.REPLICA_NOT_AVAILABLE,
        Code.LEADER_NOT_AVAILABLE,
    }
)
WITH_SESSIONS = 7
WITH_TOPIC_IDS = 13


def allowed_errors(leader: Replica, exchange: Exchange, rules: RuleSet) -> frozenset[Code]:
    """Return the errors that a broker may answer to this request, by the epochs and roles it may have had."""
    allowed = {Code.KAFKA_STORAGE_ERROR}
    epoch = exchange.request.current_leader_epoch
    known = exchange.epochs - {NO_EPOCH}
    if NO_EPOCH in exchange.epochs:
        allowed |= NO_PARTITION | {Code.UNKNOWN_SERVER_ERROR}
    if not leader.has_served:
        allowed.add(Code.UNKNOWN_TOPIC_OR_PARTITION)
    if exchange.may_lead and (epoch is None or any(rules.serves_epoch(epoch, mine) for mine in known)):
        allowed.add(Code.NONE)
    if exchange.may_not_lead and (epoch is None or epoch in known):
        allowed.add(Code.NOT_LEADER_OR_FOLLOWER)
    if epoch is not None and any(mine > epoch for mine in known):
        allowed.add(Code.FENCED_LEADER_EPOCH)
    if epoch is not None and any(mine < epoch for mine in exchange.epochs):
        allowed.add(Code.UNKNOWN_LEADER_EPOCH)
    return frozenset(allowed | _of_fetch(leader, exchange) | _of_stranger(leader, exchange))


def _of_fetch(leader: Replica, exchange: Exchange) -> set[Code]:
    """Return the errors of the fetch itself: its session, its topic ids, its offset."""
    request = exchange.request
    if not isinstance(request, FetchSent):
        return set()
    allowed: set[Code] = set()
    if request.api_version >= WITH_SESSIONS:
        allowed |= SESSION_ERRORS
    if request.api_version >= WITH_TOPIC_IDS:
        allowed |= TOPIC_ID_ERRORS
    if request.fetch_offset > exchange.end or request.fetch_offset < leader.log_start_offset:
        allowed.add(Code.OFFSET_OUT_OF_RANGE)
    return allowed


def _of_stranger(leader: Replica, exchange: Exchange) -> set[Code]:
    """Return the errors for a follower that the leader may not know to be assigned."""
    if leader.leadership is None or exchange.request.follower in leader.leadership.replicas:
        return set()
    return {Code.UNKNOWN_SERVER_ERROR, Code.UNKNOWN_LEADER_EPOCH, Code.NOT_LEADER_OR_FOLLOWER}
