"""How is a schedule written down? As plain dictionaries: the content of schedule.json and of YAML files.

``encode`` and ``decode`` are inverse. ``decode`` refuses what it does not understand with an error
that names the step and the field; ``conformance.schedules.schedule_file`` adds the line.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

from oracle.composite_steps import COMPOSITES, written_out
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.questions import Consume
from oracle.steps.step import STEP_CLASSES, ScheduleError, Step, written_name
from oracle.steps.topic import MESSAGE_FORMAT, MIN_ISR, UNCLEAN
from oracle.vocabulary import Acks, BrokerId, HighWatermarkCheckpoint, Timing

SINGLE_FIELD = {
    word: written_name(fields[0])
    for word, c in STEP_CLASSES.items()
    if len(fields := [one for one in dataclasses.fields(c) if one.default is not False]) == 1
}
"""Steps with one field, besides what can be turned on, may be written without its name: ``kill: 2``."""

BROKER_ID_MAX = 9
"""A run starts every broker up to the highest replica."""

SCHEDULE_FIELDS = (
    "id",
    "requirement",
    "sources",
    "replicas",
    "settings",
    "timing",
    "checkpointing",
    "fetch_wait_max_ms",
    "fetch_sessions",
    "steps",
)


def encode(schedule: Schedule) -> dict[str, Any]:
    """Return a schedule as a JSON value."""
    return {
        "id": schedule.id,
        "requirement": schedule.requirement,
        "sources": list(schedule.sources),
        "replicas": list(schedule.replicas),
        "settings": _encode_settings(schedule.settings),
        "timing": schedule.timing.value,
        "checkpointing": schedule.checkpointing.value,
        "fetch_wait_max_ms": schedule.fetch_wait_max_ms,
        "fetch_sessions": schedule.fetch_sessions,
        "steps": [encode_step(step) for step in schedule.steps],
    }


def _encode_settings(settings: TopicSettings) -> dict[str, Any]:
    written: dict[str, Any] = {MIN_ISR: settings.min_insync_replicas, UNCLEAN: settings.unclean_leader_election}
    if settings.message_format_version is None:
        return written
    return {**written, MESSAGE_FORMAT: settings.message_format_version}


def encode_step(step: Step) -> dict[str, Any]:
    """Return one step as ``{word: fields}``, leaving out fields at their default."""
    fields = {
        written_name(field): plain(getattr(step, field.name))
        for field in dataclasses.fields(step)
        if field.default is dataclasses.MISSING or getattr(step, field.name) != field.default
    }
    word = step.word
    if tuple(fields) == (SINGLE_FIELD.get(word),):
        return {word: fields[SINGLE_FIELD[word]]}
    return {word: fields}


def plain(value: Any) -> Any:  # noqa: ANN401 - a JSON value
    """Return a field's value as a schedule file has it."""
    if isinstance(value, Acks):
        return "all" if value is Acks.ALL else int(value)
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def decode(document: Any) -> Schedule:  # noqa: ANN401 - whatever a file held
    """Build a schedule from plain values.

    Raises:
        ScheduleError: if a field is missing, unknown or of the wrong kind; names step and field.
    """
    if not isinstance(document, Mapping):
        raise ScheduleError("a schedule is a mapping with id, requirement, replicas and steps")
    _refuse_unknown(document, SCHEDULE_FIELDS, step=None)
    for required in ("id", "requirement", "replicas", "steps"):
        if required not in document:
            raise ScheduleError(f"{required!r} is missing", field=required)
    steps = document["steps"]
    if not isinstance(steps, Sequence) or isinstance(steps, str):
        raise ScheduleError("steps must be a list", field="steps")
    schedule = Schedule(
        id=_text(document, "id"),
        requirement=_text(document, "requirement"),
        sources=_sources(document.get("sources", ())),
        replicas=_replicas(document["replicas"]),
        settings=_settings(document.get("settings", {})),
        timing=_convert(document.get("timing", "session"), Timing, None, "timing"),
        checkpointing=_convert(document.get("checkpointing", "prompt"), HighWatermarkCheckpoint, None, "checkpointing"),
        fetch_wait_max_ms=_convert(document.get("fetch_wait_max_ms", 100), int, None, "fetch_wait_max_ms"),
        fetch_sessions=_convert(document.get("fetch_sessions", True), bool, None, "fetch_sessions"),
        steps=tuple(decode_step(index, step) for index, (_, step) in enumerate(written_out(steps))),
    )
    _check_ids(schedule.brokers)
    return schedule


def _text(document: Mapping[str, Any], name: str) -> str:
    if not isinstance(document[name], str) or not document[name].strip():
        raise ScheduleError(f"{name!r} must be a text", field=name)
    return str(document[name])


def _sources(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever a file held
    """Take document ids as texts: YAML reads 7 as a number."""
    listed = [value] if isinstance(value, str | int) else value
    if not isinstance(listed, Sequence) or not all(isinstance(item, str | int) for item in listed):
        raise ScheduleError("sources is a list of requirement ids, KIPs and issues", field="sources")
    return tuple(str(item) for item in listed)


def _replicas(value: Any) -> tuple[BrokerId, ...]:  # noqa: ANN401 - whatever a file held
    replicas: tuple[BrokerId, ...] = _convert(value, tuple[BrokerId, ...], None, "replicas")
    return replicas


def _check_ids(brokers: tuple[BrokerId, ...]) -> None:
    if any(not 1 <= broker <= BROKER_ID_MAX for broker in brokers):
        raise ScheduleError(f"replicas are broker ids from 1 to {BROKER_ID_MAX}", field="replicas")


def _settings(document: Any) -> TopicSettings:  # noqa: ANN401 - whatever a file held
    if not isinstance(document, Mapping):
        raise ScheduleError("settings is a mapping", field="settings")
    _refuse_unknown(document, (MIN_ISR, UNCLEAN, MESSAGE_FORMAT), step=None)
    defaults = TopicSettings()
    return TopicSettings(
        _convert(document.get(MIN_ISR, defaults.min_insync_replicas), int, None, MIN_ISR),
        _convert(document.get(UNCLEAN, defaults.unclean_leader_election), bool, None, UNCLEAN),
        _convert(document.get(MESSAGE_FORMAT, defaults.message_format_version), str | None, None, MESSAGE_FORMAT),
    )


def decode_step(index: int, document: Any) -> Step:  # noqa: ANN401 - whatever a file held
    """Build one step from ``{word: fields}``.

    Raises:
        ScheduleError: naming the step and the field.
    """
    if not isinstance(document, Mapping) or len(document) != 1:
        raise ScheduleError("a step is one word with its fields, such as `kill: 2`", step=index)
    word, fields = next(iter(document.items()))
    step_class = STEP_CLASSES.get(word)
    if step_class is None:
        raise ScheduleError(f"unknown step {word!r}; {_steps_like(str(word))}", step=index)
    if word == "kill" and isinstance(fields, Sequence) and not isinstance(fields, str):
        word, step_class = "kill_together", STEP_CLASSES["kill_together"]
    if word in SINGLE_FIELD and not isinstance(fields, Mapping):
        fields = {SINGLE_FIELD[word]: fields}
    if not isinstance(fields, Mapping):
        as_it_is = f"; as it is: `{word}: {{}}`" if fields is None and step_class is Consume else ""
        raise ScheduleError(f"{word} takes fields: {', '.join(_names(step_class))}{as_it_is}", step=index)
    return _build(index, word, step_class, fields)


def _steps_like(word: str) -> str:
    """Return which steps come close, and all of them."""
    known = (*STEP_CLASSES, *COMPOSITES)
    close = get_close_matches(word, known, n=2)
    listing = f"steps: {', '.join(known)}"
    return f"did you mean {' or '.join(close)}? {listing}" if close else listing


def _build(index: int, word: str, step_class: type[Step], fields: Mapping[str, Any]) -> Step:
    _refuse_unknown(fields, _names(step_class), step=index)
    hints = get_type_hints(step_class)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(step_class):
        name = written_name(field)
        if name in fields:
            values[field.name] = _convert(fields[name], hints[field.name], index, name)
        elif field.default is dataclasses.MISSING:
            raise ScheduleError(f"{word} needs {name!r}", step=index, field=name)
    return step_class(**values)


def _names(step_class: type[Step]) -> tuple[str, ...]:
    return tuple(map(written_name, dataclasses.fields(step_class)))


def _refuse_unknown(fields: Mapping[str, Any], known: Sequence[str], *, step: int | None) -> None:
    for name in fields:
        if name not in known:
            raise ScheduleError(f"unknown field {name!r}; known: {', '.join(known)}", step=step, field=str(name))


def _convert(value: Any, wanted: Any, step: int | None, field: str) -> Any:  # noqa: ANN401 - by declared type
    """Convert a plain value to a declared field type."""
    origin = get_origin(wanted)
    if origin in (types.UnionType, Union):
        inner = get_args(wanted)[0]
        if value is None or (value == "none" and inner is not str):
            return None
        return _convert(value, inner, step, field)
    if origin is tuple:
        items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        return tuple(_convert(item, get_args(wanted)[0], step, field) for item in items)
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return _enum(value, wanted, step, field)
    base = getattr(wanted, "__supertype__", wanted)
    if (field, base, value) == ("acks", int, "all"):
        return int(Acks.ALL)
    if isinstance(value, bool) is not (base is bool) or not isinstance(value, base):
        kind = f"{KINDS[base]} or all" if (field, base) == ("acks", int) else KINDS[base]
        message = f"{field} must be {kind}, not {value!r}"
        raise ScheduleError(message, step=step, field=field)
    return value


KINDS = {int: "a whole number", str: "a text", bool: "true or false"}


def _enum(value: Any, wanted: type[Enum], step: int | None, field: str) -> Enum:  # noqa: ANN401 - by declared type
    if wanted is Acks:
        value = {"all": -1}.get(value, value) if isinstance(value, str) else value
    if not isinstance(value, bool):
        for member in wanted:
            if member.value == value:
                return member
    choices = ("0", "1", "all") if wanted is Acks else tuple(str(member.value) for member in wanted)
    raise ScheduleError(f"{field} must be one of {', '.join(choices)}, not {value!r}", step=step, field=field)
