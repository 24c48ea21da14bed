"""What is a soak asked to do, and which faults come of that?"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.record.soak import AcksOfProducers, Soak
from conformance.record.soak_faults import FaultTimeline
from conformance.soak.fault_file import read_fault_file
from conformance.soak.fault_timeline import EVERY_S, SoakShape, drawn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conformance.line import Line
    from conformance.run_options import RunOptions
    from fault_injection.cluster.hosts import AdvertisedHost

LONGEST_S = 24 * 3600.0
"""For so long faults are drawn where only a number of records is asked."""
BROKERS_MIN = 3
IDS_BELOW = 2**61


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """What a soak is to do; the attributes that ``Soak`` has too are its.

    Attributes:
        line: the brokers.
        faults: a seed, a file, or None for no faults.
        every_s: the time from one drawn fault to the next.
        is_provoking: whether to draw faults that provoke losses.
        is_sampled: whether a sample is read again, and joined record by record.
        cross_check: whether DuckDB counts again.
        advertised: where executors elsewhere reach the brokers; None where Spark is on this machine.
        spark_settings: of Spark: those that were given, and where executors reach the driver.
    """

    line: Line
    run: RunOptions
    seed: int
    partitions: int = 12
    replicas: int = 3
    min_insync_replicas: int = 2
    producers: int = 4
    acks: AcksOfProducers = AcksOfProducers.ALL
    is_idempotent: bool = False
    value_length: int = 100
    records: int | None = None
    duration_s: float | None = None
    rate: int | None = None
    faults: int | Path | None = None
    every_s: float = EVERY_S
    is_provoking: bool = False
    is_sampled: bool = False
    cross_check: bool = False
    advertised: AdvertisedHost | None = None
    spark_settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def brokers(self) -> int:
        """Return how many brokers may have replicas."""
        return max(BROKERS_MIN, self.replicas)

    @property
    def ground(self) -> SoakShape:
        """Return what faults are drawn for."""
        return SoakShape(tuple(range(1, self.brokers + 1)), self.partitions, self.replicas)


def timeline_of(options: SoakOptions) -> FaultTimeline:
    """Return the faults that are to come.

    Raises:
        FaultFileError: the file of faults is none.
    """
    if options.faults is None:
        return FaultTimeline()
    if not isinstance(options.faults, int):
        return read_fault_file(options.faults, options.ground)
    return drawn(
        options.faults,
        _lasts_s(options),
        options.ground,
        every_s=options.every_s,
        is_provoking=options.is_provoking,
    )


def _lasts_s(options: SoakOptions) -> float:
    """Return how long load lasts at most, in seconds."""
    limits = [LONGEST_S] if options.duration_s is None else [options.duration_s]
    if options.records is not None and options.rate is not None:
        limits.append(options.records / options.rate)
    return min(limits)


def soak_of(options: SoakOptions, topic: str) -> Soak:
    """Return a soak that is to begin, on a topic of this name."""
    is_seed = isinstance(options.faults, int)
    faults = "none" if options.faults is None else f"seed {options.faults}" if is_seed else str(options.faults)
    return Soak(
        version=options.line.release.version,
        metadata=options.line.metadata.value,
        topic=topic,
        partitions=options.partitions,
        replicas=options.replicas,
        min_insync_replicas=options.min_insync_replicas,
        producers=options.producers,
        acks=options.acks,
        is_idempotent=options.is_idempotent,
        base=random.Random(options.seed).randrange(1, IDS_BELOW),  # noqa: S311 - no secret: ids that can be repeated
        value_length=options.value_length,
        seed=options.seed,
        faults=faults,
        every_s=options.every_s if is_seed else None,
        is_provoking=options.is_provoking,
        records=options.records,
        duration_s=options.duration_s,
        rate=options.rate,
        rules_of=options.line.rules_of,
    )
