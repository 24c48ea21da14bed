"""What do puppets and one broker do to each other, act by act? It follows, it leads, and it is sent records."""

from __future__ import annotations

from conformance.puppet_scripts.client_acts import ListLatest
from conformance.puppet_scripts.following_acts import Follow, FollowIntoSilence, WatchIdling
from conformance.puppet_scripts.leading_acts import Append, AskEpochEnd, FetchAs, Lead, Restart
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

HIGH_WATERMARK = PuppetScript(
    (
        Lead(5, isr=(1, 2, 3)),
        Append("a"),
        Append("b"),
        Append("c"),
        *(FetchAs(follower, offset, 5) for follower, offset in ((2, 0), (3, 0), (2, 2), (3, 1), (3, 2), (2, 3))),
        FetchAs(3, 3, 5),
        FetchAs(3, 3, 5, parks=True),
    )
)

JOIN = PuppetScript(
    (
        Lead(5, isr=(1, 2)),
        Append("a"),
        Append("b"),
        FetchAs(2, 1, 5),
        FetchAs(3, 0, 5),
        FetchAs(3, 1, 5),
        Lead(6, isr=(1, 2)),
        FetchAs(3, 1, 6),
        FetchAs(3, 2, 6),
    )
)

EPOCH_ENDS = PuppetScript(
    (
        Lead(5, isr=(1, 2, 3)),
        Append("a"),
        Append("b"),
        Lead(7, isr=(1, 2, 3)),
        Append("c"),
        *(AskEpochEnd(epoch) for epoch in (3, 5, 6, 7, 8)),
    )
)

FENCED_QUESTIONS = PuppetScript(
    (
        Lead(5, isr=(1, 2, 3)),
        Append("a"),
        *(AskEpochEnd(5, claims=epoch) for epoch in (4, 6, 5)),
    )
)

FENCED_FETCHES = PuppetScript(
    (
        Lead(5, isr=(1, 2, 3)),
        Append("a"),
        Append("b"),
        *(FetchAs(follower, offset, epoch) for epoch in (4, 6, 5) for follower, offset in ((2, 2), (3, 1))),
    )
)

DIVERGING = PuppetScript(
    (
        Lead(5, isr=(1, 2)),
        Append("a"),
        Append("b"),
        Lead(7, isr=(1, 2)),
        Append("c"),
        *(FetchAs(2, at, 7, last_epoch=last) for at, last in ((3, 6), (3, 5), (2, 5), (4, 7), (3, 7))),
    )
)

LATEST_OFFSET = PuppetScript(
    (
        Follow(leader=2, leader_epoch=5, log=((5, "abc"),), high_watermark=1),
        Lead(6, isr=(1, 3)),
        FetchAs(3, 1, 6),
        ListLatest(),
        FetchAs(3, 3, 6),
        ListLatest(),
    )
)

ALL = -1
SHORT_MS = 100

INVALID_ACKS = PuppetScript(
    (Lead(5, isr=(1, 2)), Append("a"), *(Append("x", acks=acks) for acks in (2, 3, -2)), Append("b"))
)

TIMED_OUT = PuppetScript((Lead(5, isr=(1, 2)), Append("a", acks=ALL, timeout_ms=SHORT_MS), FetchAs(2, 1, 5)))

TOO_FEW = PuppetScript(
    (
        Lead(5, isr=(1,)),
        Append("a"),
        Append("x", acks=ALL),
        FetchAs(2, 1, 5),
        Append("b"),
    ),
    min_insync_replicas=2,
)

ZOMBIE = PuppetScript(
    (
        Lead(5, isr=(1, 2, 3)),
        Append("a"),
        FetchAs(2, 1, 5),
        FetchAs(3, 1, 5),
        Append("b", acks=ALL, timeout_ms=SHORT_MS),
        Append("c"),
        Follow(leader=3, leader_epoch=6, log=((5, "a"), (6, "x")), high_watermark=1),
        Append("d", to_leader=False),
    )
)
