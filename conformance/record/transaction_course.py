"""Which course does a script of transactions take, by the rules? ``prediction/course.json``, frozen with the answers.

Act by act: who sends what to whom, what is answered, and what coordinator and leaders have then. Every name of a lane
(``producer 2``, ``partition 0``) is one of ``TransactionCourse.lanes``; a question is called as in
``prediction/questions.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory

COURSE_FILE = "prediction/course.json"
COORDINATOR = "coordinator"
"""The lane of the coordinator."""


@dataclass(frozen=True, slots=True)
class CourseBatch:
    """One batch of a log.

    Attributes:
        holds: a record's label, or COMMIT or ABORT.
        epoch: producer epoch.
        sequence: sequence number; None of a marker and of a group's offset.
        end: ``committed``, ``aborted`` or ``open``; None of a marker.
    """

    holds: str
    epoch: int
    sequence: int | None
    end: str | None


@dataclass(frozen=True, slots=True)
class CourseLog:
    """A log as its leader has it.

    Attributes:
        at: its lane.
        last_stable_offset: what lies below is given to consumers of committed records.
    """

    at: str
    batches: tuple[CourseBatch, ...]
    last_stable_offset: int

    @property
    def given(self) -> tuple[str, ...]:
        """Return the records that consumers of committed records are given."""
        return tuple(one.holds for one in self.batches if one.end == "committed")


@dataclass(frozen=True, slots=True)
class CourseMoment:
    """What coordinator and leaders have at one moment.

    Attributes:
        phase: the coordinator's state of the transactional id, such as ``PrepareCommit``.
        epoch: its producer epoch; None before there is one.
        partitions: the lanes of those in the transaction whose marker is not written yet.
    """

    phase: str
    epoch: int | None
    partitions: tuple[str, ...]
    logs: tuple[CourseLog, ...]


@dataclass(frozen=True, slots=True)
class CourseRequest:
    """One request: sent and answered, kept back, or delivered late.

    Attributes:
        sender: its lane.
        receiver: its lane.
        kind: the name of the request in Kafka's protocol.
        says: what is in it, in words.
        late: under which name it is, or was, kept back; empty if it never was.
        is_again: it was delivered before, and is so again.
        answer: in words; None while it is kept back.
        is_refused: the answer is an error.
        asked: the question that it answers; None if it answers none.
    """

    sender: str
    receiver: str
    kind: str
    says: str
    late: str
    is_again: bool
    answer: str | None
    is_refused: bool
    asked: str | None
    after: CourseMoment


@dataclass(frozen=True, slots=True)
class CourseLook:
    """What is read of a lane.

    Attributes:
        asked: the question.
        what: is read, in words.
        predicted: the predicted answer in words.
    """

    at: str
    what: str
    asked: str
    predicted: str


@dataclass(frozen=True, slots=True)
class CourseProducer:
    """A producer and its epoch."""

    at: str
    epoch: int


@dataclass(frozen=True, slots=True)
class CourseAct:
    """One act of the script.

    Attributes:
        producers: those that have an epoch at its end.
        after: what is known at its end.
    """

    number: int
    text: str
    requests: tuple[CourseRequest, ...]
    looks: tuple[CourseLook, ...]
    producers: tuple[CourseProducer, ...]
    after: CourseMoment


@dataclass(frozen=True, slots=True)
class CoursePromise:
    """A promise that is held against what consumers are given in the end.

    Attributes:
        kind: ``missing``, ``unasked`` or ``stuck``.
        asked: the question.
        broken_by: the records, or lanes, that break it by the rules.
    """

    kind: str
    asked: str
    broken_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TransactionCourse:
    """The whole course.

    Attributes:
        lanes: producers, the coordinator, logs: from left to right.
        promised: records that consumers of committed records must be given: acknowledged, and committed as their
            producers were told.
        level: the cluster's transaction.version, where the script asks for one; else None.
        is_replayed: whether the wire is replayed by the rules: not where a log is cut, which no frame of these shows.
    """

    lanes: tuple[str, ...]
    acts: tuple[CourseAct, ...]
    promised: tuple[str, ...]
    promises: tuple[CoursePromise, ...]
    level: int | None = None
    is_replayed: bool = True


def write_course(run: RunDirectory, course: TransactionCourse) -> None:
    """Write the course; to be called before the prediction is frozen."""
    run.write(COURSE_FILE, course)


def read_course(run: RunDirectory) -> TransactionCourse | None:
    """Read the course; None of a run that has none, as all but scripts of transactions.

    Raises:
        RunDirectoryError: it cannot be read.
    """
    return run.read(COURSE_FILE, TransactionCourse) if run.has(COURSE_FILE) else None
