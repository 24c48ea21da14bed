"""How do the events of a trace read as a story? What repeats without news is told once and then counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.observation.event_text import answer_text, event_text
from oracle.tracing.observed import (
    BrokerEnded,
    FetchAnswered,
    FetchDelivered,
    FetchReceived,
    FetchSent,
    IsrAnnounced,
    IsrDelivered,
    LeadershipApplied,
    LookupDelivered,
    LookupReceived,
    ReplicaMeasured,
    RequestKey,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.tracing.observed import Event

LATE_NS = 100_000_000
"""A frame that took longer than this to its receiver was held, delayed, or met a broker that did not read."""
IN_FLIGHT_MAX = 10_000

Link = tuple[int, int]
Arrivals = FetchReceived | FetchDelivered | LookupReceived | LookupDelivered | IsrDelivered


class TraceLines:
    """Tells one event after the other, in the order of time; ``rest`` tells what was only counted."""

    def __init__(self) -> None:
        self._links: dict[RequestKey, Link] = {}
        self._left_at: dict[RequestKey, int] = {}
        self._asked: dict[Link, tuple[object, ...]] = {}
        self._answered: dict[Link, tuple[object, ...]] = {}
        self._quiet: dict[Link, int] = {}
        self._announced: tuple[object, ...] | None = None
        self._measured: dict[int, tuple[object, ...]] = {}

    def lines(self, event: Event) -> Iterator[str]:
        """Tell an event; nothing if it is no news."""
        match event:
            case FetchSent():
                yield from self._sent(event)
            case FetchAnswered():
                yield from self._answer(event)
            case FetchReceived() | FetchDelivered() | LookupReceived() | LookupDelivered() | IsrDelivered():
                yield from self._arrival(event)
            case LeadershipApplied(error=0):
                pass
            case BrokerEnded():
                self._forget(event.broker)
                yield event_text(event)
            case IsrAnnounced():
                yield from self._announcement(event)
            case ReplicaMeasured():
                yield from self._measurement(event)
            case _:
                yield event_text(event)
        key = getattr(event, "key", None)
        if key is not None:
            self._note_departure(key, event.at)

    def rest(self) -> Iterator[str]:
        """Return how many fetch rounds were not told."""
        for link in list(self._quiet):
            yield from self._counted(link)

    def _forget(self, broker: int) -> None:
        """Let everything be news that a broker says after it has ended."""
        for known in (self._asked, self._answered):
            for link in [link for link in known if broker in link]:
                del known[link]

    def _note_departure(self, key: RequestKey, at: int) -> None:
        self._left_at[key] = at
        if len(self._left_at) > IN_FLIGHT_MAX:
            oldest = next(iter(self._left_at))
            del self._left_at[oldest]
            self._links.pop(oldest, None)

    def _sent(self, event: FetchSent) -> Iterator[str]:
        link = (event.follower, event.leader)
        self._links[event.key] = link
        news = (event.fetch_offset, event.current_leader_epoch, event.last_fetched_epoch)
        if self._asked.get(link) == news:
            self._quiet[link] = self._quiet.get(link, 0) + 1
            return
        self._asked[link] = news
        yield from self._counted(link)
        yield event_text(event)

    def _answer(self, event: FetchAnswered) -> Iterator[str]:
        link = self._links.get(event.key, (0, 0))
        news = (event.error, event.high_watermark, event.runs, event.diverging_epoch)
        if self._answered.get(link) == news and not event.runs:
            return
        self._answered[link] = news
        yield from self._counted(link)
        yield f"  broker {link[1]} answers broker {link[0]}: {answer_text(event)}"

    def _counted(self, link: Link) -> Iterator[str]:
        count = self._quiet.pop(link, 0)
        if count:
            fetches = "fetch" if count == 1 else "fetches"
            yield f"  ({count} more {fetches} of broker {link[0]} at broker {link[1]}, no news)"

    def _arrival(self, event: Arrivals) -> Iterator[str]:
        waited_ns = event.at - self._left_at.get(event.key, event.at)
        if waited_ns > LATE_NS:
            yield f"{event_text(event)}, {waited_ns / 1e9:.3f} s later"

    def _announcement(self, event: IsrAnnounced) -> Iterator[str]:
        news = (event.leader, event.leader_epoch, event.isr, event.partition_epoch)
        if news != self._announced:
            self._announced = news
            yield event_text(event)

    def _measurement(self, event: ReplicaMeasured) -> Iterator[str]:
        news = (event.log_end_offset, event.high_watermark)
        if self._measured.get(event.broker) != news:
            self._measured[event.broker] = news
            yield event_text(event)
