"""What does a page of the site say? Plain values, gathered elsewhere from the catalogue and the model, drawn here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.record.transaction_course import TransactionCourse
    from conformance.record.verdict import Conformance, PromiseKept


@dataclass(frozen=True, slots=True)
class GoneRecord:
    """A record that a replica had at the checkpoint before, and has no more."""

    offset: int
    label: str


@dataclass(frozen=True, slots=True)
class ReplicaAt:
    """One replica at a checkpoint; the numbers of a dead broker are what its files say.

    Attributes:
        labels: its records, from offset 0 on.
        log_start_offset: what lies below was deleted.
        is_hung: its process is there, with its ports closed.
        ghosts: what it has cut, or forgotten, since the checkpoint before.
        replaced: what it has cut since then at offsets where it has other records now.
    """

    broker: int
    labels: tuple[str, ...]
    log_end_offset: int
    high_watermark: int
    log_start_offset: int = 0
    is_leader: bool = False
    is_in_sync: bool = False
    is_alive: bool = True
    is_hung: bool = False
    ghosts: tuple[GoneRecord, ...] = ()
    replaced: tuple[GoneRecord, ...] = ()

    @property
    def role(self) -> str:
        """Return what the replica is, in words."""
        if not self.is_alive:
            return "hangs" if self.is_hung else "down"
        return "leads" if self.is_leader else "in sync" if self.is_in_sync else "out of sync"


@dataclass(frozen=True, slots=True)
class CheckpointAt:
    """The partition at a checkpoint.

    Attributes:
        step: its number among the steps, from 1.
        isr: the controller's, of brokers.
    """

    step: int
    name: str
    leader: int | None
    isr: tuple[int, ...]
    replicas: tuple[ReplicaAt, ...]

    @property
    def leader_words(self) -> str:
        """Return who leads."""
        return "none" if self.leader is None else str(self.leader)

    @property
    def isr_words(self) -> str:
        """Return the in-sync replicas."""
        return ", ".join(map(str, self.isr)) or "none"


@dataclass(frozen=True, slots=True)
class WordsByLine:
    """What is said of some of the lines that do the same: another rule decides there.

    Attributes:
        lines: in words; empty where all say the same.
    """

    lines: str
    words: str


@dataclass(frozen=True, slots=True)
class RecordEnd:
    """What becomes of a record.

    Attributes:
        outcome: what its producer learns, in words.
        fate: such as ``present`` or ``lost``.
        offset: where it is readable; None if it is not.
        why: which step and which rule decided it, on which of the lines.
    """

    label: str
    outcome: str
    fate: str
    offset: int | None
    why: tuple[WordsByLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ToldAnswer:
    """What is asked of brokers, and what they must answer."""

    asked: str
    answer: str


@dataclass(frozen=True, slots=True)
class PredictedCourse:
    """What an entry comes to on the release lines that do the same.

    Attributes:
        anchor: of its place on the page.
        lines: the release lines, in words.
        not_run: why they have no such thing; then there is nothing else.
        promise: what becomes of the durability promise; None where no record is at stake.
        says: what is lost or kept, in words, on which of the lines.
        differs: in what it differs from what the newest line does, in words; empty of that one itself.
        race: the moves that decide for it where a race is open.
        transactions: of a script of transactions, what each request does.
    """

    anchor: str
    lines: str
    not_run: str = ""
    promise: PromiseKept | None = None
    says: tuple[WordsByLine, ...] = ()
    differs: tuple[str, ...] = ()
    race: str = ""
    checkpoints: tuple[CheckpointAt, ...] = ()
    records: tuple[RecordEnd, ...] = ()
    answers: tuple[ToldAnswer, ...] = ()
    transactions: TransactionCourse | None = None


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """The newest run of an entry on a line.

    Attributes:
        line: such as ``3.9.2/kraft``.
        date: the day on which it began; empty if its record does not say.
        address: of its report, from the page; empty if it has none.
    """

    line: str
    conformance: Conformance
    promise: PromiseKept | None
    date: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class EntryText:
    """One entry of the catalogue.

    Attributes:
        name: what commands take.
        id: its permanent anchor.
        declared_in: the file.
        basis: where its predicted answers come from, in words.
        runs_on: on which releases it exists, in words; empty for all.
        settings: of the topic, by their names; empty of an examination.
        command: runs it.
        courses: the newest release line's first; those that do not run it last.
        measured: its newest run on each line, oldest line first.
    """

    name: str
    id: str
    requirement: str
    sources: tuple[str, ...]
    explanation: str
    declared_in: str
    basis: str
    runs_on: str
    settings: tuple[tuple[str, str], ...]
    steps: tuple[str, ...]
    courses: tuple[PredictedCourse, ...]
    command: str
    measured: tuple[MeasuredRun, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteReference:
    """A place on the site: what is written there, a page's key such as ``requirements/TR-01``, an anchor on it."""

    words: str
    page: str
    anchor: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class LossesOfSettings:
    """A table of a setting's page: one kind of fault a column.

    Attributes:
        title: such as ``2 replicas``.
        heads: of the columns.
        rows: the settings, and what is found under them.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class ReleasesAlike:
    """What some value of a setting can lose, on the releases that lose the same."""

    releases: str
    tables: tuple[LossesOfSettings, ...]


@dataclass(frozen=True, slots=True)
class ValueOfSetting:
    """One value of a setting."""

    value: str
    alike: tuple[ReleasesAlike, ...]


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of the site.

    Attributes:
        key: its place, such as ``requirements/TR-01``.
        kind: of what it is, as the list has it: ``requirement``, ``known defect``, ``open defect``, …
        name: what it is called, its permanent anchor.
        sentence: what it says, in one.
        area: under which heading it is listed.
        facts: what else is known, by what it is called.
        sources: what is cited.
        entries: those that prove or show it, in full.
        related: places elsewhere on the site.
        related_title: what they are.
        values: of a setting.
        notes: further sentences.
        commands: what shows it, under ``commands_title``.
    """

    key: str
    kind: str
    name: str
    sentence: str
    area: str
    facts: tuple[tuple[str, str], ...] = ()
    sources: tuple[str, ...] = ()
    entries: tuple[EntryText, ...] = ()
    related_title: str = ""
    related: tuple[SiteReference, ...] = ()
    values: tuple[ValueOfSetting, ...] = ()
    notes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    commands_title: str = "Seen on brokers"
