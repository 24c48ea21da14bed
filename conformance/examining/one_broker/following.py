"""Does a follower whose leader is a puppet ask, cut and copy as its release does?"""

from __future__ import annotations

from conformance.puppet_scripts.following_acts import Follow, FollowIntoSilence, WatchIdling
from conformance.puppet_scripts.leading_acts import Append, FetchAs, Lead, Restart
from conformance.puppet_scripts.script import PuppetScript

CUTS = PuppetScript(
    (
        Follow(leader=2, leader_epoch=5, log=((3, "ab"), (5, "cd")), high_watermark=1),
        Follow(leader=3, leader_epoch=8, log=((3, "ab"), (6, "x"), (8, "yz")), high_watermark=1),
        Follow(leader=2, leader_epoch=9, log=((3, "ab"), (5, "cd"), (9, "efg")), high_watermark=3),
    )
)

SAME_LEADER = PuppetScript(
    (
        Follow(leader=2, leader_epoch=5, log=((3, "a"), (5, "bc")), high_watermark=1),
        Follow(leader=2, leader_epoch=9, log=((3, "a"), (7, "xyz")), high_watermark=2),
    )
)

FORMER_LEADER = PuppetScript(
    (
        Lead(5, isr=(1, 2, 3)),
        *(Append(label) for label in "abc"),
        FetchAs(2, 1, 5),
        FetchAs(3, 1, 5),
        Follow(leader=3, leader_epoch=6, log=((5, "a"), (6, "xy")), high_watermark=2),
        Append("late", to_leader=False),
    )
)

UNANSWERED = PuppetScript(
    (
        Follow(leader=2, leader_epoch=5, log=((3, "ab"), (5, "cd")), high_watermark=1),
        FollowIntoSilence(leader=3, leader_epoch=6),
        Lead(7, isr=(1, 2)),
        Append("e"),
    )
)

RESTARTED = PuppetScript(
    (
        Follow(leader=2, leader_epoch=5, log=((5, "abc"),), high_watermark=1),
        Restart(),
        Follow(leader=3, leader_epoch=6, log=((5, "abc"),), high_watermark=2),
        Restart(),
        Lead(7, isr=(1, 2)),
    )
)

EMPTY_ANSWER = PuppetScript(
    (
        Follow(leader=2, leader_epoch=5, log=((5, "ab"),), high_watermark=2),
        Follow(leader=3, leader_epoch=6, log=((5, "ab"),), high_watermark=2),
        WatchIdling(3),
    )
)
