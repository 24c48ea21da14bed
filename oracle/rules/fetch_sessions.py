"""What is different in a fetch session (KIP-227)? Its requests and answers have only what is news to it.

Followers fetch in sessions from 1.1 on, unless they are told not to. The first fetch begins one, and lists everything.
It ends with the connection, and when the follower takes another leader. A follower that is told an error, or has to
look an epoch up again, fetches without the partition meanwhile: a session that has no other ends, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet

TOLD_ONCE = Rule(
    name="session-tells-a-high-watermark-once",
    source="KIP-227, FetchSession.CachedPartition.maybeUpdateResponseData",
    says="A fetch session does not tell a high watermark again, whether the follower took it or not.",
)
"""Does a follower hear of a high watermark again that it did not take? Not in a fetch session.

An answer leaves a partition out if it has no records and only numbers that the session counts as told, and what is
left out is not processed. So a follower goes without the high watermark of an answer of which it took nothing until
that moves, records come, or the session ends: of one that it dropped because a new epoch of the same leader had begun,
and, since a diverging follower leaves the high watermark alone (KAFKA-14704), of one that told it where logs diverge.
Where the log starts is told in the same way. Without sessions every answer tells both.

Source: FetchSession.CachedPartition.maybeUpdateResponseData, FetchSessionHandler.Builder.build,
AbstractFetcherThread.processFetchRequest; measured on 4.4.0 with sessions and without.

Mutant: tells-again-what-was-not-taken, which the story told-once-on-3.4.1 notices.
"""


NAMES_NO_EPOCH = Rule(
    name="fetch-of-a-session-names-no-epoch",
    source="KAFKA-9338, FetchSession.CachedPartition.reqData",
    says="A leader does not look at the leader epoch in a fetch of a session, but for the first one.",
)
"""Does a leader refuse a fetch of another epoch that comes in a session? From 2.1 (KIP-320) on, but for 2.1 to 2.4.

There it reads each fetch but the first from what the session keeps of the partition, and the epoch is not among that
(KAFKA-9338, repaired in 2.5.0): a fetch of an earlier epoch is answered and counted, as it was before KIP-320.

Source: FetchSession.CachedPartition.reqData, IncrementalFetchContext.foreachPartition; measured on 2.3.1, 2.4.0, 2.4.1
and 2.5.1, with sessions and without.

Mutant: names-its-epoch-in-a-session, which the story kafka-9338-on-2.4 notices.
Mutant: names-no-epoch-in-a-session, which the story kafka-9338-on-2.5 notices.
"""


def without_sessions(rules: RuleSet) -> RuleSet:
    """Return the rules where every fetch lists everything, and every answer tells it."""
    return replace(rules, tells_once=False, session_names_epoch=True)
