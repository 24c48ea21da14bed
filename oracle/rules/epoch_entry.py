"""When does a leader write its epoch into the cache? With its first record; later on election.

Without the entry a leader that has written nothing yet answers lookups about older epochs with its
log end, so a follower keeps records past the true end of that epoch (KAFKA-7415).

And when does a follower drop an entry without records? When it cuts its log there. Up to 2.6.0 it did
nothing if its log ended there already, so that a former leader, whose last epoch has no record,
asked about that epoch again and again, and never came to fetch (KAFKA-10706).

Source: KAFKA-7415, Partition.makeLeader; KAFKA-10706, Log.truncateTo.

Mutant: writes-no-epoch-on-election, which the story kafka-7415-on-2.0.1 notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

ON_ELECTION = Rule(
    name="epoch-entry-on-election",
    source="KAFKA-7415, Partition.makeLeader",
    says="A new leader notes its leader epoch before it appends a record.",
)
KEPT_WITHOUT_CUT = Rule(
    name="epoch-entry-kept-without-cut",
    source="KAFKA-10706, Log.truncateTo",
    says="A cut at the log's end leaves the leader-epoch cache as it is.",
)
