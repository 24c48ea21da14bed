"""Up to where does a consumer find records by time? Below the high watermark; up to 0.10.2 also the one at it.

Source: KIP-79, KafkaApis.handleOffsetRequestV1.

Mutant: finds-by-time-what-is-not-committed, which a lookup before replication notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

RULE = Rule(
    name="lookup-by-time-ends-at-high-watermark",
    source="KIP-79, KafkaApis.handleOffsetRequestV1",
    says="A lookup by time may tell the record at the high watermark.",
)
