"""How does the lag time pass on real brokers? By waiting; and no follower may be silent for that long unasked.

Under ``timing: lag`` a follower that a hold or a kill has silenced leaves the ISR when the lag time has
passed, whatever the tester does meanwhile. The model lets it pass at ``await_lag`` only, so a tester that
was too slow before has measured another schedule: that is inconclusive.

Source: Partition.maybeShrinkIsr, every half lag time; architecture, "Contract of a step" 4.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from conformance.interruption import NeverAtRestError
from fault_injection.waiting import until
from oracle.vocabulary import Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from oracle.vocabulary import BrokerId

LAG_S = 3.0
"""``replica.lag.time.max.ms`` of the timing profile ``lag``."""
LAST_FETCH_S = 0.5
"""How long before a step its followers may have fetched last."""
SHRINK_GRACE_S = 1.0
"""How long a leader may take over the ISR check and the answer of its controller."""


class LagTime:
    """Knows since when which followers are silent; one per run.

    Args:
        timing: who removes a silent replica from the ISR.
        clock: monotonic seconds.
    """

    def __init__(self, timing: Timing, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_short = timing is Timing.LAG
        self._clock = clock
        self._silent_since: dict[BrokerId, float] = {}

    def step_begins(self) -> float:
        """Return the time, to be given to ``step_ended``."""
        return self._clock()

    def step_ended(self, began: float, silent: Iterable[BrokerId]) -> None:
        """Take note of the followers that are silent after a step that began at a time.

        Raises:
            NeverAtRestError: one of them was silent for so long that it may have left the ISR.
        """
        known = self._silent_since
        self._silent_since = {broker: known.get(broker, began) for broker in silent}
        if not self._is_short:
            return
        for broker, since in self._silent_since.items():
            silent_s = self._clock() - since
            if silent_s > LAG_S - LAST_FETCH_S:
                raise NeverAtRestError(
                    f"broker {broker} was silent for {silent_s:.1f} s before await_lag: it may have left the ISR"
                )

    def let_pass(self) -> None:
        """Wait until every follower that is silent now has been so for the lag time, and was looked at."""
        end = self._clock() + 1.5 * LAG_S + SHRINK_GRACE_S
        until(lambda: self._clock() >= end, deadline_s=2 * 1.5 * LAG_S + SHRINK_GRACE_S, what="the lag time to pass")
        self._silent_since = dict.fromkeys(self._silent_since, float("inf"))
