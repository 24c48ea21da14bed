"""What does an entry say on all release lines? Each line is predicted; lines that do the same are told together."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from conformance.catalogue.examination import BASIS_WORDS, Examination, basis_of
from conformance.catalogue.ladder import LADDER
from conformance.catalogue.where import EVERYWHERE
from conformance.commands.choosing import entry_prediction, release_options
from conformance.commands.site.courses import courses_of, differences
from conformance.commands.site.ranges import in_ranges
from conformance.registry import file_of, name_alone
from conformance.schedules.topic_settings import user_settings
from oracle.rules.release import age
from oracle.vocabulary import MetadataMode
from reports.site.model import EntryText, WordsByLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.catalogue.examination import Entry
    from conformance.commands.site.courses import CourseOnLine
    from conformance.line import Line
    from oracle.rules.rule_set import RuleSet
    from reports.site.model import PredictedCourse, RecordEnd

    Alike = dict[PredictedCourse, dict[Line, CourseOnLine]]


def entry_text(entry: Entry, lines: Sequence[Line]) -> EntryText:
    """Return all that is said of an entry; nothing of runs yet.

    Args:
        entry: of the catalogue.
        lines: on which it is predicted.

    Raises:
        ScheduleFileError: no rule of a release satisfies its schedule.
    """
    alike = _lines_alike(entry, in_order(lines))
    return EntryText(
        name=entry.name,
        id=entry.id,
        requirement=entry.requirement,
        sources=entry.sources,
        explanation=entry.explanation,
        declared_in=file_of(entry),
        basis=BASIS_WORDS[basis_of(entry)],
        runs_on="" if entry.where == EVERYWHERE else entry.where.text,
        settings=() if isinstance(entry, Examination) else tuple(user_settings(entry.schedule).items()),
        steps=_steps(entry),
        courses=tuple(_courses(entry, alike)),
        command=f"kafka-conformance run {name_alone(entry)}{_release_that_runs(alike)}",
    )


def _steps(entry: Entry) -> tuple[str, ...]:
    if isinstance(entry, Examination):
        return entry.subject.steps()
    return tuple(step.sentence() for step in entry.schedule.steps)


def _release_that_runs(alike: Alike) -> str:
    """Return the options that name the newest line which runs an entry; nothing if it is the newest of all, or none."""
    newest = max(LADDER, key=_age)
    running = [line for course, lines in alike.items() if not course.not_run for line in lines]
    runs = max(running, key=_age, default=newest)
    return "" if runs == newest else f" {release_options(runs.rules)}"


def in_order(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return lines, each once: those with ZooKeeper first, in each mode the older release first."""
    return tuple(sorted(dict.fromkeys(lines), key=_age))


def _age(line: Line) -> tuple[bool, tuple[int, ...]]:
    return age(line.release.version, MetadataMode(line.metadata.value))


@cache
def _rules(line: Line) -> RuleSet:
    """Return the rules of a line, which are put together once."""
    return line.rules


def _lines_alike(entry: Entry, lines: Sequence[Line]) -> Alike:
    """Return what an entry comes to, each course once with the lines that do it; the newest line's first.

    A schedule that exists everywhere is predicted once for lines whose rules are equal.
    """
    alike: Alike = {}
    known: dict[object, tuple[CourseOnLine, ...]] = {}
    for line in reversed(lines):
        is_everywhere = entry.where == EVERYWHERE and not isinstance(entry, Examination)
        mark = replace(_rules(line), version="") if is_everywhere else line
        if mark not in known:
            known[mark] = courses_of(entry_prediction(entry, _rules(line)))
        for told in known[mark]:
            alike.setdefault(told.course, {})[line] = told
    return alike


def _courses(entry: Entry, alike: Alike) -> Iterator[PredictedCourse]:
    """Yield the courses with anchor, lines and reasons; those of lines that do not run the entry last."""
    run = [course for course in alike if not course.not_run]
    every = [line.text for line in in_order([line for lines in alike.values() for line in lines])]
    for number, course in enumerate([*run, *(one for one in alike if one.not_run)], start=1):
        told = alike[course]
        yield replace(
            course,
            anchor=f"{entry.id}/{number}",
            lines=in_ranges([line.text for line in told], every, "every line"),
            differs=() if course.not_run or course is run[0] else differences(course, run[0]),
            says=_by_line({line: one.says for line, one in told.items()}, every),
            records=tuple(_records(course, told, every)),
        )


def _records(course: PredictedCourse, told: Mapping[Line, CourseOnLine], every: Sequence[str]) -> Iterator[RecordEnd]:
    for number, record in enumerate(course.records):
        yield replace(record, why=_by_line({line: one.whys[number] for line, one in told.items()}, every))


def _by_line(told: Mapping[Line, str], every: Sequence[str]) -> tuple[WordsByLine, ...]:
    """Return what lines say, each once; which lines say it only if they differ."""
    alike: dict[str, list[str]] = {}
    for line, words in told.items():
        alike.setdefault(words, []).append(line.text)
    if len(alike) == 1:
        return tuple(WordsByLine("", words) for words in alike if words)
    return tuple(WordsByLine(in_ranges(lines, every, "every line"), words) for words, lines in alike.items())


def about_lines(lines: Sequence[Line]) -> str:
    """Return which lines pages speak of, in a sentence or two."""
    if len(lines) == 1:
        return f"One release line is told: {lines[0].text}."
    if tuple(lines) != LADDER:
        return f"These release lines are told: {', '.join(line.text for line in lines)}."
    return (
        f"{len(LADDER)} release lines are told, from {LADDER[0].text} to {LADDER[-1].text}: one for each release whose "
        "rules differ. A range has every line between its ends."
    )
