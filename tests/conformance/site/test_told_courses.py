"""Are a page's numbers, logs and fates those of the prediction, on every release line?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.ladder import LADDER
from conformance.commands.choosing import entry_prediction
from conformance.commands.site.courses import checkpoints_of, courses_of, differences, logs_at
from conformance.commands.site.entries import about_lines, entry_text
from conformance.commands.site.gathering import lines_of
from conformance.commands.site.ranges import in_ranges
from conformance.line import line_named
from conformance.record.verdict import PromiseKept
from conformance.registry import SCENARIOS, select
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.scenario import Scenario

OLD, NEW = line_named("0.10.2.2").rules, line_named("4.4.0").rules


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_the_replayed_logs_are_as_long_as_predicted_and_end_as_predicted(scenario: Scenario) -> None:
    for rules in (OLD, NEW):
        told = entry_prediction(scenario, rules).prediction
        if told is None:
            continue
        for moment in told.moments:
            lengths = {broker: len(log) for broker, log in logs_at(told.chronicle, moment).items()}
            assert lengths == {broker: numbers.log_end_offset for broker, numbers in moment.replicas.items()}
        ends = {broker: tuple(record.label for record in records) for broker, records in told.logs.items()}
        assert logs_at(told.chronicle, told.moments[-1]) == ends


def test_what_is_drawn_has_the_numbers_of_the_checkpoints() -> None:
    (entry,) = select(["TR-01"])
    prediction = entry_prediction(entry, OLD).prediction
    assert prediction is not None
    for drawn, moment in zip(checkpoints_of(prediction), prediction.checkpoints, strict=True):
        assert (drawn.name, drawn.leader, drawn.isr) == (moment.name, moment.leader, moment.isr)
        for replica in drawn.replicas:
            numbers = next(one for broker, one in moment.replicas.items() if broker == replica.broker)
            assert replica.log_end_offset == numbers.log_end_offset == len(replica.labels)
            assert replica.high_watermark == numbers.high_watermark
            assert replica.is_alive is numbers.alive


def test_what_a_replica_has_cut_is_drawn_as_gone() -> None:
    (entry,) = select(["TR-01"])
    (told,) = courses_of(entry_prediction(entry, OLD))
    restarted = next(one for one in told.course.checkpoints if one.name == "follower restarted")
    gone = [(one.broker, ghost.offset, ghost.label) for one in restarted.replicas for ghost in one.ghosts]
    assert gone == [(2, 1, "m1")]


def test_tr_01_is_lost_on_the_old_line_and_kept_on_the_new_one(site: Path) -> None:
    told = PageReader((site / "requirements" / "TR-01.html").read_text(encoding="utf-8"))
    words = [row.words for row in told.named("tr")]
    rows = {row.split(" (")[0]: row for row in words if row.startswith(("0.10.2.2 (", "4.4.0 ("))}
    assert "Broken, as predicted" in rows["0.10.2.2"]
    assert "m1 lost" in rows["0.10.2.2"]
    assert "Kept" in rows["4.4.0"]
    assert sum(row.startswith("m1 acknowledged lost") for row in words) == 1


def test_the_table_of_a_page_has_the_numbers_of_the_prediction(site: Path) -> None:
    page = (site / "requirements" / "TR-01.html").read_text(encoding="utf-8")
    (entry,) = select(["TR-01"])
    for rules in (OLD, NEW):
        prediction = entry_prediction(entry, rules).prediction
        assert prediction is not None
        for moment in prediction.checkpoints:
            numbers = "".join(
                f"<td>{one.log_end_offset}, {one.high_watermark}</td>" for one in moment.replicas.values()
            )
            isr = ", ".join(map(str, moment.isr))
            row = rf"{re.escape(str(moment.name))}</th><td>{moment.leader}</td><td>{isr}</td>{numbers}"
            assert re.search(row, page), moment


def test_lines_that_do_the_same_stand_together() -> None:
    (entry,) = select(["TR-01"])
    text = entry_text(entry, LADDER)
    told = {course.lines: course.promise for course in text.courses}
    assert told == {
        "0.11.0.3 to 3.9.2 (ZooKeeper); 3.9.2 to 4.4.0 (KRaft)": PromiseKept.KEPT,
        "0.10.2.2 (ZooKeeper)": PromiseKept.BROKEN_AS_PREDICTED,
        "3.4.1 to 3.7.2 (KRaft)": None,
    }
    assert "KAFKA-12670" in text.courses[-1].not_run
    assert text.courses[0].differs == ()
    assert text.courses[1].differs[0].endswith("broker 2: LEO 1, not 2")


def test_a_defect_is_told_on_both_its_releases_too() -> None:
    (entry,) = select(["KAFKA-13141"])
    told = [line.text for line in lines_of(entry, LADDER)]
    assert told[-2:] == ["2.8.0/zookeeper", "2.8.1/zookeeper"]
    courses = {course.lines: course.promise for course in entry_text(entry, lines_of(entry, LADDER[-2:])).courses}
    assert courses["2.8.0 (ZooKeeper)"] is PromiseKept.BROKEN_AS_PREDICTED
    assert [promise for lines, promise in courses.items() if "2.8.1" in lines] == [PromiseKept.KEPT]


def differing(name: str, old: str, new: str) -> tuple[str, ...]:
    (entry,) = select([name])
    (one,), (other,) = (courses_of(entry_prediction(entry, line_named(line).rules)) for line in (old, new))
    return differences(one.course, other.course)


def test_a_course_that_differs_says_in_what() -> None:
    assert differing("HW-12", "1.1.0", "1.1.1")[0].endswith("broker 3: HW 2, not 1")
    assert len(told := differing("TR-01", "0.10.2.2", "4.4.0")) == 4
    assert told[-1].startswith("and ")
    assert differing("TR-01", "3.9.2", "4.4.0") == ()


@pytest.mark.parametrize(
    ("some", "words"),
    [
        (["1/zookeeper", "2/zookeeper", "4/zookeeper"], "1 to 2, 4 (ZooKeeper)"),
        (["3/zookeeper", "3/kraft"], "3 (ZooKeeper); 3 (KRaft)"),
        (["3/kraft", "4/kraft"], "3 to 4 (KRaft)"),
        (["1/zookeeper", "2/zookeeper", "3/zookeeper", "4/zookeeper", "3/kraft", "4/kraft"], "all"),
    ],
)
def test_a_range_leaves_no_line_out(some: list[str], words: str) -> None:
    every = ["1/zookeeper", "2/zookeeper", "3/zookeeper", "4/zookeeper", "3/kraft", "4/kraft"]
    assert in_ranges(some, every, "all") == words


def test_one_line_is_told_by_its_name() -> None:
    assert in_ranges(["4/kraft"], ["4/kraft"], "every line") == "4 (KRaft)"
    assert about_lines([line_named("4.4.0")]) == "One release line is told: 4.4.0/kraft."
    assert about_lines([line_named("4.3.1"), line_named("4.4.0")]).startswith(
        "These release lines are told: 4.3.1/kraft,"
    )


def test_a_record_that_another_one_has_replaced_is_told_as_cut() -> None:
    (entry,) = select(["TR-05/"])
    text = entry_text(entry, (line_named("4.4.0"),))
    replaced = [
        (replica.broker, gone.label, gone.offset)
        for course in text.courses
        for checkpoint in course.checkpoints
        for replica in checkpoint.replicas
        for gone in replica.replaced
    ]
    assert replaced == [(1, "m4", 3)]


@pytest.mark.parametrize(
    ("line", "promise", "says"),
    [
        (
            "3.9.2/kraft",
            PromiseKept.BROKEN_AS_PREDICTED,
            "acknowledged records of committed transactions that consumers are not given: a2",
        ),
        ("4.4.0", PromiseKept.KEPT, "exactly once is kept"),
    ],
)
def test_a_script_of_transactions_has_its_promise_and_what_is_drawn(line: str, promise: PromiseKept, says: str) -> None:
    (entry,) = select(["TX-05/late-abort/"])
    (told,) = courses_of(entry_prediction(entry, line_named(line).rules))
    assert (told.course.promise, told.says) == (promise, says)
    assert told.course.transactions is not None


def test_a_script_of_transactions_is_drawn_on_its_page(site: Path) -> None:
    page = PageReader((site / "requirements" / "TX-05.html").read_text(encoding="utf-8"))
    drawn = [one for one in page.named("svg") if "transactions" in one.attributes.get("class", "")]
    assert len(drawn) == 4
    used = set(re.findall(r"url\(#([^)]+)\)", (site / "requirements" / "TX-05.html").read_text(encoding="utf-8")))
    assert used <= set(page.with_attribute("id"))
    assert 'id="area-late"' not in (site / "requirements" / "TR-01.html").read_text(encoding="utf-8")
