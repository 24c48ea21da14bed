"""What is in the directory of a soak? Its files, by name and form.

``soak.json`` says what was asked and how far it is; ``faults.json`` which faults are to come when, ``timeline.ndjson``
what was done; ``wire.ndjson.zst`` every frame; ``producers/<k>/ledger/`` what producer k attempted and was told;
``prediction/`` what must have become of every record, frozen before the topic is read; ``reconciliation/`` what Spark
counted; ``verdict.json`` the end of it.

Record ids: those of producer k are ``base + k * IDS_MAX`` and on; record n of a producer goes to partition n modulo the
number of partitions. So ids of one producer and partition are an arithmetic progression, and their order is that of
the offsets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.record.attached import IDS_MAX
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.directory import RunDirectory

SOAK_FILE = "soak.json"
FAULTS_FILE = "faults.json"
WIRE_FILE = "wire.ndjson.zst"
PRODUCERS = "producers"


class AcksOfProducers(StrEnum):
    """What producers wait for: ``mixed``: those of even numbers for all in-sync replicas, the others for the leader."""

    ALL = "all"
    LEADER = "1"
    MIXED = "mixed"

    def of(self, producer: int) -> Acks:
        """Return what one producer waits for."""
        is_all = self is AcksOfProducers.ALL or (self is AcksOfProducers.MIXED and producer % 2 == 0)
        return Acks.ALL if is_all else Acks.LEADER


@dataclass(frozen=True, slots=True)
class Soak:
    """What was asked of a soak, and what is known of it by now.

    Attributes:
        version, metadata: of the brokers: a release, and ``zookeeper`` or ``kraft``.
        topic_id: None where brokers have none (before 2.8).
        producers: how many processes produce side by side.
        base: the first record id of the first producer.
        records: how many all producers together send; None until the time is over.
        duration_s: how long they send; None until all records are sent.
        rate: records a second of all producers together; None as fast as brokers take them.
        seed: of everything that is drawn.
        faults: ``none``, ``seed`` and its number, or the name of a file.
        every_s: from one drawn fault to the next; None where none are drawn.
        is_provoking: whether faults are drawn that provoke losses.
        rules_of: the rules that the soak is held against, if they are not the release's own.
        lag_time_max_ms: ``replica.lag.time.max.ms`` of the brokers.
        ends: high watermark of each partition at rest, where reading ends; empty before.
        bootstrap: ``host:port`` of the brokers that are asked for the topic, separated by commas.
        began_ns, ended_ns: when records began to be sent, and when all outcomes were known; monotonic, as the wire's.
        began_wall_ns: the same beginning by the wall clock, as the ledgers have it.
    """

    version: str
    metadata: str
    topic: str
    partitions: int
    replicas: int
    min_insync_replicas: int
    producers: int
    acks: AcksOfProducers
    is_idempotent: bool
    base: int
    value_length: int
    seed: int
    faults: str = "none"
    every_s: float | None = None
    is_provoking: bool = False
    records: int | None = None
    duration_s: float | None = None
    rate: int | None = None
    rules_of: str | None = None
    lag_time_max_ms: int = 30_000
    topic_id: str | None = None
    ends: tuple[int, ...] = ()
    bootstrap: str = ""
    began_ns: int = 0
    began_wall_ns: int = 0
    ended_ns: int | None = None

    def first_id(self, producer: int) -> int:
        """Return the first record id of a producer."""
        return self.base + producer * IDS_MAX


def ledger_directories(run: RunDirectory, soak: Soak) -> tuple[Path, ...]:
    """Return the directories that have ``ledger/`` of each producer, by its number."""
    return tuple(run.path / PRODUCERS / str(number) for number in range(soak.producers))


def note_soak(run: RunDirectory, soak: Soak, **changes: object) -> Soak:
    """Write what is known of a soak by now, and return it."""
    changed = replace(soak, **changes)  # type: ignore[arg-type]
    run.write(SOAK_FILE, changed)
    return changed


def read_soak(run: RunDirectory) -> Soak:
    """Read what was asked, and what is known by now.

    Raises:
        RunDirectoryError: the directory has no soak.
    """
    return run.read(SOAK_FILE, Soak)
