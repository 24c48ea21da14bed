"""What is a known defect? An issue, a release that has it, one that has it no more, and what each of them shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.scenarios.regressions.defect import FAMILY
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from conformance.catalogue.questions import Value
    from conformance.scenarios.regressions.signs import Sign

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT


@dataclass(frozen=True, slots=True)
class Defect:
    """One known defect, on a release that has it and on one that has it no more.

    Attributes:
        issue: as upstream names it.
        symptom: what goes wrong, in one sentence without its full stop.
        broken: the release that has it.
        fixed: a release that repaired it.
        metadata: who keeps the metadata on both.
        sign: by what it shows.
        there: what the broken release shows.
        here: what the fixed release shows.
    """

    issue: str
    symptom: str
    broken: str
    fixed: str
    metadata: MetadataMode
    sign: Sign
    there: Value
    here: Value

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
