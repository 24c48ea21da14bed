"""Does what was measured equal what was predicted? Rows of numbers, side by side, for one run.

Pure: plain JSON values in, frozen rows out. Epochs are compared by order (contract 5): the map
from the model's leaderships to the brokers' epochs must be a function and must never decrease.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Row:
    """One compared number.

    Attributes:
        kind: what a disagreement is called among a verdict's findings: checkpoint or outcome.
        code: what deviates if the two sides differ, one of ``deviation_codes``; the kind where none is named.
    """

    what: str
    predicted: Any
    measured: Any
    kind: str = "checkpoint"
    code: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether prediction and measurement are the same."""
        return bool(self.predicted == self.measured)

    def as_json(self) -> dict[str, Any]:
        """Return the row as reconciliation/checkpoints.json has it."""
        return {
            "what": self.what,
            "predicted": self.predicted,
            "measured": self.measured,
            "agrees": self.agrees,
        }


def checkpoint_rows(predicted: Mapping[str, Any], measured: Mapping[str, Any]) -> list[Row]:
    """Compare one checkpoint: every replica's numbers, leader, ISR, remote log end offsets."""
    rows: list[Row] = []
    for broker, numbers in predicted["replicas"].items():
        seen = measured["replicas"].get(broker, {})
        rows.append(_number(f"broker {broker} log end offset", numbers, seen, "log_end_offset"))
        rows.append(_number(f"broker {broker} high watermark", numbers, seen, "high_watermark"))
        rows.append(_number(f"broker {broker} alive", numbers, seen, "alive"))
        start, seen_start = numbers.get("log_start_offset", 0), seen.get("log_start_offset", 0)
        if start or seen_start:
            rows.append(Row(f"broker {broker} log start offset", start, seen_start, code="log_start_offset"))
    rows.append(Row("leader", predicted["leader"], measured["leader"], code="leader"))
    rows.append(Row("isr", sorted(predicted["isr"]), sorted(measured["isr"]), code="isr"))
    if measured.get("elr") is not None:
        rows.append(Row("elr", sorted(predicted["elr"]), sorted(measured["elr"]), code="elr"))
    for follower, offset in predicted["remote_log_end_offsets"].items():
        seen_offset = measured["remote_log_end_offsets"].get(follower)
        instead = measured.get("or_if_diverging_counts", {}).get(follower)
        seen_offset = instead if instead is not None and instead == offset else seen_offset  # no frame tells which
        what = f"remote log end offset of broker {follower} (derived)"
        rows.append(Row(what, offset, seen_offset, code="remote_log_end_offset"))
    return rows


def _number(what: str, predicted: Mapping[str, Any], measured: Mapping[str, Any], field: str) -> Row:
    return Row(what, predicted[field], measured.get(field), code=field)


def outcome_rows(predicted: Iterable[Mapping[str, Any]], measured: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """Compare every produce's outcome, and its error where the model names one."""
    rows: list[Row] = []
    for record in predicted:
        seen = measured.get(record["label"], {})
        rows.append(Row(f"outcome of {record['label']}", record["outcome"], seen.get("outcome"), "outcome"))
        if record["error"] is not None:
            rows.append(Row(f"error of {record['label']}", record["error"], seen.get("error"), "outcome"))
    return rows


def learned_outcomes(observations: Iterable[Mapping[str, Any]], *, is_complete: bool) -> dict[str, Mapping[str, Any]]:
    """Return what producers learned of their records, by label.

    Args:
        observations: the lines of observations.ndjson.
        is_complete: whether the run took its course. Of one that ended early only what its steps saw counts: what
            was written down between steps was so as it ended, and it was the tester that cut the producers off.
    """
    outcomes = (seen for seen in observations if seen["kind"] == "outcome")
    return {seen["label"]: seen for seen in outcomes if is_complete or seen.get("step", 0) is not None}


def epoch_conflicts(pairs: Iterable[tuple[int, int]]) -> list[str]:
    """Return what is wrong with the map from leadership ordinals to observed leader epochs.

    Args:
        pairs: (ordinal of the model, epoch of the brokers), as seen at checkpoints and in logs;
            epochs below 0 (no epoch recorded) are passed over.
    """
    known = sorted({(epoch, ordinal) for ordinal, epoch in pairs if epoch >= 0})
    conflicts: list[str] = []
    for (epoch, ordinal), (next_epoch, next_ordinal) in itertools.pairwise(known):
        if epoch == next_epoch:
            conflicts.append(f"leader epoch {epoch} stands for leaderships {ordinal} and {next_ordinal}")
        elif next_ordinal < ordinal:
            conflicts.append(
                f"leader epoch {next_epoch} belongs to leadership {next_ordinal}, "
                f"but the lower epoch {epoch} belongs to {ordinal}"
            )
    return conflicts


def disagreements(rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose two sides differ."""
    return [row for row in rows if not row.agrees]
