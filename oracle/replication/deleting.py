"""What does a request to delete do? Of records: the leader's log starts later; followers learn it from their fetches.

The records stay in the active segment; nobody is served them any more. Where the log starts is written to disk at a
graceful stop (and every minute, which the tester puts off): a broker that is killed serves them again, until a
leader tells it better.

Of a topic: nobody has the partition any more, on disk or in the controller's mind; what the controller keeps of it
elsewhere is in ``oracle.rules.eligible_index``.

Sources: KIP-107; ReplicaManager.deleteRecordsOnLocalLog, UnifiedLog.maybeIncrementLogStartOffset,
ReplicaFetcherThread.processPartitionData, LogManager.checkpointLogStartOffsets. The leader epoch cache forgets what
ends before the log's start, and has that on disk at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.rules import eligible_index
from oracle.state import ReplicaState

if TYPE_CHECKING:
    from oracle.state import PartitionState
    from oracle.vocabulary import Offset


def delete_records(state: PartitionState, offset: Offset) -> PartitionState | str:
    """Let the leader's log start at an offset, or say why it does not."""
    leader = state.serving_leader()
    if leader is None:
        return "nobody leads: there is no leader to delete records"
    if offset > leader.high_watermark:
        return f"the high watermark of leader {leader.broker} is {leader.high_watermark}: nothing above it is deleted"
    if offset <= leader.log_start_offset:
        return f"the log of leader {leader.broker} starts at {leader.log_start_offset} already"
    short = [r.broker for r in state.assigned() if r.log.log_end_offset < offset]
    if short:
        return f"the log of broker {short[0]} ends before {offset}: how it would go on is not predicted"
    return state.with_replica(replace(leader, log=leader.log.starting_at(offset), log_start_offset=offset))


def delete_topic(state: PartitionState) -> PartitionState | str:
    """Delete the partition on every broker, or say why that is not predicted."""
    if state.reassignment is not None or any(produce.outcome is None for produce in state.produces):
        return "a reassignment or a producer waits: how it would end is not predicted"
    replicas = tuple(
        ReplicaState(
            r.broker, alive=r.alive, shut_down_cleanly=r.shut_down_cleanly, history_appended=r.history_appended
        )
        for r in state.replicas
    )
    return replace(state, assignment=(), replicas=replicas, controller=eligible_index.without_topic(state.controller))
