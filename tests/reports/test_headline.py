"""Does the headline answer who runs Kafka, from the runs alone, and never as if all were well when it is not?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.record.verdict import Conformance, PromiseKept, RecordLoss
from reports.headline import headline, headline_tone, subtitle
from reports.html import render_html
from reports.load import load_run
from tests.reports.golden_runs import kept, loss, not_run
from tests.reports.golden_writer import write_golden
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path

    from reports.model import RunView

ALLOWED = (RecordLoss("m1", "allowed_by_settings", "unclean election"),)


@pytest.fixture
def fine(tmp_path: Path) -> RunView:
    return load_run(write_golden(kept(), tmp_path))


@pytest.fixture
def broken(tmp_path: Path) -> RunView:
    return load_run(write_golden(loss(), tmp_path))


def judged(run: RunView, conformance: Conformance, promise: PromiseKept | None = PromiseKept.KEPT) -> RunView:
    return replace(run, verdict=replace(run.verdict, conformance=conformance, promise=promise, losses=()))


def lost(run: RunView, minimum: str, unclean: str, acks: str = "all") -> RunView:
    """Return a run that lost m1 as its settings allow."""
    settings = {"min.insync.replicas": minimum, "unclean.leader.election.enable": unclean}
    verdict = replace(run.verdict, promise=PromiseKept.ALLOWED_BY_SETTINGS, losses=ALLOWED)
    records = replace(run.records, acks=(acks,), rows=tuple(replace(row, acks=acks) for row in run.records.rows))
    return replace(run, user_settings=settings, verdict=verdict, records=records)


def test_where_no_promise_is_broken_the_runs_are_counted(fine: RunView) -> None:
    assert headline([fine] * 134) == "Kafka 4.3.1 KRaft: no promise broken in 134 runs"
    assert headline_tone([fine]) == ""
    assert subtitle([fine] * 134) == "All 134 runs conform."


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([("1", "true", "all")], "min.insync.replicas 1 with unclean election"),
        ([("1", "true", "all"), ("2", "true", "all")], "min.insync.replicas 1 or 2 with unclean election"),
        ([("1", "false", "all")], "min.insync.replicas 1 with unclean election off"),
        ([("1", "true", "all"), ("3", "false", "1")], "min.insync.replicas 1 with unclean election; acks=1"),
    ],
)
def test_settings_that_lose_are_those_of_the_runs_that_lost(
    fine: RunView, cells: list[tuple[str, str, str]], said: str
) -> None:
    runs = [fine, *(lost(fine, *cell) for cell in cells)]
    words = headline(runs)
    assert (
        words
        == f"Kafka 4.3.1 KRaft: no promise broken in {len(runs)} runs; records lost only as settings allow: {said}"
    )


def test_ways_are_scenarios_and_lines_are_named_once_or_counted(broken: RunView) -> None:
    again = [broken, replace(broken, anchor="again"), replace(broken, name="TR-09")]
    assert headline(again).endswith("loses acknowledged records with acks=all: 2 ways shown")
    many = [replace(broken, kafka=f"0.1{number}.0") for number in range(4)]
    assert headline(many) == "4 release lines lose acknowledged records with acks=all: 1 way shown"
    assert headline_tone(many) == "bad"


def test_a_record_that_nobody_acknowledged_is_not_called_so(broken: RunView) -> None:
    rows = tuple(replace(row, measured_outcome="indeterminate") for row in broken.records.rows)
    silent = replace(broken, records=replace(broken.records, rows=rows))
    assert headline([silent]) == "Kafka 0.10.2.2 ZooKeeper loses records against their promise: 1 way shown"


@pytest.mark.parametrize(
    ("words", "said", "tone"),
    [
        ([Conformance.DEVIATES], "1 of 2 runs deviates from the model; no promise broken in 2 runs", "bad"),
        ([Conformance.INCONCLUSIVE], "no answer from 1 of 2 runs; no promise broken in 1 run", "caution"),
        (
            [Conformance.DEVIATES, Conformance.HARNESS_ERROR, Conformance.INCONCLUSIVE],
            "1 of 4 runs deviates from the model; no answer from 2 of 4 runs; no promise broken in 2 runs",
            "bad",
        ),
    ],
)
def test_what_deviates_or_gave_no_answer_comes_before_what_was_kept(
    fine: RunView, words: list[Conformance], said: str, tone: str
) -> None:
    runs = [fine, *(judged(fine, word) for word in words)]
    assert headline(runs) == f"Kafka 4.3.1 KRaft: {said}"
    assert headline_tone(runs) == tone


def test_runs_without_an_answer_are_no_promise_kept(fine: RunView) -> None:
    assert headline([judged(fine, Conformance.INCONCLUSIVE, None)]) == "Kafka 4.3.1 KRaft: no answer from 1 run"
    assert headline([judged(fine, Conformance.CONFORMS, PromiseKept.NO_PROMISE)] * 3) == (
        "Kafka 4.3.1 KRaft: 3 runs behave as modelled, and promised nothing"
    )


def test_what_does_not_apply_is_nothing_that_was_run(tmp_path: Path) -> None:
    left_out = load_run(write_golden(not_run(), tmp_path))
    assert headline([left_out] * 2) == "Nothing was run"
    assert subtitle([left_out] * 2) == "2 do not apply and were not run."


def test_a_broken_promise_is_red_and_its_records_are_named(broken: RunView, tmp_path: Path) -> None:
    unnamed = replace(broken, verdict=replace(broken.verdict, promise_reason="broker 2 had cut it"))
    page = PageReader(render_html([unnamed], tmp_path))
    assert page.named("h1")[0].attributes["class"] == "bad"
    (item,) = [found.words for found in page.named("li") if "header" in found.parents]
    assert item == "Broken, as predicted Kafka 0.10.2.2 ZooKeeper: lost m1; broker 2 had cut it TR-01/unsafe"


def test_the_rules_that_judged_are_named_where_they_are_not_the_releases(broken: RunView) -> None:
    other = replace(broken, kafka="4.3.1", metadata="kraft", rules="0.10.2.2 ZooKeeper")
    assert headline([other]).startswith("Kafka 4.3.1 KRaft, by the rules of 0.10.2.2 ZooKeeper, loses acknowledged")
