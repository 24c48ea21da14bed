"""What does an event say, in one line for a person? And how do the events of a trace read as a story?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.error_codes import error_name
from oracle.tracing.observed import (
    Acknowledged,
    BrokerEnded,
    BrokerStarted,
    CheckpointLost,
    DeletionRequested,
    Event,
    FetchAnswered,
    FetchDelivered,
    FetchReceived,
    FetchSent,
    IsrAnnounced,
    IsrAnswered,
    IsrDelivered,
    IsrProposed,
    LeadershipApplied,
    LeadershipHeard,
    LookupAnswered,
    LookupDelivered,
    LookupReceived,
    LookupSent,
    MinIsrSet,
    ObservedEpochRun,
    Refused,
    ReplicaMeasured,
    ReplicaStopped,
    RequestKey,
    TailLost,
)
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def event_text(event: Event) -> str:
    """Return what an event says; what belongs to a request before it is indented."""
    return _asking(event) or _answering(event) or _deciding(event) or _outside(event)


def _asking(event: Event) -> str | None:
    match event:
        case FetchSent():
            epochs = _given(("epoch", event.current_leader_epoch), ("last fetched epoch", event.last_fetched_epoch))
            return f"broker {event.follower} fetches at broker {event.leader} from offset {event.fetch_offset}{epochs}"
        case LookupSent():
            epochs = _given(("its epoch", event.current_leader_epoch))
            return f"broker {event.follower} asks broker {event.leader} where epoch {event.epoch} ends{epochs}"
        case IsrProposed():
            where = f"epoch {event.leader_epoch}, partition epoch {event.partition_epoch}"
            return f"broker {event.leader} proposes the ISR {_brokers(event.isr)} ({where})"
        case FetchReceived() | LookupReceived():
            return "  the leader has the request"
        case _:
            return None


def _answering(event: Event) -> str | None:
    match event:
        case FetchAnswered():
            return f"  the leader answers: {answer_text(event)}"
        case LookupAnswered():
            return f"  the leader answers: {_end_text(event)}"
        case IsrAnswered():
            return f"  the controller answers: {_committed(event)}"
        case FetchDelivered() | LookupDelivered():
            return "  the follower has the answer"
        case IsrDelivered():
            return "  the leader has the answer"
        case _:
            return None


def _deciding(event: Event) -> str | None:
    match event:
        case LeadershipHeard():
            return f"broker {event.broker} hears: {_state(event)}"
        case LeadershipApplied():
            done = f"refuses it: {error_name(event.error)}" if event.error else "has done so"
            return f"  broker {event.broker} {done}"
        case ReplicaStopped():
            return f"broker {event.broker} is told to {'delete' if event.is_deleted else 'stop'} its replica"
        case IsrAnnounced():
            return f"the controller announces: {_state(event)}"
        case _:
            return None


def _outside(event: Event) -> str:
    match event:
        case BrokerEnded():
            return f"broker {event.broker} {'shut down' if event.clean else 'was killed'}"
        case BrokerStarted():
            return f"broker {event.broker} lives again"
        case TailLost():
            return f"broker {event.broker}'s disk lost its log from offset {event.offset} on"
        case CheckpointLost():
            return f"broker {event.broker}'s disk lost its high watermark checkpoint"
        case DeletionRequested():
            return f"the leader is asked to delete its records before offset {event.offset}"
        case MinIsrSet():
            return f"min.insync.replicas is {event.min_insync_replicas}"
        case Acknowledged():
            where = "" if event.base_offset is None else f" {_offsets(event.base_offset, event.last_offset)}"
            return f"a producer's record is acknowledged{where} ({_acks(event.acks)})"
        case Refused():
            return f"a producer is told {event.error} ({_acks(event.acks)})"
        case ReplicaMeasured():
            numbers = f"log end offset {event.log_end_offset}, high watermark {event.high_watermark}"
            return f"broker {event.broker} measured: {numbers}"
        case _:
            return type(event).__name__


def answer_text(answer: FetchAnswered) -> str:
    """Return what the answer to a fetch gives."""
    if answer.error:
        return error_name(answer.error)
    parts = [f"high watermark {answer.high_watermark}"]
    if answer.diverging_epoch is not None:
        end = answer.diverging_epoch
        parts.append(f"the logs diverge, epoch {end.leader_epoch} ends at {end.end_offset}")
    parts += [_run(run) for run in answer.runs]
    if not answer.is_listed:
        parts.append("left out, nothing changed")
    return ", ".join(parts)


def _run(run: ObservedEpochRun) -> str:
    epoch = "" if run.leader_epoch is None else f" of epoch {run.leader_epoch}"
    return f"records {_offsets(run.first_offset, run.last_offset)}{epoch}"


def _end_text(answer: LookupAnswered) -> str:
    if answer.error:
        return error_name(answer.error)
    epoch = "it" if answer.end.leader_epoch is None else f"epoch {answer.end.leader_epoch}"
    end_offset = answer.end.end_offset
    return "it does not know" if end_offset is None else f"{epoch} ends at {end_offset}"


def _state(told: LeadershipHeard | IsrAnnounced) -> str:
    leader = "nobody leads" if told.leader is None else f"broker {told.leader} leads"
    version = "" if told.partition_epoch is None else f", partition epoch {told.partition_epoch}"
    return f"{leader}, epoch {told.leader_epoch}, ISR {_brokers(told.isr)}{version}"


def _committed(answer: IsrAnswered) -> str:
    if answer.error:
        return error_name(answer.error)
    return f"ISR {_brokers(answer.isr)}, epoch {answer.leader_epoch}, partition epoch {answer.partition_epoch}"


def _brokers(brokers: Iterable[int]) -> str:
    return f"[{', '.join(map(str, brokers))}]"


def _offsets(first: int, last: int | None) -> str:
    return f"at {first}" if last is None or last == first else f"at {first} to {last}"


def _acks(acks: Acks) -> str:
    return "acks=all" if acks is Acks.ALL else f"acks={int(acks)}"


def _given(*epochs: tuple[str, int | None]) -> str:
    known = [f"{name} {epoch}" for name, epoch in epochs if epoch is not None]
    return f" ({', '.join(known)})" if known else ""


# How do the events of a trace read as a story? What repeats without news is told once and then counted.


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
