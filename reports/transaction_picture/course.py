"""What is there to be drawn of a script of transactions? Its course, with what brokers answered beside it.

What is drawn between two looks at the logs is what the rules say: nobody measures there. Every answer that was measured
says whether it agrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.transaction_course import COORDINATOR
from reports.answer_parts import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.record.transaction_course import CourseAct, CourseMoment, CourseRequest, TransactionCourse
    from reports.model import QuestionView

AGREES, DIFFERS = "✓", "≠"
GIVEN_WHAT = "records to read_committed"
"""How a look at what consumers are given is called."""
MISSING, UNASKED, STUCK = "missing", "unasked", "stuck"
"""Kinds of promises."""


@dataclass(frozen=True, slots=True)
class CourseView:
    """A course and its answers.

    Attributes:
        asked: the run's questions by their text; none where no run is told.
    """

    course: TransactionCourse
    asked: Mapping[str, QuestionView]

    @classmethod
    def of(cls, course: TransactionCourse, asked: Sequence[QuestionView] = ()) -> CourseView:
        """Return the view of a course with the answers of a run."""
        return cls(course, {one.what: one for one in asked})

    @property
    def is_measured(self) -> bool:
        """Return whether any answer of brokers is known."""
        return any(one.agrees is not None for one in self.asked.values())

    @property
    def producers(self) -> tuple[str, ...]:
        """Return the lanes of producers, which stand before the coordinator's."""
        return self.course.lanes[: self.coordinator_place]

    @property
    def coordinator_place(self) -> int:
        """Return which lane is the coordinator's."""
        return self.course.lanes.index(COORDINATOR)

    @property
    def logs(self) -> tuple[str, ...]:
        """Return the lanes of logs."""
        return self.course.lanes[self.coordinator_place + 1 :]

    def sign(self, question: str | None) -> str:
        """Return the sign of an answer: that it was measured so, that it differs, or none if nobody measured it."""
        asked = self.asked.get(question or "")
        if asked is None or asked.agrees is None:
            return ""
        return AGREES if asked.agrees else DIFFERS

    def measured_instead(self, question: str | None) -> str:
        """Return in words what was measured where that differs; empty if it does not."""
        asked = self.asked.get(question or "")
        return "" if asked is None or not asked.differs else f"{DIFFERS} measured: {asked.measured or 'no answer'}"

    def broken_by(self, kind: str) -> tuple[str, ...]:
        """Return what breaks a promise: as it was measured, else by the rules."""
        promise = next((one for one in self.course.promises if one.kind == kind), None)
        if promise is None:
            return ()
        measured = self._measured(promise.asked)
        found = promise.broken_by if measured is None else measured
        return tuple(f"partition {one}" if one.isdecimal() else one for one in found)

    def given(self) -> dict[str, tuple[str, ...]]:
        """Return by lane what consumers are given in the end: as it was measured, else by the rules."""
        last = self.course.acts[-1] if self.course.acts else None
        given = {} if last is None else {log.at: log.given for log in last.after.logs if log.at in self.logs}
        for look in () if last is None else last.looks:
            if look.what == GIVEN_WHAT and (found := self._measured(look.asked)) is not None:
                given[look.at] = found
        return {at: records for at, records in given.items() if at.startswith("partition")}

    def _measured(self, question: str) -> tuple[str, ...] | None:
        """Return the parts of a measured list; None if there is none."""
        asked = self.asked.get(question)
        tree = None if asked is None or asked.agrees is None else tree_of(asked.measured)
        return tuple(str(one) for one in tree) if isinstance(tree, list) else None

    def steps(self) -> Iterator[tuple[CourseAct, CourseRequest | None, CourseMoment, CourseMoment | None]]:
        """Yield what happens, one after the other: act, request, what is known then and what was before.

        An act that sends nothing, or after whose last request something changes by itself, has one without a request.
        """
        before: CourseMoment | None = None
        for act in self.course.acts:
            for request in act.requests:
                yield act, request, request.after, before
                before = request.after
            if not act.requests or before != act.after:
                yield act, None, act.after, before
                before = act.after
