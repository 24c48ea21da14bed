"""Is an event that was written as JSON the same when it is read again? The reader is the tests' own."""

from __future__ import annotations

import types
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import oracle.tracing.observed as vocabulary
from oracle.log import EpochEnd
from oracle.tracing.observed import Event, ObservedEpochRun, RequestKey, TopicPartition
from oracle.vocabulary import Acks, BrokerId, LeaderEpoch, Offset

CLASSES: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}
_NAMES = {
    "EpochEnd": EpochEnd,
    "Acks": Acks,
    "BrokerId": BrokerId,
    "LeaderEpoch": LeaderEpoch,
    "Offset": Offset,
}


def event_from_json(said: dict[str, Any]) -> Event:
    """Read an event.

    Raises:
        ValueError: it is no event of the vocabulary, or lacks a field.
    """
    kind = CLASSES.get(said.get("event", ""))
    if kind is None:
        raise ValueError(f"no event is named {said.get('event')!r}")
    types_of = _types(kind.__name__)
    try:
        fields = {name: _read(types_of[name], value) for name, value in said.items() if name != "event"}
        event: Event = kind(**fields)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{said} is no {kind.__name__}: {error!r}") from error
    return event


@cache
def _types(name: str) -> dict[str, Any]:
    return get_type_hints(CLASSES[name], vars(vocabulary) | _NAMES)


def _read(wanted: Any, value: Any) -> Any:  # noqa: ANN401 - JSON
    if value is None:
        return None
    if get_origin(wanted) in (Union, types.UnionType):
        wanted = next(each for each in get_args(wanted) if each is not type(None))
    if wanted is TopicPartition:
        topic, _, partition = value.rpartition("-")
        return TopicPartition(topic, int(partition))
    if wanted in (RequestKey, ObservedEpochRun, EpochEnd):
        return wanted(*value)
    if get_origin(wanted) is tuple:
        return tuple(_read(get_args(wanted)[0], item) for item in value)
    return Acks(value) if wanted is Acks else value
