"""Is a value with some fields changed the one that ``dataclasses.replace`` makes?"""

from __future__ import annotations

import dataclasses

import pytest

from oracle.log import ReplicaLog
from oracle.replacing import replace
from oracle.state import FollowerSession, ReplicaState
from oracle.vocabulary import BrokerId, Offset


@pytest.mark.parametrize(
    ("value", "changes"),
    [
        (ReplicaState(BrokerId(1)), {}),
        (ReplicaState(BrokerId(1)), {"alive": False, "high_watermark": Offset(2)}),
        (FollowerSession(), {"untaken": None}),
    ],
    ids=["nothing changes", "two fields change", "the only field"],
)
def test_it_makes_what_dataclasses_make(value: ReplicaState | FollowerSession, changes: dict[str, object]) -> None:
    before = dataclasses.replace(value)
    assert replace(value, **changes) == dataclasses.replace(value, **changes)  # type: ignore[arg-type]
    assert value == before


def test_it_knows_no_other_field() -> None:
    with pytest.raises(KeyError, match="nonsense"):
        replace(ReplicaLog(), nonsense=1)  # type: ignore[call-arg]
