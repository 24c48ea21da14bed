"""What do a controller's requests make of replicas and of what clients are told? RM-02, RM-03, RM-04."""

from __future__ import annotations

from conformance.puppet_scripts.controller_acts import AskLeader, SendLeaderAndIsr, SendUpdateMetadata, StopReplica
from conformance.puppet_scripts.following_acts import Follow, Watch
from conformance.puppet_scripts.leading_acts import Append, Lead
from conformance.puppet_scripts.script import PuppetScript

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
