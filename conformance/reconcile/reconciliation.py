"""What does a reconciliation hand over? Counts, samples and classes of what was found; facts, not verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.directory import RunDirectory
from conformance.record.reconciliation import write_reconciliation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from conformance.record.reconciliation import Counts, RecordClass

    Sample = Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What was found.

    Attributes:
        counts: by class; if they do not add up no other number can be trusted.
        samples: up to 20 rows per class, of the deviations and of the divergences.
        records: every record's class; empty of a run of very many records.
    """

    counts: Counts
    samples: Mapping[str, Sample]
    records: Sequence[RecordClass] = ()

    def write(self, run_directory: Path) -> None:
        """Write ``reconciliation/``."""
        write_reconciliation(RunDirectory(run_directory), self.counts, self.samples, self.records)
