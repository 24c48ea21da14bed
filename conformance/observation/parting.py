"""Where do the wires of two runs part? Each conversation of two brokers is compared from its first word on.

Of an event stays what every release can say: who fetches from which offset, what the leader gives, where logs diverge,
who leads, what producers are told. Epochs of a request, versions and times are left out, and so is what brokers say
twice in a row; a producer that is told the same again is told of another record. What one broker says to another comes
in order; between conversations nothing is compared.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from conformance.observation.event_text import answer_text, event_text
from oracle.tracing.observed import (
    Acknowledged,
    BrokerEnded,
    BrokerStarted,
    FetchAnswered,
    FetchSent,
    LeadershipHeard,
    LookupAnswered,
    LookupSent,
    Refused,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from oracle.tracing.observed import Event, RequestKey

    Link = tuple[int, int]

TO_PRODUCERS = "what producers are told"


class Remark(NamedTuple):
    """What was said in a conversation.

    Attributes:
        at: monotonic nanoseconds.
        meaning: equal where two runs say the same.
        text: the same for a person.
    """

    at: int
    meaning: Hashable
    text: str


class Parting(NamedTuple):
    """The first remarks of a conversation that differ; None where a run says nothing new any more.

    Attributes:
        last: what that run had said last; None if it never said anything, or if both go on.
    """

    conversation: str
    first: Remark | None
    second: Remark | None
    last: Remark | None = None


def partings(first: Iterable[Event], second: Iterable[Event]) -> list[Parting]:
    """Return where conversations of two runs part, in the first one's order; what the second alone says comes last."""
    one, other = conversations(first), conversations(second)
    found = [
        parting
        for name in dict.fromkeys((*one, *other))
        if (parting := _parting(name, one.get(name, []), other.get(name, []))) is not None
    ]
    return sorted(found, key=lambda parting: (parting.first is None, parting.first.at if parting.first else 0))


def _parting(name: str, one: list[Remark], other: list[Remark]) -> Parting | None:
    for mine, yours in zip_longest(one, other):
        if mine is None or yours is None or mine.meaning != yours.meaning:
            ended = one if mine is None else other if yours is None else []
            return Parting(name, mine, yours, ended[-1] if ended else None)
    return None


def conversations(events: Iterable[Event]) -> Mapping[str, list[Remark]]:
    """Return what was said, by who said it to whom, without what brokers said twice in a row."""
    told: defaultdict[str, list[Remark]] = defaultdict(list)
    for name, remark in _remarks(events):
        if name == TO_PRODUCERS or not told[name] or told[name][-1].meaning != remark.meaning:
            told[name].append(remark)
    return told


def _remarks(events: Iterable[Event]) -> Iterator[tuple[str, Remark]]:
    links: dict[RequestKey, Link] = {}
    for event in events:
        match event:
            case FetchSent() | LookupSent():
                links[event.key] = (event.follower, event.leader)
                yield _between(links[event.key]), Remark(event.at, _asked(event), event_text(event))
            case FetchAnswered() | LookupAnswered() if event.key in links:
                if (remark := _answer(event, links.pop(event.key))) is not None:
                    yield remark
            case LeadershipHeard():
                yield f"what broker {event.broker} hears", Remark(event.at, event.leader, event_text(event))
            case BrokerEnded() | BrokerStarted():
                yield "ends and starts of brokers", Remark(event.at, (type(event), event.broker), event_text(event))
            case Acknowledged() | Refused():
                yield TO_PRODUCERS, Remark(event.at, _told(event), event_text(event))
            case _:
                pass


def _between(link: Link) -> str:
    return f"broker {link[0]} and its leader {link[1]}"


def _asked(event: FetchSent | LookupSent) -> Hashable:
    return (FetchSent, event.fetch_offset) if isinstance(event, FetchSent) else (LookupSent, event.epoch)


def _answer(event: FetchAnswered | LookupAnswered, link: Link) -> tuple[str, Remark] | None:
    """Return what an answer gives; None if it gives neither records nor an error, nor tells where logs diverge."""
    said: Hashable
    if isinstance(event, LookupAnswered):
        said, words = (event.error, event.end.end_offset), event_text(event).strip()
    else:
        if not event.error and not event.runs and event.diverging_epoch is None:
            return None
        diverging = None if event.diverging_epoch is None else event.diverging_epoch.end_offset
        said, words = (event.error, _offsets(event), diverging), answer_text(event)
    return _between(link), Remark(event.at, (type(event), said), f"broker {link[1]} answers: {words}")


def _offsets(answer: FetchAnswered) -> tuple[int, int] | None:
    return (answer.runs[0].first_offset, answer.runs[-1].last_offset) if answer.runs else None


def _told(event: Acknowledged | Refused) -> Hashable:
    return (event.base_offset, event.last_offset) if isinstance(event, Acknowledged) else event.error
