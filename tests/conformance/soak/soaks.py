"""Which soaks do tests ask for?"""

from __future__ import annotations

from dataclasses import replace

from conformance.record.soak import AcksOfProducers, Soak

SOAK = Soak(
    version="4.4.0",
    metadata="kraft",
    topic="soak",
    partitions=3,
    replicas=3,
    min_insync_replicas=2,
    producers=4,
    acks=AcksOfProducers.MIXED,
    is_idempotent=False,
    base=7 << 40,
    value_length=100,
    seed=7,
)


def soak(**changes: object) -> Soak:
    return replace(SOAK, **changes)  # type: ignore[arg-type]
