"""How are the brokers of a trace configured, as far as the trace shows it?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """What the brokers were configured with, as far as a trace shows it.

    Attributes:
        min_insync_replicas: of the topic.
        lag_time_max_ms: replica.lag.time.max.ms.
        has_own_protocol: brokers speak the newest protocol of their release, as by default.
        min_insync_replicas_before: what some broker may still go by; None if it never changed.
    """

    min_insync_replicas: int = 1
    lag_time_max_ms: int = 30_000
    has_own_protocol: bool = True
    min_insync_replicas_before: int | None = None

    @property
    def lag_ns(self) -> int:
        """The lag time in nanoseconds."""
        return self.lag_time_max_ms * 1_000_000
