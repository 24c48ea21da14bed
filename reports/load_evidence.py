"""Which files can a doubting reader open? Those of the run directory that exist, with what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.model import Evidence

if TYPE_CHECKING:
    from pathlib import Path

_FILES = (
    ("verdict.json", "both verdicts and every finding"),
    ("prediction/prediction.json", "what the model said before the first step"),
    ("outcome/prediction.json", "where a race was open: the outcome that fits what was measured"),
    ("prediction/questions.json", "what was asked besides, and what the model said before the first step"),
    ("schedule.json", "the steps, as both interpreters read them"),
    ("run.json", "versions, settings, digests, seed"),
    ("observations.ndjson", "every number that was measured"),
    ("answers.ndjson", "every answer, as it was measured"),
    ("timeline.ndjson", "every step, fault and held frame with its time"),
    ("wire.ndjson", "every frame between the brokers, and between them and the controller"),
    ("trace_check.json", "what the model says of these frames"),
    ("ledger", "what was sent, and what the producer was told"),
    ("topic", "what was read back from the topic"),
    ("replica_logs", "the decoded segments of every replica"),
    ("reconciliation/counts.json", "how many records fell into each class"),
    ("reconciliation/samples.json", "offending records"),
    ("reconciliation/checkpoints.json", "every number of every checkpoint, compared"),
    ("reconciliation/questions.json", "every answer, compared"),
)


def load_evidence(path: Path) -> tuple[Evidence, ...]:
    """Return the run's files that exist, in reading order, the brokers' own logs last."""
    fixed = [Evidence(name, path / name, says) for name, says in _FILES if (path / name).exists()]
    logs = sorted((path / "brokers").glob("*/server.log"))
    brokers = [Evidence(str(log.relative_to(path)), log, f"what broker {log.parent.name} logged") for log in logs]
    return (*fixed, *brokers)
