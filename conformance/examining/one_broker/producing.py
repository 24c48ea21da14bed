"""Does a leader whose followers are puppets accept, refuse and keep what producers send as its release does?"""

from __future__ import annotations

from conformance.puppet_scripts.following_acts import Follow
from conformance.puppet_scripts.leading_acts import Append, FetchAs, Lead
from conformance.puppet_scripts.script import PuppetScript

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
