"""Does a leader whose followers are puppets move its numbers and answer them as its release does?"""

from __future__ import annotations

from conformance.puppet_scripts.client_acts import ListLatest
from conformance.puppet_scripts.following_acts import Follow
from conformance.puppet_scripts.leading_acts import Append, AskEpochEnd, FetchAs, Lead
from conformance.puppet_scripts.script import PuppetScript

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
