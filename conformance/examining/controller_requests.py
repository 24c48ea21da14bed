"""What does the tester do as the controller of one broker, and as its consumer, act by act? RM-01 to RM-06."""

from __future__ import annotations

from conformance.puppet_scripts.client_acts import (
    AppendAt,
    AppendInTransaction,
    ConsumeCommitted,
    ConsumerFetch,
    EndTransaction,
    ListByTime,
    ListEarliest,
    ListLatest,
    ListLatestCommitted,
)
from conformance.puppet_scripts.controller_acts import (
    AskLeader,
    EpochOfBroker,
    EpochOfController,
    SendLeaderAndIsr,
    SendUpdateMetadata,
    Sent,
    StopReplica,
)
from conformance.puppet_scripts.following_acts import Follow, Watch
from conformance.puppet_scripts.leading_acts import Append, FetchAs, Lead
from conformance.puppet_scripts.script import PuppetScript

REPLACED = Sent(EpochOfController.REPLACED)
EARLIER, THIS = Sent(start=EpochOfBroker.EARLIER), Sent(start=EpochOfBroker.THIS)

REPLACED_CONTROLLER = PuppetScript(
    (
        Lead(5, isr=(1, 2)),
        Append("a"),
        SendUpdateMetadata(sent=REPLACED),
        SendUpdateMetadata(),
        SendLeaderAndIsr(leader=2, leader_epoch=6, sent=REPLACED),
        SendUpdateMetadata(leader=2, leader_epoch=6, sent=REPLACED),
        StopReplica(is_deleted=True, sent=REPLACED),
        AskLeader(),
        Append("b"),
        FetchAs(2, 1, 5),
        SendLeaderAndIsr(leader=2, leader_epoch=6),
        Append("c", to_leader=False),
    )
)

LEADER_EPOCH = PuppetScript(
    (
        Lead(5, isr=(1, 2)),
        Append("a"),
        SendLeaderAndIsr(leader=2, leader_epoch=4),
        Append("b"),
        SendLeaderAndIsr(leader=2, leader_epoch=5),
        Append("c"),
        Lead(6, isr=(1, 2)),
        Append("d"),
    )
)

BROKER_EPOCH = PuppetScript(
    (
        Lead(5, isr=(1, 2)),
        SendUpdateMetadata(sent=THIS),
        SendUpdateMetadata(sent=EARLIER),
        SendLeaderAndIsr(leader=2, leader_epoch=6, sent=EARLIER),
        StopReplica(is_deleted=True, sent=EARLIER),
        Append("a"),
        SendLeaderAndIsr(leader=2, leader_epoch=6, sent=THIS),
        Append("b", to_leader=False),
    )
)

FETCHERS = PuppetScript(
    (
        Follow(leader=2, leader_epoch=5, log=((5, "ab"),), high_watermark=2),
        Watch(2),
        Lead(6, isr=(1, 2)),
        Watch(2),
        Append("c"),
        Follow(leader=3, leader_epoch=7, log=((5, "ab"), (6, "c"), (7, "d")), high_watermark=4),
        Watch(3),
        Watch(2),
    )
)

STOPPED = PuppetScript(
    (
        Follow(leader=2, leader_epoch=5, log=((5, "ab"),), high_watermark=2),
        Watch(2),
        StopReplica(is_deleted=False),
        Watch(2),
        StopReplica(is_deleted=True),
    )
)

OLD_DECISION = PuppetScript(
    (
        Follow(leader=2, leader_epoch=5, log=((5, "ab"),), high_watermark=2),
        StopReplica(is_deleted=True, leader_epoch=4),
        Watch(2),
        StopReplica(is_deleted=False, leader_epoch=5),
        Watch(2),
        StopReplica(is_deleted=True, leader_epoch=6),
        Watch(2),
    )
)

STALE_METADATA = PuppetScript(
    (
        Lead(5, isr=(1, 2, 3)),
        AskLeader(),
        SendLeaderAndIsr(leader=2, leader_epoch=6),
        AskLeader(),
        Append("late", to_leader=False),
        SendUpdateMetadata(leader=2, leader_epoch=6),
        AskLeader(),
    )
)

THREE_OF_FOUR_COMMITTED = (
    Lead(5, isr=(1, 2)),
    Append("a"),
    Append("b"),
    Append("c"),
    Append("d"),
    FetchAs(2, 3, 5),
)
SHORT_MS, LONGER_MS, LONG_MS = 500, 3_000, 10_000
"""A wait that always passes, one that passes on some releases, and one that never does."""

FETCH = PuppetScript(
    (
        *THREE_OF_FOUR_COMMITTED,
        ConsumerFetch(0),
        ConsumerFetch(0, max_wait_ms=LONG_MS),
        ConsumerFetch(3, max_wait_ms=SHORT_MS),
        ConsumerFetch(4, max_wait_ms=LONGER_MS),
        ConsumerFetch(0, max_wait_ms=SHORT_MS, wants_more=True),
        ConsumerFetch(1, takes_one_byte=True),
        ConsumerFetch(5),
    )
)

LIST_OFFSETS = PuppetScript(
    (
        *THREE_OF_FOUR_COMMITTED,
        ListEarliest(),
        ListLatest(),
        AppendAt("late", later_ms=10),
        FetchAs(2, 5, 5),
        ListLatest(),
        ListByTime(later_ms=0, first=0),
        ListByTime(later_ms=10, first=4),
        ListByTime(later_ms=11, first=None),
    )
)

READ_COMMITTED = PuppetScript(
    (
        Lead(5, isr=(1,)),
        Append("a"),
        AppendInTransaction("b", sequence=0),
        Append("c"),
        AppendInTransaction("d", sequence=1),
        ListLatest(),
        ListLatestCommitted(),
        ConsumeCommitted(0),
        ConsumeCommitted(1),
        EndTransaction(commits=True),
        ListLatestCommitted(),
        AppendInTransaction("e", sequence=2),
        ListLatestCommitted(),
        EndTransaction(commits=False),
        ListLatestCommitted(),
        ConsumeCommitted(5),
    )
)
