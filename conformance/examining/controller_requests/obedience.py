"""Which controller is obeyed, and which of its decisions? RM-01, KIP-380."""

from __future__ import annotations

from conformance.puppet_scripts.controller_acts import (
    AskLeader,
    EpochOfBroker,
    EpochOfController,
    SendLeaderAndIsr,
    SendUpdateMetadata,
    Sent,
    StopReplica,
)
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
