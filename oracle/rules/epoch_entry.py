"""When does a leader write its epoch into the cache? With its first record; later on election.

Without the entry a leader that has written nothing yet answers lookups about older epochs with its
log end, so a follower keeps records past the true end of that epoch (KAFKA-7415).

Source: KAFKA-7415, Partition.makeLeader. Versions: 2.0.1 and newer.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

ON_ELECTION = Rule(
    name="epoch-entry-on-election",
    source="KAFKA-7415, Partition.makeLeader",
    versions="2.0.1 and newer",
    replaces=None,
    breaks="a leader without records of its epoch answers lookups with a wrong end offset",
)
