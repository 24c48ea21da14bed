"""How does a follower truncate without a separate lookup? The fetch carries its last epoch.

The follower starts to fetch at its log end offset; a leader whose end offset for that epoch lies
below answers a diverging epoch instead of records. Without the check a follower whose epochs were
never looked up would append to a log that is not a prefix of its leader's.

Source: KIP-595 applied to replica fetchers (KAFKA-10554), UnifiedLog / Partition.readRecords.

Mutant: leader-compares-no-epoch, under which the epochs of a log decrease.
"""

from __future__ import annotations

from dataclasses import replace

from oracle.rules import kip_279
from oracle.rules.rule import Rule

RULE = Rule(
    name="truncate-on-fetch",
    source="KIP-595, KAFKA-10554, AbstractFetcherThread.truncateOnFetchResponse",
    says="A follower cuts its log where the answer to its fetch says that the logs diverge.",
)

TRUNCATION = replace(kip_279.TRUNCATION, rule=RULE, asks_leader=False, checks_on_fetch=True)
