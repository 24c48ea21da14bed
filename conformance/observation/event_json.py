"""How is an event written down as one JSON value, and read again?

``{"event": "FetchSent", "at": …, …}``: fields at their default are left out, a partition is ``topic-0``.
"""

from __future__ import annotations

import dataclasses
import types
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import oracle.tracing.observed as vocabulary
from oracle.log import EpochEnd
from oracle.tracing.observed import EpochRun, Event, RequestKey, TopicPartition
from oracle.vocabulary import Acks, BrokerId, LeaderEpoch, Offset

CLASSES: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}
_NAMES = {
    "EpochEnd": EpochEnd,
    "Acks": Acks,
    "BrokerId": BrokerId,
    "LeaderEpoch": LeaderEpoch,
    "Offset": Offset,
}


def event_as_json(event: Event) -> dict[str, Any]:
    """Give an event as a JSON value."""
    told = {
        field.name: _plain(value)
        for field in dataclasses.fields(event)
        if (value := getattr(event, field.name)) != field.default
    }
    return {"event": type(event).__name__, **told}


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


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    match value:
        case TopicPartition(topic, partition):
            return f"{topic}-{partition}"
        case EpochEnd(leader_epoch, end_offset):
            return [leader_epoch, end_offset]
        case tuple():
            return [_plain(item) for item in value]
        case _:
            return value


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
    if wanted in (RequestKey, EpochRun, EpochEnd):
        return wanted(*value)
    if get_origin(wanted) is tuple:
        return tuple(_read(get_args(wanted)[0], item) for item in value)
    return Acks(value) if wanted is Acks else value
