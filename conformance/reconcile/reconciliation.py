"""What does a reconciliation hand over, and how does it look in the run directory?"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Sample = Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Counts and bounded samples of what was found; facts, not verdicts.

    Attributes:
        totals: produced, predicted, read, acknowledged, refused, indeterminate.
        classes: how many records each class has; one record can be in several. ``diverged`` counts offsets.
        primary: how many records have each class as their gravest one; these add up to what was produced,
            phantoms and unattempted records apart.
        predicted: the classes as the prediction has them, and how many records it leaves undetermined.
        deviations: differences from the prediction, of records and of replica logs.
        deviations_by_kind: the same by ``record`` (which includes outcomes) and ``replica_log``.
        samples: up to 20 rows per class, of the deviations and of the divergences.
        identity_holds: every produced record was counted in exactly one primary class, and every row of
            ledger, prediction and topic is in the counts. When it is false no other number can be trusted.
        end_offset_read: the offset before which the topic was read; None when nothing says it.
    """

    totals: Mapping[str, int]
    classes: Mapping[str, int]
    primary: Mapping[str, int]
    predicted: Mapping[str, int]
    deviations: int
    deviations_by_kind: Mapping[str, int]
    samples: Mapping[str, Sample]
    identity_holds: bool
    end_offset_read: int | None

    @property
    def agrees_with_prediction(self) -> bool:
        """Whether every record and every replica log is as predicted, and the counts can be trusted."""
        return self.identity_holds and self.deviations == 0

    def write(self, run_directory: Path) -> None:
        """Write ``reconciliation/counts.json`` and ``samples.json``."""
        directory = run_directory / "reconciliation"
        directory.mkdir(exist_ok=True)
        counts = {
            "totals": self.totals,
            "classes": self.classes,
            "primary": self.primary,
            "predicted": self.predicted,
            "deviations": self.deviations,
            "deviations_by_kind": self.deviations_by_kind,
            "identity_holds": self.identity_holds,
            "end_offset_read": self.end_offset_read,
        }
        (directory / "counts.json").write_text(json.dumps(counts, indent=1) + "\n")
        (directory / "samples.json").write_text(json.dumps(self.samples, indent=1) + "\n")
