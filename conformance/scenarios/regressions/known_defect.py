"""What is in the track record? An issue, a release before it was repaired or built, one after, and what both show."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.scenarios.regressions.defect import FAMILY
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from conformance.catalogue.questions import Value
    from conformance.scenarios.regressions.signs import Sign


class Kind(StrEnum):
    """What the later release has done."""

    REPAIRED = "repaired defect"
    BUILT = "missing feature"


ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT


@dataclass(frozen=True, slots=True)
class Defect:
    """One known defect or missing feature, on a release that has it and on one that has it no more.

    Attributes:
        issue: as upstream names it.
        symptom: what goes wrong, in one sentence without its full stop.
        broken: the release that has it.
        fixed: a release that repaired it.
        metadata: who keeps the metadata on both.
        sign: by what it shows.
        there: what the broken release shows.
        here: what the fixed release shows.
        rules: the names of the rules that, changed and no others, have the broken release predicted as the fixed one.
        kind: whether it was a defect, or a feature that was not built yet.
    """

    issue: str
    symptom: str
    broken: str
    fixed: str
    metadata: MetadataMode
    sign: Sign
    there: Value
    here: Value
    rules: tuple[str, ...]
    kind: Kind = Kind.REPAIRED

    @property
    def scenario(self) -> str:
        """The name of its catalogue entry."""
        return f"{FAMILY}/{self.issue}"

    def command(self, release: str) -> str:
        """Return the command that shows it."""
        mode = " --metadata zookeeper" if (3, 3) <= _minor(release) < (4, 0) and self.metadata is ZOOKEEPER else ""
        return f"kafka-conformance run {self.scenario} --kafka {release}{mode}"


def _minor(release: str) -> tuple[int, int]:
    first, second = release.split(".")[:2]
    return int(first), int(second)
