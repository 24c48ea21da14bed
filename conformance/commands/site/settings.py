"""What does each setting decide? What every choice of it can lose, on which releases, by the kept guarantee table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.requirements import REQUIREMENTS
from conformance.commands.guarantee_glance import answer_rows
from conformance.commands.site.gathering import REQUIREMENTS_AT
from conformance.commands.site.ranges import in_ranges
from conformance.kept_guarantees import kept_table
from oracle.brokers.questions import SEARCHED, Faults, cells
from oracle.guarantees import promise_of
from oracle.rules.release import age
from oracle.steps.topic import MIN_ISR, UNCLEAN
from oracle.vocabulary import Acks, MetadataMode, ProduceOutcome
from reports.site.model import LossesOfSettings, ReleasesAlike, SitePage, SiteReference, ValueOfSetting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oracle.brokers.guarantee_table import GuaranteeRow
    from oracle.brokers.questions import GuaranteeCell

SETTINGS_AT = "settings"
AREA = "Settings"


@dataclass(frozen=True, slots=True)
class GuaranteeSetting:
    """One setting that the guarantee table asks about.

    Attributes:
        name: as Kafka calls it.
        says: what it decides, in a sentence.
        values: in order, as Kafka takes them, with which cells of the table have it.
        rows: the requirements that are about it.
    """

    name: str
    says: str
    values: tuple[tuple[str, Callable[[GuaranteeCell], bool]], ...]
    rows: tuple[str, ...]


def _has_acks(acks: Acks) -> Callable[[GuaranteeCell], bool]:
    return lambda cell: cell.acks is acks


def _has_minimum(minimum: int) -> Callable[[GuaranteeCell], bool]:
    return lambda cell: cell.min_isr == minimum


def _has_replicas(replicas: int) -> Callable[[GuaranteeCell], bool]:
    return lambda cell: cell.replicas == replicas


SETTINGS = (
    GuaranteeSetting(
        "acks",
        "Whom a producer waits for: all in-sync replicas, the leader alone, or nobody.",
        tuple((acks.word, _has_acks(acks)) for acks in (Acks.ALL, Acks.LEADER, Acks.NONE)),
        ("AC-01", "AC-02", "AC-03", "AC-06", "EL-03"),
    ),
    GuaranteeSetting(
        MIN_ISR,
        "How many replicas must be in sync for a record with acks=all to be accepted.",
        tuple((str(minimum), _has_minimum(minimum)) for minimum in (1, 2, 3)),
        ("AC-04", "AC-05", "AC-06", "HW-08", "EL-03"),
    ),
    GuaranteeSetting(
        UNCLEAN,
        "Whether a replica outside the in-sync replicas may lead when none of them lives, and records be lost.",
        (("false", lambda cell: not cell.unclean), ("true", lambda cell: cell.unclean)),
        ("EL-01", "EL-02", "EL-05", "TR-08", "EL-03"),
    ),
    GuaranteeSetting(
        "replication.factor",
        "How many replicas a partition has: how many brokers may die before nobody has its records.",
        tuple((str(replicas), _has_replicas(replicas)) for replicas in SEARCHED),
        ("TR-02", "TR-03", "IS-07", "EL-03"),
    ),
)

NOTE = (
    "A table has the words of the guarantee table that is kept with the model: for each choice of settings and each "
    "kind of fault the steps of the shortest schedule that loses an acknowledged record, and whether that breaks what "
    "the settings promise. “None found” is no proof: it is about the model, within bounds. “RF 3 searched whole” is "
    "every state that three replicas reach within them."
)
UNHEEDED = (
    "In KRaft mode releases before 3.9 do not look at unclean.leader.election.enable (KAFKA-12670): there it changes "
    "nothing."
)


def setting_pages() -> Iterator[SitePage]:
    """Yield a page for every setting."""
    sentences = {one.id: one.sentence for one in REQUIREMENTS}
    for setting in SETTINGS:
        notes = (NOTE, *((UNHEEDED,) if setting.name == UNCLEAN else ()))
        yield SitePage(
            key=f"{SETTINGS_AT}/{setting.name}",
            kind="setting",
            name=setting.name,
            sentence=setting.says,
            area=AREA,
            facts=tuple(_promises()) if setting.name == "acks" else (),
            values=tuple(ValueOfSetting(value, tuple(_alike(has))) for value, has in setting.values),
            notes=notes,
            related_title="Requirements about it",
            related=tuple(SiteReference(row, f"{REQUIREMENTS_AT}/{row}", says=sentences[row]) for row in setting.rows),
            commands=("kafka-conformance guarantees --kafka 4.4.0 --acks all --min-isr 2 --unclean off --replicas 3",),
            commands_title="One choice of settings, step by step",
        )


def _promises() -> Iterator[tuple[str, str]]:
    """Yield what each acks promises of an acknowledged record."""
    for acks in (Acks.ALL, Acks.LEADER):
        yield f"acks={acks.word} promises", promise_of(acks, ProduceOutcome.ACKNOWLEDGED) or "nothing"
    yield "acks=0 promises", "nothing: nothing is acknowledged"


def _alike(has: Callable[[GuaranteeCell], bool]) -> Iterator[ReleasesAlike]:
    """Yield what the cells of one value can lose, the releases that lose the same together, the oldest first."""
    alike: dict[tuple[LossesOfSettings, ...], list[str]] = {}
    for row in kept_table().rows:
        alike.setdefault(tuple(_tables(row, has)), []).extend(map(_line, row.releases))
    every = sorted((_line(one) for row in kept_table().rows for one in row.releases), key=_age)
    for tables, releases in sorted(alike.items(), key=lambda pair: min(map(_age, pair[1]))):
        yield ReleasesAlike(in_ranges(releases, every, "every release"), tables)


def _tables(row: GuaranteeRow, has: Callable[[GuaranteeCell], bool]) -> Iterator[LossesOfSettings]:
    for replicas in SEARCHED:
        if any(has(cell) for cell in cells() if cell.replicas == replicas):
            title = f"{replicas} replica{'s' * (replicas > 1)}"
            yield LossesOfSettings(
                title, tuple(faults.value for faults in Faults), tuple(answer_rows(row, replicas, has))
            )


def _line(release: str) -> str:
    return release.replace(" ", "/")


def _age(release: str) -> tuple[bool, tuple[int, ...]]:
    version, mode = release.split("/")
    return age(version, MetadataMode(mode))
