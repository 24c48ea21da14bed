"""How is a script of transactions written in a file, and read from one? YAML, one line an act, in the order of acts.

    id: my/late-abort
    requirement: An abort that arrives late aborts nothing but its own transaction.
    transactions:
      - initialise: {}
      - send: m1
      - abort: {late: first}
      - abort: {}
      - send: {label: m2, partition: 1}
      - deliver: first
      - commit: {}
      - read: at the end

An act is a word with its fields, or with its first field alone; the other fields are those of the acts in
`oracle.transactions.script`. Without a producer it is the first one, without a partition partition 0. What is read last
is read at the end: what was promised is held against it.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import yaml

from conformance.catalogue.examination import Examination, by
from conformance.scenarios.transactions.tx_01_epochs import WITH_TRANSACTIONS, WITH_VERSIONS
from conformance.schedules.schedule_file import ScheduleFileError, key_line, read_yaml, value_at
from oracle.rules.transactions import TRANSACTION_FEATURE, TRANSACTION_VERSIONS
from oracle.steps.step import ScheduleError
from oracle.transactions.play import PARTITIONS
from oracle.transactions.script import (
    Add,
    CommitOffset,
    Deliver,
    ElectUncleanly,
    End,
    FailOver,
    Initialise,
    KillLeader,
    LoseFollower,
    MarkAgain,
    ReadOffset,
    ReadPartitions,
    Send,
    TimeOut,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from conformance.catalogue.examination import ExaminationSubject
    from oracle.transactions.script import TransactionAct

ACTS, LEVEL = "transactions", TRANSACTION_FEATURE
"""The keys of a file that has a script: its acts, and the cluster's transaction.version if it is not the usual one."""
PRODUCERS_MAX = 9
KEYS = ("id", "requirement", "sources", LEVEL, ACTS)


@dataclass(frozen=True, slots=True)
class Word:
    """A word for an act.

    Attributes:
        act: its class.
        first: the field that may stand alone behind the word.
        fixed: fields that the word says.
    """

    act: type[TransactionAct]
    first: str
    fixed: tuple[tuple[str, object], ...] = ()

    @property
    def types(self) -> dict[str, type]:
        """Return the type of each field that may be given."""
        hidden = {*dict(self.fixed), "is_last"}
        named = {"str": str, "int": int, "bool": bool}
        return {one.name: named[str(one.type)] for one in fields(self.act) if one.name not in hidden}  # type: ignore[arg-type]

    @property
    def required(self) -> set[str]:
        """Return the fields that have to be given."""
        return {one.name for one in fields(self.act) if one.default is MISSING} - set(dict(self.fixed))  # type: ignore[arg-type]


WORDS = {
    "initialise": Word(Initialise, "producer"),
    "add": Word(Add, "partition"),
    "send": Word(Send, "label"),
    "commit_offset": Word(CommitOffset, "offset"),
    "commit": Word(End, "producer", (("commits", True),)),
    "abort": Word(End, "producer", (("commits", False),)),
    "deliver": Word(Deliver, "name"),
    "mark_again": Word(MarkAgain, "partition"),
    "fail_over": Word(FailOver, ""),
    "kill_leader": Word(KillLeader, "partition"),
    "lose_follower": Word(LoseFollower, "partition"),
    "elect_uncleanly": Word(ElectUncleanly, "partition"),
    "time_out": Word(TimeOut, ""),
    "read_offset": Word(ReadOffset, "when"),
    "read": Word(ReadPartitions, "when"),
}


def word_of(act: TransactionAct) -> str:
    """Return the word of an act."""
    return next(
        name
        for name, word in WORDS.items()
        if type(act) is word.act and all(getattr(act, field) == value for field, value in word.fixed)
    )


def script_text(
    name: str, requirement: str, acts: Iterable[TransactionAct], level: int | None = None, comment: str = ""
) -> str:
    """Return a script as a file has it, with a comment of any number of lines above."""
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines += [f"id: {name}", f"requirement: {_flow(requirement)}"]
    lines += [*([] if level is None else [f"{LEVEL}: {level}"]), f"{ACTS}:"]
    return "\n".join([*lines, *(f"  - {word_of(act)}: {_flow(_value(act))}" for act in acts)]) + "\n"


def _value(act: TransactionAct) -> object:
    """Return what stands behind the word of an act: its first field if that is all, else what is not as usual."""
    word = WORDS[word_of(act)]
    usual = {one.name: one.default for one in fields(act)}  # type: ignore[arg-type]
    given = {name: getattr(act, name) for name in word.types if getattr(act, name) != usual[name]}
    return given[word.first] if list(given) == [word.first] else given


def _flow(value: object) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000, allow_unicode=True)
    return text.removesuffix("...\n").strip()


# Reading.


def read_script(path: Path) -> Examination | None:
    """Return the script of a file as an examination named after its id; None if the file has none.

    Raises:
        ScheduleFileError: it cannot be read or understood; says where and why.
    """
    document, root = read_yaml(path)
    if not isinstance(document, dict) or ACTS not in document:
        return None
    wrong = _wrong_with(document)
    if wrong is not None:
        key, why = wrong
        line = key_line(root, key) if root is not None else None
        raise ScheduleFileError(f"{path}:{(line or 0) + 1}: {why}")
    acts = _acts(path, document[ACTS], root)
    return Examination(
        name=document["id"],
        id=document["id"],
        requirement=document["requirement"],
        sources=tuple(document.get("sources", ())),
        explanation=f"from {path.name}",
        where=WITH_TRANSACTIONS if document.get(LEVEL) is None else WITH_VERSIONS,
        examined=_subject(acts, document.get(LEVEL)),
    )


def _subject(acts: tuple[TransactionAct, ...], level: int | None) -> Callable[[], ExaminationSubject]:
    """Return what makes the subject when it is asked for: the module that conducts it is imported then."""

    def made() -> ExaminationSubject:
        script: Any = by("transaction_scripts:TransactionScript")()
        subject: ExaminationSubject = script(acts, level)
        return subject

    return made


def _wrong_with(document: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the key that is wrong in a file, and why; None if all are as they must be."""
    for key in document:
        if key not in KEYS:
            return str(key), f"{key!r} is no key of a script of transactions; there are {', '.join(KEYS)}"
    for key in ("id", "requirement"):
        if not isinstance(document.get(key), str):
            return key, f"{key!r} is missing, or is no text"
    if not isinstance(document[ACTS], list) or not document[ACTS]:
        return ACTS, f"{ACTS!r} has no list of acts"
    if not isinstance(document.get("sources", []), list):
        return "sources", "'sources' is no list"
    if document.get(LEVEL) not in (None, *TRANSACTION_VERSIONS):
        return LEVEL, f"{LEVEL!r} is one of {', '.join(map(str, TRANSACTION_VERSIONS))}"
    return None


def _acts(path: Path, written: Sequence[Any], root: yaml.Node | None) -> tuple[TransactionAct, ...]:
    nodes = value_at(root, ACTS)
    assert isinstance(nodes, yaml.SequenceNode)
    acts: list[TransactionAct] = []
    for number, (one, node) in enumerate(zip(written, nodes.value, strict=True), 1):
        try:
            acts.append(decoded(one))
        except ScheduleError as error:
            line = None if error.field is None else key_line(node, error.field)
            place = f"{path}:{(node.start_mark.line if line is None else line) + 1}"
            raise ScheduleFileError(f"{place}: act {number}: {error}") from error
    if isinstance(acts[-1], ReadPartitions):
        acts[-1] = replace(acts[-1], is_last=True)
    return tuple(acts)


def decoded(written: object) -> TransactionAct:
    """Return an act as a file has it.

    Raises:
        ScheduleError: it is none; the field is that which is wrong, if one is.
    """
    if not isinstance(written, dict) or len(written) != 1:
        raise ScheduleError("an act is one word with its fields, such as `- send: m1`")
    ((name, value),) = written.items()
    if name not in WORDS:
        raise ScheduleError(f"no act is called {name!r}; there are {', '.join(WORDS)}", field=str(name))
    word = WORDS[name]
    given = value if isinstance(value, dict) else {} if value is None else {word.first: value}
    for field, one in given.items():
        if field not in word.types:
            raise ScheduleError(f"{name} has no field {field!r}; it has {', '.join(word.types)}", field=str(field))
        if type(one) is not word.types[field]:
            raise ScheduleError(f"{field} of {name} is {_KINDS[word.types[field]]}, not {one!r}", field=str(field))
    if missing := word.required - set(given):
        raise ScheduleError(f"{name} needs {', '.join(sorted(missing))}", field=name)
    return _checked(word.act(**given, **dict(word.fixed)))


RANGES = (
    ("partition", PARTITIONS),
    ("producer", PRODUCERS_MAX),
    ("offset", None),
    ("skips", None),
    ("timeout_s", None),
)
"""Where numbers of acts end, by field; None for nowhere."""
_KINDS = {str: "a text", int: "a whole number", bool: "true or false"}


def _checked(act: TransactionAct) -> TransactionAct:
    """Check the numbers of an act.

    Raises:
        ScheduleError: one is out of range.
    """
    for field, end in RANGES:
        number = getattr(act, field, 0)
        if number < 0 or (end is not None and number >= end):
            allowed = "0 or more" if end is None else f"0 to {end - 1}"
            raise ScheduleError(f"{field} is {allowed}", field=field)
    return act
