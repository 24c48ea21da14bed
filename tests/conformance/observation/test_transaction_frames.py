"""Is the wire of a script of transactions replayed, and is a frame named that the rules do not allow?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.observation import transaction_frames
from conformance.record.wire import frame_of
from oracle.rules.transactions import TransactionRules, transaction_rules

LATE_ABORT = Path(__file__).parent / "recorded" / "3.9.2-late-abort.ndjson"
"""The frames of producers and coordinators of TX-05/late-abort on brokers of 3.9.2."""


def refused_frame(path: Path, rules: TransactionRules) -> str | None:
    fates = {frame.seq: frame for line in path.read_bytes().splitlines() if (frame := frame_of(line)) is not None}
    return transaction_frames.refused_frame(fates.values(), rules)


def test_the_frames_of_brokers_are_taken_by_the_rules_of_their_release() -> None:
    assert refused_frame(LATE_ABORT, transaction_rules("3.9.2")) is None


def test_by_the_rules_of_another_release_one_is_refused() -> None:
    why = refused_frame(LATE_ABORT, transaction_rules("4.4.0"))
    assert why is not None
    assert "coordinator_epoch=0) is none that the coordinator has to write" in why, "of the epoch that ended"


def doctored(directory: Path, api: str, **changed: Any) -> Path:  # noqa: ANN401 - what a frame says
    """Return a copy in which the last answer of an api says something else."""
    lines = [json.loads(line) for line in LATE_ABORT.read_text(encoding="utf-8").splitlines()]
    last = [line for line in lines if (line["api"], line["direction"]) == (api, "response")][-1]
    last["decoded"].update(changed)
    path = directory / "wire.ndjson"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("api", ["EndTxn", "WriteTxnMarkers", "InitProducerId"])
def test_a_doctored_answer_is_named(api: str, tmp_path: Path) -> None:
    why = refused_frame(doctored(tmp_path, api, error=47), transaction_rules("3.9.2"))
    assert why is not None
    assert why.startswith("frame ")
    assert "INVALID_PRODUCER_EPOCH" in why


def test_a_wire_without_them_is_no_evidence(tmp_path: Path) -> None:
    path = tmp_path / "wire.ndjson"
    path.write_text("", encoding="utf-8")
    assert refused_frame(path, transaction_rules("3.9.2")) == "no request of a producer is on the wire"
