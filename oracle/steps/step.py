"""What is a step of a schedule? One class: its fields, what it refuses, and how it reads, stand together.

A step is declared with :func:`step`, which puts it under its word in :data:`STEP_CLASSES`; schedule files,
``schedule-help``, progress lines and reports are derived from that. What it does to the model is in
``oracle.predicting.step_effects``, what it does to brokers in ``conformance.running.runner``.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, dataclass_transform

from typing_extensions import override

from oracle.vocabulary import BrokerId  # noqa: TC001 - schedule files are read by the types of fields

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from oracle.vocabulary import Label, MetadataMode, PointName, Timing


class ScheduleError(ValueError):
    """A schedule that no rule set can satisfy, or that refers to something it never made.

    Attributes:
        step: index of the offending step, counted from 0; None if it concerns the whole.
        field: name of the offending field, or None.
    """

    def __init__(self, message: str, *, step: int | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.step = step
        self.field = field


def described(text: str, *, written: str | None = None, **options: Any) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Declare a step's field with the sentence that documents it, and with its name in files if that is another."""
    return field(metadata={"help": text, "written": written}, **options)


def written_name(declared: Field[Any]) -> str:
    """Return a step's field as schedule files name it: settings have Kafka's names."""
    name: str = declared.metadata["written"] or declared.name
    return name


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a schedule. It ends at rest: all replication that no hold blocks has run.

    Attributes:
        word: which a schedule file uses for it.
        says: its sentence, with fields in braces, without capital and full stop.
        in_short: the two or three words that stand over the step's column in a picture.
        leaves: the event that it leaves on the timeline of a run, once for each of ``left_for``; empty if none.
        fault: the name of the fault that it injects; empty if it injects none. Of a hold the gate tells.
        takes_back: the names of the faults that it takes back.
    """

    word: ClassVar[str]
    says: ClassVar[str]
    in_short: ClassVar[str]
    leaves: ClassVar[str]
    fault: ClassVar[str]
    takes_back: ClassVar[tuple[str, ...]]

    def check(self, so_far: SoFar) -> None:
        """Refuse what the schedule does not have, and note what this step makes.

        Raises:
            ScheduleError: naming the step and the field.
        """

    def sentence(self) -> str:
        """Return what the step does, in words, without capital and full stop."""
        return self._filled(self.says)

    def short(self) -> str:
        """Return the two or three words that stand over the step's column in a picture."""
        return self._filled(self.in_short)

    def _filled(self, words: str) -> str:
        return words.format(**{one.name: in_words(getattr(self, one.name)) for one in fields(self)})

    def labels(self) -> tuple[Label, ...]:
        """Return the labels of the records that the step sends."""
        return ()

    def subject(self) -> str:
        """Return what the step is about: the value of its first field."""
        return in_words(getattr(self, fields(self)[0].name))

    def left_for(self) -> tuple[str | None, ...]:
        """Return whom the events are about that it leaves on the timeline; None is the run's topic."""
        return (self.subject(),)

    def faults(self, metadata: MetadataMode) -> int:  # noqa: ARG002 - some need it
        """Return how many faults it injects."""
        return int(bool(self.fault))

    def main_field(self) -> str:
        """Return the name in files of the field that says what the step is about."""
        return written_name(fields(self)[0])


class OfOneBroker(Step):
    """A step about one broker of the schedule."""

    __slots__ = ()
    broker: BrokerId

    @override
    def check(self, so_far: SoFar) -> None:
        so_far.require_brokers("broker", self.broker)


STEP_CLASSES: dict[str, type[Step]] = {}
"""Every step by its word, in the order in which they are declared."""

Declared = TypeVar("Declared", bound=Step)


@dataclass_transform(frozen_default=True, field_specifiers=(described,))
def step(
    word: str, *, says: str = "", short: str = "", leaves: str = "", fault: str = "", takes_back: tuple[str, ...] = ()
) -> Callable[[type[Declared]], type[Declared]]:
    """Declare a step as a frozen dataclass under the word that schedule files use for it.

    Args:
        word: its name in files.
        says: its sentence, unless the class makes it.
        short: its words in a picture; without any, the word and the first field.
        leaves: what it leaves on a run's timeline, in the words of ``conformance.record.timeline``.
        fault: the name of the fault that it injects.
        takes_back: the names of the faults that it takes back.
    """

    def declare(declared: type[Declared]) -> type[Declared]:
        made = dataclass(frozen=True, slots=True)(declared)
        made.word, made.says = word, says
        made.in_short = short or f"{word.replace('_', ' ')} {{{fields(made)[0].name}}}"
        made.leaves, made.fault, made.takes_back = leaves, fault, takes_back
        STEP_CLASSES[word] = made
        return made

    return declare


def in_words(value: object) -> str:
    """Return a field's value as words."""
    if isinstance(value, tuple):
        return listed(value) or "none"
    return "none" if value is None else str(value)


def listed(values: Collection[object]) -> str:
    """Return values separated by commas."""
    return ", ".join(map(str, values))


def named_brokers(brokers: Collection[BrokerId]) -> str:
    """Return brokers in words, such as ``brokers 1 and 2``."""
    if len(brokers) == 1:
        return f"broker {listed(brokers)}"
    return f"brokers {' and '.join(listed(brokers).rsplit(', ', 1))}"


@dataclass(frozen=True, slots=True)
class WireRange:
    """The least and the greatest number that a field of a request takes, and of which type it is there.

    Sources: the message schemas of Produce, Fetch, ListOffsets and OffsetsForLeaderEpoch.
    """

    least: int
    greatest: int
    wire_type: str


INT16_MAX, INT32_MAX, INT64_MAX = 2**15 - 1, 2**31 - 1, 2**63 - 1
ACKS = WireRange(-INT16_MAX - 1, INT16_MAX, "int16")
REQUEST_VERSION = WireRange(0, INT16_MAX, "int16")
TIMEOUT_MS = WireRange(1, INT32_MAX, "int32")
OFFSET = WireRange(0, INT64_MAX, "int64")
LEADERSHIP = WireRange(0, INT32_MAX // 2, "half of an int32, which the epoch is")
"""An epoch may be ahead of the ordinal of its leadership: half of the range is left for that."""


class SoFar:
    """What a schedule has at one of its steps: brokers and timing, and what the steps before have named.

    Attributes:
        index: of the step that is checked, from 0.
        holds: at which point each hold waits, by its name.
        partitions: how many the topic has.
        topics: other topics that exist.
    """

    def __init__(self, brokers: Collection[BrokerId], timing: Timing) -> None:
        self.index = 0
        self.brokers, self.timing = frozenset(brokers), timing
        self.records: set[Label] = set()
        self.holds: dict[str, PointName] = {}
        self.checkpoints: set[str] = set()
        self.partitions = 1
        self.topics: set[str] = set()
        self.has_deleted_records = False

    def refuse(self, field_name: str, message: str) -> NoReturn:
        """Refuse the step for one of its fields.

        Raises:
            ScheduleError: always.
        """
        raise ScheduleError(message, step=self.index, field=field_name)

    def require_known(self, field_name: str, named: Collection[object], known: Collection[object]) -> None:
        """Refuse names that the schedule does not have."""
        unknown = set(named) - set(known)
        if unknown:
            has = f"; it has {_sorted(known)}" if known else ""
            self.refuse(field_name, f"{field_name} names what the schedule does not have: {_sorted(unknown)}{has}")

    def require_brokers(self, field_name: str, *named: BrokerId | None) -> None:
        """Refuse brokers that the schedule does not have."""
        self.require_known(field_name, named, self.brokers)

    def require_distinct(self, field_name: str, brokers: Collection[BrokerId]) -> None:
        """Refuse no broker at all, and one that stands twice."""
        if len(set(brokers)) != len(brokers) or not brokers:
            self.refuse(field_name, f"{field_name} must be distinct broker ids")

    def require_link(self, source: BrokerId | None, destination: BrokerId | None, names: tuple[str, str]) -> None:
        """Refuse a link that is not between two brokers of the schedule."""
        self.require_brokers(names[0], source)
        self.require_brokers(names[1], destination)
        if source == destination:
            self.refuse(names[1], f"{names[0]} and {names[1]} are the same broker")

    def require_at_least(self, field_name: str, value: int, minimum: int) -> None:
        """Refuse a smaller number."""
        if value < minimum:
            self.refuse(field_name, f"{field_name} must be at least {minimum}")

    def require_within(self, field_name: str, value: int, wire: WireRange) -> None:
        """Refuse a number that the request's field cannot carry."""
        if not wire.least <= value <= wire.greatest:
            span = f"from {wire.least} to {wire.greatest} ({wire.wire_type})"
            self.refuse(field_name, f"{field_name} must be {span}, not {value}")

    def note_record(self, field_name: str, label: Label) -> None:
        """Note that a record is sent, and refuse a label that is taken."""
        if label in self.records:
            self.refuse(field_name, f"label {label!r} is produced twice")
        self.records.add(label)


def _sorted(names: Collection[object]) -> str:
    return ", ".join(sorted(str(name) for name in names))
