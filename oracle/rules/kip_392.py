"""Which broker shows records to a consumer? The leader alone, and from 2.4 on followers as well.

A follower bounds what it shows by its own high watermark, which may lag behind the leader's.

Source: KIP-392, ReplicaManager.fetchMessages. Versions: 2.4 and newer.

Mutant: followers-serve-nobody, which a consumer of a follower notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

RULE = Rule(
    name="followers-serve-consumers",
    source="KIP-392, ReplicaManager.fetchMessages",
    versions="2.4 and newer",
    replaces=None,
    breaks="a consumer is shown what is not committed, or can read at the leader only",
)
