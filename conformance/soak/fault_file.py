"""How does a user's file of faults become a timeline? Read, held against the cluster, and refused with its line.

It is YAML, or the ``faults.json`` of another soak, which is YAML too::

    faults:
      - {at_s: 5, kind: kill, broker: 2, for_s: 3}
      - {at_s: 20, kind: second_leader, partition: 0, for_s: 2}
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from conformance.record.soak_faults import FaultKind, FaultTimeline, PlannedFault
from conformance.schedules.schedule_file import ScheduleFileError, key_line, read_yaml, value_at
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from conformance.soak.fault_timeline import SoakShape

FIELDS = tuple(one.name for one in fields(PlannedFault))
FIELDS_OF_FILE = tuple(one.name for one in fields(FaultTimeline))
_K = FaultKind
_BROKER = (frozenset({"broker"}), frozenset({"partition"}))
_LINK = (frozenset({"follower", "leader"}), frozenset({"partition"}))
_LEADER = (frozenset({"partition"}),)
_NOBODY = (frozenset[str](),)
WHOM: Mapping[FaultKind, tuple[frozenset[str], ...]] = {
    _K.KILL: _BROKER,
    _K.STOP: _BROKER,
    _K.FREEZE: _BROKER,
    _K.ISOLATE: _BROKER,
    _K.CUT: _LINK,
    _K.HOLD: _LINK,
    _K.ROLL: _NOBODY,
    _K.ELECTION: _NOBODY,
    _K.KILL_AHEAD: _LEADER,
    _K.KILL_LEADERS: _LEADER,
    _K.SECOND_LEADER: _LEADER,
}
"""Which fields say whom a fault of a kind is about: all of one of these sets, and no other."""
OF_ONE_KIND = {"by": _K.CUT, "frame": _K.HOLD}
_WHERE = ("broker", "follower", "leader", "partition")


class FaultFileError(UsageError):
    """A file of faults that cannot be used; the message says where and why."""


class _WrongError(Exception):
    """What is wrong with one fault: its field, and why."""

    def __init__(self, field: str | None, why: str) -> None:
        super().__init__(why)
        self.field = field


def read_fault_file(path: Path, shape: SoakShape) -> FaultTimeline:
    """Read the faults of a soak, in the order of time.

    Args:
        path: the file.
        shape: the brokers and partitions that they are for.

    Raises:
        FaultFileError: it cannot be read or understood, or a fault cannot come to such a topic.
    """
    try:
        document, root = read_yaml(path)
    except ScheduleFileError as error:
        raise FaultFileError(str(error)) from error
    _require_form(path, document, root)
    entries = value_at(root, "faults")
    faults = []
    for number, entry in enumerate(document["faults"]):
        try:
            faults.append(_fault(entry, shape))
        except _WrongError as wrong:
            raise FaultFileError(_located(path, entries, number, wrong)) from wrong
    return FaultTimeline(tuple(sorted(faults, key=lambda one: one.at_s)))


def _require_form(path: Path, document: Any, root: yaml.Node | None) -> None:  # noqa: ANN401 - what YAML holds
    if not isinstance(document, dict) or not isinstance(document.get("faults"), list):
        raise FaultFileError(f"{path}:1: it has no list 'faults', such as {_EXAMPLE}")
    unknown = next((str(name) for name in document if name not in FIELDS_OF_FILE), None)
    if unknown is not None:
        line = (key_line(root, unknown) or 0) + 1
        raise FaultFileError(f"{path}:{line}: unknown field {unknown!r}; known: {', '.join(FIELDS_OF_FILE)}")


_EXAMPLE = "faults: [{at_s: 5, kind: kill, broker: 2, for_s: 3}]"


def _fault(entry: Any, shape: SoakShape) -> PlannedFault:  # noqa: ANN401 - what YAML holds
    if not isinstance(entry, dict):
        raise _WrongError(None, f"a fault is a mapping such as {_EXAMPLE[9:-1]}, not {entry!r}")
    given = {name: value for name, value in entry.items() if value is not None}
    for name in given:
        if name not in FIELDS:
            raise _WrongError(str(name), f"unknown field {name!r}; known: {', '.join(FIELDS)}")
    for needed in ("at_s", "kind"):
        if needed not in given:
            raise _WrongError(None, f"{needed!r} is missing")
    fault = _typed(given)
    for wrong in _wrong_of(fault, given, shape):
        raise wrong
    return fault


def _typed(given: Mapping[str, object]) -> PlannedFault:
    """Return a fault whose values are of their types; the first that is not is named."""
    for name, value in given.items():
        trial = {"at_s": 0, "kind": FaultKind.ROLL, name: value}
        try:
            msgspec.convert(trial, PlannedFault)
        except msgspec.ValidationError as error:
            known = f"; known: {', '.join(_K)}" if name == "kind" else ""
            raise _WrongError(name, f"{str(error).split(' - at ')[0]}{known}") from error
    return msgspec.convert(dict(given), PlannedFault)


def _wrong_of(fault: PlannedFault, given: Mapping[str, object], shape: SoakShape) -> Iterator[_WrongError]:
    if not fault.at_s >= 0:
        yield _WrongError("at_s", f"seconds since load began, not {fault.at_s:g}")
    needs_time = fault.kind not in (_K.ROLL, _K.ELECTION)
    if not (fault.for_s > 0 if needs_time else fault.for_s >= 0):
        yield _WrongError("for_s", f"{fault.kind} lasts some seconds, not {fault.for_s:g}")
    for name, kind in OF_ONE_KIND.items():
        if name in given and fault.kind is not kind:
            yield _WrongError(name, f"{name!r} says something of {kind}, and nothing of {fault.kind}")
    yield from _wrong_place(fault, given, shape)
    if not shape.has_room_for(fault.kind):
        yield _WrongError("kind", f"{fault.kind} needs more than {shape.replicas} replicas on {len(shape.brokers)}")


def _wrong_place(fault: PlannedFault, given: Mapping[str, object], shape: SoakShape) -> Iterator[_WrongError]:
    where = frozenset(_WHERE).intersection(given)
    if where not in WHOM[fault.kind]:
        wanted = " or ".join(" and ".join(sorted(one)) for one in WHOM[fault.kind] if one)
        yield _WrongError(next(iter(sorted(where)), None), f"{fault.kind} is about {wanted or 'all brokers'}")
    for name in ("broker", "follower", "leader"):
        if name in where and given[name] not in shape.brokers:
            there = ", ".join(map(str, shape.brokers))
            yield _WrongError(name, f"there is no broker {given[name]}; there are {there}")
    if fault.follower is not None and fault.follower == fault.leader:
        yield _WrongError("leader", "follower and leader are the same broker")
    if fault.partition is not None and not 0 <= fault.partition < shape.partitions:
        yield _WrongError("partition", f"there is no partition {fault.partition}; there are {shape.partitions}")


def _located(path: Path, entries: yaml.Node | None, number: int, wrong: _WrongError) -> str:
    """Return what is wrong with a fault, with its place in the file: line, fault (counted from 1), field."""
    node = entries.value[number] if isinstance(entries, yaml.SequenceNode) else None
    line = None if node is None or wrong.field is None else key_line(node, wrong.field)
    if line is None:
        line = 0 if node is None else node.start_mark.line
    field = "" if wrong.field is None else f" field {wrong.field!r}:"
    return f"{path}:{line + 1}: fault {number + 1}:{field} {wrong}"
