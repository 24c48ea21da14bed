"""How does the lag time pass on real brokers? By waiting; and no follower may be silent for that long unasked.

Under ``timing: lag`` a follower that a hold, a kill or a stop has silenced is behind, and leaves the ISR, when
the lag time has passed, whatever the tester does meanwhile. The model lets it pass at ``await_lag`` only, so a
tester that was too slow before has measured another schedule: that is inconclusive.

Source: Partition.maybeShrinkIsr, every half lag time; architecture, "Contract of a step" 4.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from conformance.interruption import NeverAtRestError
from fault_injection.waiting import until
from oracle.vocabulary import Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oracle.vocabulary import BrokerId

LAG_S = 3.0
"""``replica.lag.time.max.ms`` of the timing profile ``lag``."""
LAST_FETCH_S = 0.5
"""How long before its next fetch is held a follower may have fetched last."""
SHRINK_GRACE_S = 1.0
"""How long a leader may take over the ISR check and the answer of its controller."""


class LagTime:
    """Knows when the lag time has last passed on purpose; one per run.

    Args:
        timing: who removes a silent replica from the ISR.
        clock: monotonic seconds.
    """

    def __init__(self, timing: Timing, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_short = timing is Timing.LAG
        self._clock = clock
        self._passed_at = float("-inf")

    def require_short(self, silent_since: Mapping[BrokerId, float]) -> None:
        """Make sure that no follower was silent for so long that it may have left the ISR, unless that was asked for.

        Args:
            silent_since: when, on the clock, which followers fell silent.

        Raises:
            NeverAtRestError: one may have left it.
        """
        for broker, since in silent_since.items():
            silent_s = self._clock() - since
            if self._is_short and since > self._passed_at and silent_s > LAG_S - LAST_FETCH_S:
                raise NeverAtRestError(
                    f"broker {broker} was silent for {silent_s:.1f} s before await_lag: it may have left the ISR"
                )

    def let_pass(self) -> None:
        """Wait until every follower that is silent now has been so for the lag time, and was looked at."""
        self._passed_at = self._clock()
        end = self._passed_at + 1.5 * LAG_S + SHRINK_GRACE_S
        until(lambda: self._clock() >= end, deadline_s=2 * 1.5 * LAG_S + SHRINK_GRACE_S, what="the lag time to pass")
