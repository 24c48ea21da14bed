"""What does each truncation rule answer about an epoch, and where does it cut? One table over one log (LE-03)."""

from __future__ import annotations

import pytest

from oracle.log import UNDEFINED, EpochEnd, ModelRecord, ReplicaLog
from oracle.rules.by_version import rules_for
from oracle.rules.truncation import TruncationPoint
from oracle.vocabulary import Label, LeaderEpoch, MetadataMode, Offset

UNKNOWN = (None, None)
EPOCHS = (-1, 0, 1, 2, 3, 4)
ANSWERS = {
    # the leader's log is m0/1 m1/1 m2/3: epoch 1 is [0, 2), epoch 3 is [2, 3)
    "0.10.2.2": (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
    "1.1.1": (UNKNOWN, UNKNOWN, (None, 2), (None, 2), (None, 3), UNKNOWN),
    "2.0.0": (UNKNOWN, UNKNOWN, (1, 2), (1, 2), (3, 3), UNKNOWN),
    "2.0.1": (UNKNOWN, (0, 0), (1, 2), (1, 2), (3, 3), UNKNOWN),
    "2.8.2": (UNKNOWN, (0, 0), (1, 2), (1, 2), (3, 3), UNKNOWN),
}


def log(*epochs: int) -> ReplicaLog:
    return ReplicaLog().append(ModelRecord(Label(f"m{i}"), LeaderEpoch(epoch)) for i, epoch in enumerate(epochs))


def end(epoch: int | None, offset: int | None) -> EpochEnd:
    return EpochEnd(None if epoch is None else LeaderEpoch(epoch), None if offset is None else Offset(offset))


@pytest.mark.parametrize(
    ("version", "asked"), [(version, index) for version in ANSWERS for index in range(len(EPOCHS))]
)
def test_leader_answers_about_an_epoch(version: str, asked: int) -> None:
    truncation = rules_for(version, MetadataMode.ZOOKEEPER).truncation
    answer = truncation.end_offset_for(log(1, 1, 3), LeaderEpoch(EPOCHS[asked]))
    assert answer == end(*ANSWERS[version][asked])


CUTS = [
    # follower's epochs, its high watermark, the answer -> where it cuts
    ("0.10.2.2", (0, 0, 0), 1, UNDEFINED, TruncationPoint(Offset(1))),
    ("1.1.1", (0, 0, 0), 1, UNDEFINED, TruncationPoint(Offset(1))),
    ("1.1.1", (0, 0, 0), 1, end(None, 2), TruncationPoint(Offset(2))),
    ("1.1.1", (0, 0, 0), 1, end(None, 9), TruncationPoint(Offset(3))),
    ("2.0.1", (0, 0, 0), 1, UNDEFINED, TruncationPoint(Offset(1))),
    ("2.0.1", (0, 0, 2), 1, end(0, 1), TruncationPoint(Offset(1))),
    ("2.0.1", (0, 0, 2), 1, end(0, 9), TruncationPoint(Offset(2))),
    ("2.0.1", (0, 2, 2), 1, end(1, 3), TruncationPoint(Offset(1), is_final=False)),
    ("2.0.0", (2, 2, 2), 1, end(1, 2), TruncationPoint(Offset(2))),
    ("2.0.1", (2, 2, 2), 1, end(1, 2), TruncationPoint(Offset(0))),
]


@pytest.mark.parametrize(("version", "epochs", "high_watermark", "answer", "cut"), CUTS)
def test_follower_cuts(
    version: str, epochs: tuple[int, ...], high_watermark: int, answer: EpochEnd, cut: TruncationPoint
) -> None:
    truncation = rules_for(version, MetadataMode.ZOOKEEPER).truncation
    assert truncation.cut(log(*epochs), Offset(high_watermark), answer) == cut
