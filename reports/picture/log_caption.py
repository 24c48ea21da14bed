"""What stands below the picture of the final logs? Where they are from, and whether their records have epochs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.model import FinalLogs

DECODED = "The replicas' logs as decoded from their segments after the run"
WITH_EPOCHS = f"{DECODED}, with the leader epoch of each record."
WITHOUT_EPOCHS = f"{DECODED}. This format has no epochs: no record says under which leader epoch it was written."


def have_epochs(final: FinalLogs) -> bool:
    """Tell whether any record carries a leader epoch; up to message format 1 none does."""
    return any(entry.leader_epoch is not None for log in final.logs for entry in log.entries)


def log_caption(final: FinalLogs) -> str:
    """Return the caption; what was not measured says so itself."""
    is_without = any(log.entries for log in final.logs) and not have_epochs(final)
    return final.note or (WITHOUT_EPOCHS if is_without else WITH_EPOCHS)
