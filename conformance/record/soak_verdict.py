"""What does a soak come to? ``verdict.json``: both answers, as of a run, and what speaks for them."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.record.verdict import VERDICT_FILE, Conformance, PromiseKept

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory


class ApartAs(StrEnum):
    """How two replicas compare with what was predicted of them, at some offsets.

    PREDICTED: they differ, and must. EITHER: they differ, where they may. AGAINST: they differ, and must not.
    NOT_THERE: they must differ, and do not.
    """

    PREDICTED = "predicted"
    EITHER = "either"
    AGAINST = "against"
    NOT_THERE = "not_there"


@dataclass(frozen=True, slots=True)
class JudgedRange:
    """Offsets, first to last, at which two replicas differ, or must; why, if that was predicted."""

    judged: ApartAs
    partition: int
    broker_a: int
    broker_b: int
    first_offset: int
    last_offset: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReplicasJudged:
    """How the replicas' logs compare with what was predicted of them.

    Attributes:
        offsets: how many of each kind there are, in all partitions; each once, whoever differs there.
        ranges: where, up to 60, those against the prediction first.
        more_ranges: how many there are besides.
    """

    offsets: Mapping[str, int]
    ranges: tuple[JudgedRange, ...] = ()
    more_ranges: int = 0

    def of(self, judged: ApartAs) -> int:
        """Return how many offsets of a kind there are."""
        return self.offsets.get(judged, 0)


@dataclass(frozen=True, slots=True)
class FaultsOfSoak:
    """What became of the faults of a soak.

    Attributes:
        done: how many were carried out as planned, and healed.
        begun: how many were begun: those, what did not go as planned, and what the end of load cut short.
        left_out: how many never came.
        notes: what did not go as planned, in sentences; no finding about brokers.
    """

    done: int = 0
    begun: int = 0
    left_out: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SoakVerdict:
    """The end of a soak.

    Attributes:
        conformance: whether every record became what was predicted, and every frame is one that the rules allow.
        promise: whether acknowledged records were kept, as the settings promise.
        reason: the first thing to know, in a sentence.
        findings: what deviates, or leaves it open, in sentences.
        faults: what became of those that were asked for.
        replicas: how their logs compare with the prediction; None if they were not compared.
    """

    conformance: Conformance
    promise: PromiseKept
    reason: str
    findings: tuple[str, ...]
    faults: FaultsOfSoak
    replicas: ReplicasJudged | None = None


def read_soak_verdict(run: RunDirectory) -> SoakVerdict:
    """Read the verdict.

    Raises:
        RunDirectoryError: there is none.
    """
    return run.read(VERDICT_FILE, SoakVerdict)
