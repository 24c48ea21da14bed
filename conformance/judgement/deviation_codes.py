"""By which word does a verdict name what deviates, so that an accepted deviation can name it too?"""

from __future__ import annotations

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
EVERY_RUN = "every_run"
"""A requirement that every run is held against, and that did not hold: HW-01, HW-09 or HW-10."""
UNSAMPLED = "unsampled"
"""Deviations beyond the samples, of which only the number is known."""

CODES = frozenset(
    (*NUMBERS, *RECORDS, *REPLICA_LOGS, LEADER_EPOCH, AWAITED_STATE, QUESTION, TRACE, EVERY_RUN, UNSAMPLED)
)
