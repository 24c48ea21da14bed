"""Which schedules can there be? Hypothesis strategies over every step and every field."""

from __future__ import annotations

import dataclasses
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from oracle.schedule import Schedule, TopicSettings
from oracle.schedule_format import BROKER_ID_MAX
from oracle.steps.step import STEP_CLASSES, Step
from oracle.vocabulary import BrokerId, HighWatermarkCheckpoint, Timing


class Unknown(Step):
    """A step that nobody was taught: it is declared nowhere."""

    word, says, in_short = "explode", "let it explode", "explode"


TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=12)

BROKERS = st.lists(st.integers(1, BROKER_ID_MAX).map(BrokerId), max_size=4).map(tuple)


def field_values(wanted: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a field's declared type
    """Return every value of a step field's declared type."""
    if NoneType in get_args(wanted):
        return st.none() | field_values(next(a for a in get_args(wanted) if a is not NoneType))
    if get_origin(wanted) is tuple and get_args(wanted)[0] is BrokerId:
        return BROKERS
    if get_origin(wanted) is tuple:
        return st.lists(field_values(get_args(wanted)[0]), max_size=4).map(tuple)
    base = getattr(wanted, "__supertype__", wanted)
    if base in (str, bool):
        return TEXTS if base is str else st.booleans()
    return st.integers(0, 2**40) if base is int else st.sampled_from(wanted)


def steps_of(step_class: type[Step]) -> st.SearchStrategy[Step]:
    """Return steps of one class, with each field at its default or at any other value."""
    hints = get_type_hints(step_class)
    required = {f.name: field_values(hints[f.name]) for f in dataclasses.fields(step_class) if _is_required(f)}
    optional = {f.name: field_values(hints[f.name]) for f in dataclasses.fields(step_class) if not _is_required(f)}
    return st.fixed_dictionaries(required, optional=optional).map(lambda fields: step_class(**fields))


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING


STEPS: st.SearchStrategy[Step] = st.one_of(*(steps_of(step_class) for step_class in STEP_CLASSES.values()))
SCHEDULES = st.builds(
    Schedule,
    id=TEXTS.filter(str.strip),
    requirement=TEXTS.filter(str.strip),
    sources=st.lists(TEXTS, max_size=3).map(tuple),
    replicas=BROKERS,
    steps=st.lists(STEPS, max_size=8).map(tuple),
    settings=st.builds(TopicSettings, st.integers(1, 5), st.booleans()),
    timing=st.sampled_from(Timing),
    checkpointing=st.sampled_from(HighWatermarkCheckpoint),
)

FOLLOWER_AHEAD: tuple[dict[str, Any], ...] = (
    {"produce": {"records": ["m0", "m1"]}},
    {"kill": 2},
    {"kill": 1},
    {"lose_tail": {"broker": 1, "offset": 0}},
    {"start": 1},
    {"start": 2},
)
"""As a schedule file has them: broker 2 comes back ahead of its leader, whose disk has forgotten everything."""
