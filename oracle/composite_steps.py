"""Which words of a schedule file stand for several steps? Each is written out when the file is read.

Whatever is said about a step names it by its place in the file: ``written_at`` finds that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oracle.steps.step import described
from oracle.vocabulary import BrokerId  # noqa: TC001 - schedule-help reads these types

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Roll:
    """Restart brokers one after the other, as in an upgrade: stop one, start it, come to rest, then the next one."""

    brokers: tuple[BrokerId, ...] = described("the brokers, in this order")


COMPOSITES: dict[str, type[Roll]] = {"roll": Roll}
"""The words, and how ``schedule-help`` describes them."""


def written_out(documents: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Yield every step as a file could have it, with its place in the file counted from 0."""
    for place, document in enumerate(documents):
        for step in _parts(document):
            yield place, step


def written_at(documents: Sequence[Any], step: int) -> int:
    """Return the place in the file of a step, given its number once all are written out; both counted from 0."""
    places = [place for place, _ in written_out(documents)]
    return places[step] if step < len(places) else step


def _parts(document: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever a file held
    if not isinstance(document, Mapping) or list(document) != ["roll"]:
        yield document
        return
    rolled = document["roll"]
    brokers = rolled.get("brokers", rolled) if isinstance(rolled, Mapping) else rolled
    for broker in brokers if isinstance(brokers, Sequence) and not isinstance(brokers, str) else [brokers]:
        yield {"stop": broker}
        yield {"start": broker}
