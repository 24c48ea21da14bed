"""What do alternating measurements say about two arms? Ratios of pairs: their median and quartiles."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

PERCENT = 100


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some figures and the quartiles around it."""

    median: float
    lower_quartile: float
    upper_quartile: float
    of: int

    @classmethod
    def over(cls, figures: Sequence[float]) -> Spread:
        """Summarise at least one figure."""
        if len(figures) == 1:
            return cls(figures[0], figures[0], figures[0], 1)
        lower, _, upper = quantiles(figures, n=4, method="inclusive")
        return cls(median(figures), lower, upper, len(figures))

    def text(self, digits: int = 2) -> str:
        """Return ``median (lower to upper)``."""
        return f"{self.median:.{digits}f} ({self.lower_quartile:.{digits}f} to {self.upper_quartile:.{digits}f})"


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> Spread:
    """Compare two arms pair by pair, in the order of the rounds."""
    return Spread.over([one / other for one, other in zip(numerators, denominators, strict=True)])


def percentile(figures: Sequence[float], percent: int) -> float:
    """Return the figure that ``percent`` of all are not above."""
    ordered = sorted(figures)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // PERCENT)]


def throughput(rounds: list[dict[str, Any]], arms: Sequence[str], reference: str, records: int) -> dict[str, Any]:
    """Summarise the rounds of one throughput load: each arm's rate, CPU, and ratio to the reference arm."""
    rates = {arm: [records / measured[arm]["seconds"] for measured in rounds] for arm in arms}
    return {
        arm: {
            "records_per_s": asdict(Spread.over(rates[arm])),
            "ratio": asdict(ratios(rates[arm], rates[reference])),
            "tester_cpu_s": asdict(Spread.over([measured[arm]["tester_cpu_s"] for measured in rounds])),
        }
        for arm in arms
    }


def latency(rounds: list[dict[str, Any]], arms: Sequence[str], reference: str) -> dict[str, Any]:
    """Summarise the rounds of one latency load: p50, p99 over all rounds, and what is added to the reference arm."""
    awaited = {arm: [one for measured in rounds for one in measured[arm]["awaited_ms"]] for arm in arms}
    found = {arm: {f"p{at}_ms": percentile(awaited[arm], at) for at in (50, 99)} for arm in arms}
    for arm in arms:
        added = {f"added_{name}": found[arm][name] - found[reference][name] for name in ("p50_ms", "p99_ms")}
        found[arm] = {**found[arm], **added}
    return dict(found)
