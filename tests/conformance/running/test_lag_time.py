"""Is a follower that was silent for too long noticed? And does the lag time pass when it is asked for?"""

from __future__ import annotations

import time

import pytest

from conformance.interruption import InconclusiveError
from conformance.running import lag_time
from conformance.running.lag_time import LAG_S, LagTime
from fault_injection.cluster.imposed import _LAG_MS
from fault_injection.waiting import DeadlineExceededError, until
from oracle.vocabulary import BrokerId, Timing

TWO = BrokerId(2)


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_the_lag_time_is_the_clusters() -> None:
    assert _LAG_MS == LAG_S * 1000


def test_a_follower_that_is_silent_for_too_long_makes_the_run_inconclusive() -> None:
    clock = Clock()
    lag = LagTime(Timing.LAG, clock)
    lag.require_short({TWO: clock.now_s - 2.4}, {})
    with pytest.raises(InconclusiveError, match=r"broker 2 was silent for 2\.6 s before await_lag"):
        lag.require_short({TWO: clock.now_s - 2.6}, {})


def test_with_the_other_timing_silence_does_not_matter() -> None:
    LagTime(Timing.SESSION, Clock()).require_short({TWO: 0.0}, {})


def test_after_the_lag_time_has_passed_only_later_silence_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag_time, "LAG_S", 0.02)
    monkeypatch.setattr(lag_time, "SHRINK_GRACE_S", 0.01)
    monkeypatch.setattr(lag_time, "LAST_FETCH_S", 0.0)
    lag = LagTime(Timing.LAG)
    before = time.monotonic()
    lag.let_pass({})
    assert time.monotonic() - before >= 0.04
    lag.require_short({TWO: before}, {})
    with pytest.raises(InconclusiveError):
        lag.require_short({TWO: time.monotonic() - 0.021}, {})


def test_who_has_left_may_be_silent_for_other_reasons_until_a_fetch_comes_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lag_time, "LAG_S", 0.02)
    monkeypatch.setattr(lag_time, "SHRINK_GRACE_S", 0.01)
    monkeypatch.setattr(lag_time, "LAST_FETCH_S", 0.0)
    lag = LagTime(Timing.LAG)
    lag.let_pass({TWO})
    end = time.monotonic() + 0.03
    until(lambda: time.monotonic() >= end, deadline_s=1, what="more than the lag time")
    cut = {TWO: end - 0.03}
    lag.require_short(cut, {})
    with pytest.raises(InconclusiveError):
        lag.require_short(cut, cut)
    lag.let_pass({TWO})
    lag.require_short({}, {})
    end = time.monotonic() + 0.03
    until(lambda: time.monotonic() >= end, deadline_s=1, what="more than the lag time")
    with pytest.raises(InconclusiveError):
        lag.require_short({TWO: end - 0.03}, {})


def test_a_clock_that_stands_still_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag_time, "LAG_S", 0.01)
    monkeypatch.setattr(lag_time, "SHRINK_GRACE_S", 0.01)
    with pytest.raises(DeadlineExceededError, match="the lag time to pass"):
        LagTime(Timing.LAG, Clock()).let_pass({})
