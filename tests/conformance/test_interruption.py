"""A missed deadline speaks against the brokers only if the tester itself kept going."""

from __future__ import annotations

import pytest

from conformance.interruption import STALL_S, missed
from fault_injection.waiting import DeadlineExceededError


@pytest.mark.parametrize(("gap_s", "verdict"), [(0.02, "DEVIATES"), (STALL_S + 1, "INCONCLUSIVE")])
def test_who_missed_a_deadline(gap_s: float, verdict: str) -> None:
    interruption = missed(DeadlineExceededError("leader 2", 30, None, gap_s))
    assert interruption.verdict == verdict
    assert "leader 2" in str(interruption)
