"""What does a run mean? ``verdict.json``: both answers with their reason, findings and losses."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory

VERDICT_FILE = "verdict.json"


class Conformance(StrEnum):
    """Did the brokers behave as the model says?"""

    CONFORMS = "CONFORMS"
    DEVIATES = "DEVIATES"
    INCONCLUSIVE = "INCONCLUSIVE"
    HARNESS_ERROR = "HARNESS_ERROR"
    NOT_RUN = "NOT_RUN"


class PromiseKept(StrEnum):
    """Was the durability promise of the settings kept?"""

    KEPT = "KEPT"
    ALLOWED_BY_SETTINGS = "ALLOWED_BY_SETTINGS"
    BROKEN_AS_PREDICTED = "BROKEN_AS_PREDICTED"
    BROKEN = "BROKEN"
    NO_PROMISE = "NO_PROMISE"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that speaks against a run, in words.

    Attributes:
        code: what deviates, one of ``CODES``; the kind where none is known.
    """

    kind: str
    text: str
    code: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RecordLoss:
    """A record that was lost: the promise it broke, or the settings that allowed it."""

    label: str
    promise: str
    reason: str


EVERY_RUN = ("HW-01", "HW-09", "HW-10")
"""The requirements that every run is held against."""


@dataclass(frozen=True, slots=True)
class HeldInRun:
    """A requirement that every run is held against: how often it held.

    Attributes:
        requirement: the row, such as HW-01.
        probes: observations of the probes for which it held.
        frames: observations on the wire for which it held.
        broken: where it did not, one sentence each.
    """

    requirement: str
    probes: int = 0
    frames: int = 0
    broken: tuple[str, ...] = ()

    @property
    def observations(self) -> int:
        """How many observations it held for."""
        return self.probes + self.frames

    def __add__(self, other: HeldInRun) -> HeldInRun:
        probes, frames = self.probes + other.probes, self.frames + other.frames
        return HeldInRun(self.requirement, probes, frames, (*self.broken, *other.broken))


@dataclass(frozen=True, slots=True)
class DifferingNumber:
    """A replica's number that was not as predicted when a step had ended.

    Attributes:
        step: counted from 0.
        number: log_end_offset or high_watermark.
    """

    step: int
    broker: int
    number: str
    predicted: int
    measured: int


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """A record that a replica held from a step on, as far as the logs after the run confirm it.

    Attributes:
        step: counted from 0.
        label: the record's name in the schedule.
        replaced: the record that it took the place of within this step, so that no offset shows the cut; else None.
    """

    step: int
    broker: int
    offset: int
    label: str
    replaced: str | None = None


@dataclass(frozen=True, slots=True)
class StaleLeader:
    """A broker that led and, when a step had ended, had not heard of its successor: a held frame would tell it.

    Attributes:
        step: counted from 0.
    """

    step: int
    broker: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The two answers with their reason and findings.

    Attributes:
        accepted: issue and reason of the accepted finding that this deviation is, else None.
        codes: what deviates, in the words of ``CODES``, sorted.
        every_run: the requirements that every run is held against; empty of an examination, and of a run of format 1.
        scenario: of the run, as are ``kafka``, ``metadata``, ``backend`` and ``seconds``.
        differences: offsets of replicas that were not as predicted after a step, whether that is a finding or not (a
            follower may be a step late); None of an examination, of a run that was never compared, of an older tester.
        held_records: which record each replica held from when on; empty where the logs after the run do not confirm it,
            None where ``differences`` is, as are ``stale_leaders``: which brokers had not heard of their successor.
        promise_reason: by what the promise was not kept, in words; None if it was, or of an older tester.
        rules_of: another release by whose rules the run was judged, with ``rules_metadata``; None of its own.
    """

    conformance: Conformance
    promise: PromiseKept | None
    reason: str
    findings: tuple[Finding, ...] = ()
    losses: tuple[RecordLoss, ...] = ()
    accepted: str | None = None
    codes: tuple[str, ...] = ()
    every_run: tuple[HeldInRun, ...] = ()
    scenario: str | None = None
    kafka: str | None = None
    metadata: str | None = None
    backend: str | None = None
    seconds: float | None = None
    rules_of: str | None = None
    rules_metadata: str | None = None
    promise_reason: str | None = None
    differences: tuple[DifferingNumber, ...] | None = field(default=None, compare=False)
    held_records: tuple[HeldRecord, ...] | None = field(default=None, compare=False)
    stale_leaders: tuple[StaleLeader, ...] | None = field(default=None, compare=False)

    @property
    def counted(self) -> Conformance:
        """What this verdict counts as for exit codes: an accepted deviation does not fail."""
        return Conformance.CONFORMS if self.accepted is not None else self.conformance


def read_verdict(run: RunDirectory, name: str = VERDICT_FILE) -> Verdict | None:
    """Read the verdict of a run; None if it was not judged.

    Raises:
        RunDirectoryError: it cannot be read.
    """
    return run.read(name, Verdict) if run.has(name) else None


def write_verdict(run: RunDirectory, verdict: Verdict, name: str = VERDICT_FILE) -> None:
    """Write the verdict of a run."""
    run.write(name, verdict)


# By which word does a verdict name what deviates, so that an accepted finding can name it too?

NUMBERS = (
    *("log_start_offset", "log_end_offset", "high_watermark", "alive"),
    *("leader", "isr", "elr", "remote_log_end_offset"),
)
"""A number of a checkpoint that differs."""
RECORDS = (
    *("missing", "unexpected", "phantom", "duplicated", "value_changed"),
    *("moved", "outcome", "unattempted", "unpredicted"),
)
"""What is wrong with a record, in the words of the reconciliation."""
REPLICA_LOGS = ("replica_log", "diverged")
"""An entry of a replica's log that differs, and replicas that disagree."""
LEADER_EPOCH = "leader_epoch"
"""Leader epochs that do not follow the leaderships of the model."""
AWAITED_STATE = "awaited_state"
"""A state that never came although every process and link was healthy."""
QUESTION = "question"
"""An answer that is missing, was not asked for, or is not the predicted one."""
TRACE = "trace"
"""A frame on the wire that no rule of the release allows."""
NOT_HELD = "every_run"
"""A requirement that every run is held against, and that did not hold: HW-01, HW-09 or HW-10."""
UNSAMPLED = "unsampled"
"""Deviations beyond the samples, of which only the number is known."""

CODES = frozenset(
    (*NUMBERS, *RECORDS, *REPLICA_LOGS, LEADER_EPOCH, AWAITED_STATE, QUESTION, TRACE, NOT_HELD, UNSAMPLED)
)
