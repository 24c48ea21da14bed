"""When did a broker that was started again begin to live?

The tester notes a start when the broker has registered, which is after its first frames. A frame from or to
a broker that had ended shows that it lives, if its connection was made after the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.tracing.observed import BrokerEnded, BrokerStarted
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from conformance.observation.wire_moments import Moment


class BrokerLives:
    """Follows which brokers run, in the order of time."""

    def __init__(self) -> None:
        self._ended: dict[int, int] = {}
        self._made_at: dict[int, int] = {}

    def ended(self, event: BrokerEnded) -> bool:
        """Take note of an end; False if the broker had ended before."""
        is_news = event.broker not in self._ended
        self._ended.setdefault(event.broker, event.at)
        return is_news

    def started(self, event: BrokerStarted) -> bool:
        """Take note of a start; False if frames have shown it already."""
        return self._ended.pop(event.broker, None) is not None

    def shown_by(self, moment: Moment) -> BrokerStarted | None:
        """Give the start of a broker that a frame shows to live again."""
        connection = moment.frame["connection"]
        if connection not in self._made_at:
            self._made_at[connection] = moment.at
        if not self._ended:
            return None
        for node in (moment.frame["source"], moment.frame["destination"]):
            if node in self._ended and self._ended[node] < self._made_at[connection]:
                del self._ended[node]
                return BrokerStarted(at=moment.at, broker=BrokerId(node))
        return None

    def is_stale(self, moment: Moment) -> bool:
        """Tell whether a frame was sent by a broker that has ended since."""
        if not self._ended:
            return False
        frame = moment.frame
        sender = frame["source"] if frame["direction"] == "request" else frame["destination"]
        return not moment.is_delivery and sender in self._ended
