"""What does a report know about a run? Frozen views; ``reports.load`` fills them from a run directory.

Every number that a run directory may lack is optional: a page shows what there is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reports.story import Story
from reports.version_matrix import own_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from conformance.record.observations import Observation
    from conformance.record.prediction import FrozenPrediction
    from conformance.record.reconciliation import ComparedCheckpoint, Counts, RecordClass
    from conformance.record.replica_logs import LogEntry
    from conformance.record.schedule import ScheduleInWords
    from conformance.record.timeline import TimelineMark
    from conformance.record.transaction_course import TransactionCourse
    from conformance.record.verdict import Conformance, Finding, HeldInRun, PromiseKept, RecordLoss, Verdict
    from reports.story import OpenRace
    from reports.wire import Wire


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a run that several parts of its view are made of; what there is not is None or empty."""

    schedule: ScheduleInWords | None = None
    prediction: FrozenPrediction | None = None
    verdict: Verdict | None = None
    timeline: Sequence[TimelineMark] = ()
    observations: Sequence[Observation] = ()
    counts: Counts | None = None
    classes: Sequence[RecordClass] = ()
    checkpoints: Sequence[ComparedCheckpoint] = ()
    replica_logs: Sequence[LogEntry] | None = None


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """One number of a checkpoint: what was predicted, what was measured, whether they agree."""

    what: str
    predicted: str
    measured: str
    agrees: bool


@dataclass(frozen=True, slots=True)
class CheckpointView:
    """A checkpoint of the schedule, numbered from 1."""

    number: int
    name: str
    rows: tuple[ComparisonView, ...]


@dataclass(frozen=True, slots=True)
class RecordView:
    """One produced record: prediction beside measurement.

    Attributes:
        offset: the first one at which it is in the topic; None if it is not, or was not looked for.
        acknowledged_offset: what its producer was told; None if it was told none.
    """

    label: str
    acks: str
    predicted_outcome: str
    measured_outcome: str
    predicted_fate: str
    measured_fate: str
    offset: int | None
    decided_by: str
    promise: str
    promise_reason: str
    deviates: bool
    acknowledged_offset: int | None = None


@dataclass(frozen=True, slots=True)
class EntryView:
    """One record in one replica's log when the run ended."""

    offset: int
    label: str
    leader_epoch: int | None
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class ReplicaLogView:
    """One replica's final log and the high watermark it ended with."""

    broker: int
    entries: tuple[EntryView, ...]
    high_watermark: int | None


@dataclass(frozen=True, slots=True)
class Ghost:
    """A record that once had this offset and is no longer in the topic: lost, or never committed."""

    label: str
    offset: int
    fate: str


@dataclass(frozen=True, slots=True)
class FinalLogs:
    """The replicas' logs after the run.

    ``deleted`` are labels below the log start, still in a segment; ``note`` says why there is nothing to draw, or
    where it is from.
    """

    logs: tuple[ReplicaLogView, ...] = ()
    ghosts: tuple[Ghost, ...] = ()
    diverged_offsets: frozenset[int] = frozenset()
    measured: bool = False
    note: str = ""
    deleted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ClassCount:
    """How many records fell into one class, predicted and measured; whether these two differ."""

    name: str
    predicted: int | None
    measured: int
    differs: bool


@dataclass(frozen=True, slots=True)
class Records:
    """Every record of a run with the reconciliation's counts.

    Attributes:
        acks: every value that a record was sent with, in words (all, 1, 0), be the record shown or not.
    """

    rows: tuple[RecordView, ...] = ()
    total: int = 0
    acks: tuple[str, ...] = ()
    classes: tuple[ClassCount, ...] = ()
    totals: Mapping[str, int] = field(default_factory=dict)
    identity_holds: bool | None = None


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The two answers of a run, never mixed.

    Attributes:
        promise: None if there was no measurement to judge by.
        promise_reason: by what the promise was not kept, in words; empty if it was.
        is_cut_short: the tester was made to end in the middle of the run, so that neither answer tells of brokers.
    """

    conformance: Conformance
    promise: PromiseKept | None
    reason: str
    findings: tuple[Finding, ...] = ()
    losses: tuple[RecordLoss, ...] = ()
    promise_reason: str = ""
    is_cut_short: bool = False


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """A file or folder of the run directory that a reader may want to open."""

    name: str
    path: Path
    says: str


@dataclass(frozen=True, slots=True)
class RunView:
    """One run: one scenario on one cluster.

    Attributes:
        name: the scenario's full name, by which people select it (``EL-02/unsafe``).
        scenario: the name without its variant.
        explanation: what a reader should look for.
        is_examination: whether it has answers only, and no record at stake.
        rules: another release, with its metadata mode, by whose rules it was judged; empty if by its own.
        basis: where its predictions come from: predicted, computed or documented; empty if the run does not say.
        told_steps: what an examination did, in prose.
        asked: what it had to answer besides numbers and records, in the order of the answers.
        course: of a script of transactions, what each request does by the rules; None of everything else.
        wire: what the check of the wire trace found; None for a run that was never checked.
        every_run: the requirements that every run is held against.
        label: what the user calls the Kafka of their own that was run; empty if it has no name.
        build: the version that its broker's jar has; empty of a release's own jars.
        has_elr: whether its cluster has eligible leader replicas (KIP-966), or the run does not say.
    """

    name: str
    anchor: str
    path: Path
    run: str
    scenario: str
    schedule_id: str
    requirement: str
    sources: tuple[str, ...]
    variant: str
    kafka: str
    metadata: str
    backend: str
    seed: str
    started: datetime | None
    seconds: float | None
    verdict: VerdictView
    race: OpenRace | None = None
    explanation: str = ""
    user_settings: Mapping[str, str] = field(default_factory=dict)
    imposed_settings: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    quirks: tuple[str, ...] = ()
    identity: Mapping[str, str] = field(default_factory=dict)
    story: Story = field(default_factory=Story)
    checkpoints: tuple[CheckpointView, ...] = ()
    records: Records = field(default_factory=Records)
    final_logs: FinalLogs = field(default_factory=FinalLogs)
    evidence: tuple[EvidenceFile, ...] = ()
    wire: Wire | None = None
    every_run: tuple[HeldInRun, ...] = ()
    is_examination: bool = False
    rules: str = ""
    basis: str = ""
    told_steps: tuple[str, ...] = ()
    asked: tuple[QuestionView, ...] = ()
    course: TransactionCourse | None = None
    has_elr: bool = True
    label: str = ""
    build: str = ""

    @property
    def own(self) -> str:
        """Which Kafka of the user's was run as this release, in words; empty if its own jars were."""
        return own_words(self.label, self.build)

    @property
    def short_reason(self) -> str:
        """Return the verdict's reason without what the page tells apart: a promise's, the moves of an open race."""
        moves = "; ".join(self.race.measured.moves) if self.race and self.race.measured else ""
        promise = self.verdict.promise_reason
        reason = self.verdict.reason.removesuffix(f"; {promise}") if promise else self.verdict.reason
        return reason.removesuffix(f": {moves}") if moves else reason

    @property
    def first_cause(self) -> str:
        """Return what speaks against the run first; the verdict's reason where no finding was kept."""
        return self.verdict.findings[0].text if self.verdict.findings else self.short_reason

    @property
    def consequences(self) -> tuple[str, ...]:
        """Return what else speaks against the run, each once: what came first may have led to it."""
        return tuple(dict.fromkeys(one.text for one in self.verdict.findings[1:]))


# What does a report know about a question? What was asked, and both answers in words.


@dataclass(frozen=True, slots=True)
class QuestionView:
    """One question with its answers.

    Attributes:
        predicted: the predicted answer; empty if nobody predicted that this is answered.
        measured: the measured answer; empty if there is none.
        remark: why there is none, or why it does not count.
        agrees: whether measured is as predicted; None if the run never came that far.
        parts: of a list, whether each part is as predicted; empty if the judge did not say.
    """

    what: str
    predicted: str
    measured: str
    remark: str
    agrees: bool | None
    parts: tuple[bool, ...] = ()

    @property
    def differs(self) -> bool:
        """Return whether the answer speaks against the brokers."""
        return self.agrees is False
