"""What does a soak come to? ``verdict.json``: both answers, as of a run, and what speaks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.verdict import VERDICT_FILE, Conformance, PromiseKept

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory


@dataclass(frozen=True, slots=True)
class SoakVerdict:
    """The end of a soak.

    Attributes:
        conformance: whether every record became what was predicted, and every frame is one that the rules allow.
        promise: whether acknowledged records were kept, as the settings promise.
        reason: the first thing to know, in a sentence.
        findings: what deviates, or leaves it open, in sentences.
        faults_done: how many faults were carried out and healed.
        faults_left_out: how many of the timeline never came.
        notes: what did not go as planned, in sentences; no finding about brokers.
    """

    conformance: Conformance
    promise: PromiseKept
    reason: str
    findings: tuple[str, ...] = ()
    faults_done: int = 0
    faults_left_out: int = 0
    notes: tuple[str, ...] = ()


def read_soak_verdict(run: RunDirectory) -> SoakVerdict:
    """Read the verdict.

    Raises:
        RunDirectoryError: there is none.
    """
    return run.read(VERDICT_FILE, SoakVerdict)
