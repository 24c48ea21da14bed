"""Is a broken promise on the first screen, and does no part of a page say otherwise than the judge?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.record.verdict import Conformance, Finding, PromiseKept, RecordLoss
from reports import write_report
from reports.headline import as_predicted, broken_promises, headline
from reports.html import render_html
from reports.load import load_run, load_runs
from reports.operators import ChosenSettings, FoundLosses, operator_rows
from reports.promises import lost_records
from reports.settings_table import settings_tables
from reports.version_matrix import version_matrix
from tests.reports.golden_runs import clean_loss, kept, loss
from tests.reports.golden_writer import write_golden
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from pathlib import Path

    from reports.model import RunView
    from reports.operators import OperatorRow

OTHER_RULES = {"rules_of": "0.10.2.2", "rules_metadata": "zookeeper"}
CAUSE = "m1 lost: broker 2 had appended the record, cut it, and was elected"


@pytest.fixture
def other_rules(tmp_path: Path) -> Path:
    """TR-01 on 4.3.1, which lost nothing, judged by the rules of a release that loses m1."""
    golden, own = loss(), kept()
    run = own.run | OTHER_RULES | {"run": "by-other-rules"}
    verdict = own.verdict and own.verdict | OTHER_RULES | {"conformance": "DEVIATES", "reason": "m1 is not lost"}
    m1 = replace(golden.records[1], found=1)
    return write_golden(
        replace(own, run=run, verdict=verdict, records=(own.records[0], m1, own.records[2])), tmp_path / "runs"
    )


def page_of(*runs: Path) -> PageReader:
    return PageReader(write_report(list(runs), runs[0].parent / "report.html").read_text(encoding="utf-8"))


def card(page: PageReader, name: str) -> str:
    return next(item.words for item in page.named("div") if item.attributes.get("aria-label") == name)


def first_screen(page: PageReader) -> str:
    return next(item.words for item in page.named("header"))


def rows_by_release(runs: tuple[RunView, ...]) -> dict[str, OperatorRow]:
    return {row.kafka: row for row in operator_rows(runs)}


def test_a_prediction_of_other_rules_is_no_loss(other_rules: Path) -> None:
    run = load_run(other_rules)
    (row,) = operator_rows([run])
    assert run.verdict.losses == ()
    assert (row.lost, row.worst) == ((), PromiseKept.KEPT)


def test_both_cards_agree_and_name_the_rules_that_judged(other_rules: Path) -> None:
    page = page_of(other_rules)
    assert "Did the brokers of 4.3.1 behave as the model of 0.10.2.2 ZooKeeper says?" in card(page, "Conformance")
    promise = card(page, "Durability promise")
    assert promise.endswith("Kept Everything the settings promised to keep is there.")
    assert "the rules of 0.10.2.2 ZooKeeper, not of 4.3.1" in first_screen(page)
    assert page.named("h1")[0].words == (
        "Kafka 4.3.1 KRaft, by the rules of 0.10.2.2 ZooKeeper: 1 run deviates from the model; "
        "no promise broken in 1 run"
    )
    assert "lost" not in first_screen(page)


def test_one_run_judged_by_two_releases_stands_in_two_columns_and_rows(other_rules: Path, tmp_path: Path) -> None:
    runs = load_runs([write_golden(kept(), tmp_path), other_rules])
    lines = ("4.3.1 KRaft", "4.3.1 KRaft, by the rules of 0.10.2.2 ZooKeeper")
    matrix = version_matrix(runs)
    assert matrix is not None
    assert set(matrix.columns) == set(rows_by_release(runs)) == set(lines)
    cells = [replace(run, name="EL-03/acks=all,min=1,unclean=on,replicas=2") for run in runs]
    assert {table.kafka for table in settings_tables(cells)} == set(lines)


def test_operators_learn_which_settings_lost_what(golden_paths: list[Path]) -> None:
    rows = [row for row in operator_rows(load_runs(golden_paths)) if row.kafka == "0.10.2.2 ZooKeeper"]
    assert [row.settings for row in rows] == [
        ("acks=all", "min.insync.replicas 1", "unclean election on", "2 replicas"),
        ("acks=all", "min.insync.replicas 2", "unclean election off", "3 replicas"),
    ]
    assert [(lost.words, lost.run.name) for lost in rows[0].lost] == [("m1", "TR-01/unsafe"), ("m1", "TR-03/unsafe")]
    assert rows[0].worst is PromiseKept.BROKEN_AS_PREDICTED
    assert rows_by_release(load_runs(golden_paths))["4.3.1 KRaft"].lost == ()
    assert "2.8.2 ZooKeeper" not in rows_by_release(load_runs(golden_paths))


def test_equal_settings_stand_in_one_row_whatever_their_variant_is_called(golden_paths: list[Path]) -> None:
    lost = load_run(golden_paths[0])
    fine = replace(lost, name="TR-09/safe", variant="safe", verdict=replace(lost.verdict, promise=PromiseKept.KEPT))
    (row,) = operator_rows([lost, fine])
    assert row.shown_by == (lost,)


def test_the_settings_that_came_to_the_worst_stand_first(golden_paths: list[Path]) -> None:
    fine, lost = load_run(golden_paths[1]), load_run(golden_paths[0])
    safe = {**fine.user_settings, "min.insync.replicas": "2"}
    rows = operator_rows([replace(fine, user_settings=safe), replace(fine, kafka="0.10.2.1"), lost])
    assert [(row.settings[1], row.kafka, row.worst) for row in rows] == [
        ("min.insync.replicas 1", "0.10.2.1 KRaft", PromiseKept.KEPT),
        ("min.insync.replicas 1", "0.10.2.2 ZooKeeper", PromiseKept.BROKEN_AS_PREDICTED),
        ("min.insync.replicas 2", "4.3.1 KRaft", PromiseKept.KEPT),
    ]


def test_what_the_model_finds_of_settings_stands_beside_what_was_shown(golden_paths: list[Path]) -> None:
    run = load_run(golden_paths[0])
    asked: list[ChosenSettings] = []

    def found(chosen: ChosenSettings) -> FoundLosses:
        asked.append(chosen)
        return FoundLosses(chosen.acks, f"kills lose acks={chosen.acks}", "so does a power failure")

    both = replace(run, records=replace(run.records, acks=("all", "1")))
    (row,) = operator_rows([both], found)
    assert asked == [ChosenSettings("0.10.2.2", "zookeeper", acks, 1, 2, True, run.has_elr) for acks in ("all", "1")]
    assert [one.kills for one in row.can_lose] == ["kills lose acks=all", "kills lose acks=1"]
    page = PageReader(render_html([both], golden_paths[0].parent, what_is_lost=found))
    (table,) = [item for item in page.named("table") if item.attributes.get("class") == "operators"]
    assert "acks=all: kills lose acks=all; acks=1: kills lose acks=1" in table.words
    assert "kills lose" not in page_of(golden_paths[0]).named("main")[0].words


def test_the_first_finding_is_told_and_the_others_are_folded(golden_paths: list[Path]) -> None:
    run = load_run(golden_paths[0])
    findings = tuple(Finding("wire", words) for words in ("the first", "the second", "the third", "the second"))
    verdict = replace(run.verdict, conformance=Conformance.DEVIATES, findings=findings)
    page = PageReader(render_html([replace(run, verdict=verdict), run], golden_paths[0].parent))
    (item,) = [one for one in page.named("li") if "and 2 more findings" in one.words]
    assert "the first" in item.words.partition("and 2 more findings")[0]
    folded = [one.words for one in page.named("li") if {"details", "li"} <= set(one.parents)]
    assert folded[:2] == ["the second", "the third"]


def test_seed_machine_and_words_come_last(golden_paths: list[Path]) -> None:
    page = page_of(*golden_paths)
    heads = [item.words for item in page.named("h2")]
    assert heads[0] == "What this means for operators"
    assert heads[-2:] == ["How to read this page", "How it was run"]
    assert "Seed" not in first_screen(page)


def test_the_matrix_names_the_records_that_were_lost(golden_paths: list[Path]) -> None:
    page = page_of(*golden_paths)
    (table,) = [item for item in page.named("table") if item.attributes.get("class") == "matrix"]
    lost = [run for run in load_runs(golden_paths) if lost_records(run)]
    assert table.words.count("m1 lost") == len(lost) == 4


def test_whose_rules_nothing_deviates_from_is_said(golden_paths: list[Path]) -> None:
    run = load_run(golden_paths[1])
    other = replace(run, rules="0.10.2.2 ZooKeeper")
    begin = "Nothing deviates: what was run went as the model"
    assert as_predicted([run, run]) == f"{begin} of its release predicts."
    assert as_predicted([other, other]) == f"{begin} predicts by the rules of 0.10.2.2 ZooKeeper."
    assert as_predicted([run, other]) == f"{begin} predicts by the rules of its release, or of 0.10.2.2 ZooKeeper."
    page = PageReader(render_html([run, other], golden_paths[1].parent))
    assert as_predicted([run, other]) in [item.words for item in page.named("p")]


def test_no_settings_are_called_safe(tmp_path: Path) -> None:
    page = page_of(write_golden(clean_loss(), tmp_path / "runs"))
    (table,) = [item for item in page.named("table") if item.attributes.get("class") == "operators"]
    heads = [item.words for item in page.named("th") if item.attributes.get("scope") == "row"]
    assert "acks=all, min.insync.replicas 2, unclean election off, 3 replicas" in heads
    assert "survive" not in table.words


def test_writes_are_told_to_be_refused_by_the_run_that_refused_them(golden_paths: list[Path]) -> None:
    fine = load_run(golden_paths[1])
    refusing = replace(fine, name="AC-04", records=replace(fine.records, totals={"refused": 2}))
    (row,) = operator_rows([fine, refusing])
    assert row.refused == 2
    assert row.advice.startswith("Writes were refused")
    assert row.shown_by == (refusing,)


def test_a_broken_promise_is_the_headline_with_record_cause_and_link(golden_paths: list[Path]) -> None:
    (path,) = [path for path in golden_paths if path.name.endswith("0.10.2.2-zookeeper-tr-01")]
    page = page_of(path)
    said = "Kafka 0.10.2.2 ZooKeeper loses acknowledged records with acks=all: 1 way shown"
    assert page.named("h1")[0].words == said
    links = {item.words: item.attributes["href"] for item in page.named("a") if "header" in item.parents}
    assert "a 0.10.2 broker truncates to its own high watermark" in first_screen(page)
    assert links["TR-01/unsafe"][1:] in page.with_attribute("id")


def test_the_cause_is_the_judges_not_a_loss_that_the_settings_allow(golden_paths: list[Path]) -> None:
    run = load_run(golden_paths[0])
    cause = "offset 1 holds m1 on broker 1, m3 on broker 3"
    allowed = (RecordLoss("m2", "allowed_by_settings", "never had the record"),)
    diverged = replace(run, verdict=replace(run.verdict, losses=allowed, promise_reason=cause))
    older = replace(run, verdict=replace(diverged.verdict, promise_reason=""))
    assert [one.cause for one in broken_promises([diverged, older])] == [cause, run.verdict.reason]
    assert headline([diverged]) == "Kafka 0.10.2.2 ZooKeeper breaks its durability promise: 1 way shown"


def test_what_nobody_predicted_comes_first_and_the_rest_is_counted(golden_paths: list[Path]) -> None:
    page = page_of(*golden_paths)
    items = [item.words for item in page.named("li") if "header" in item.parents]
    assert len(items) == 4
    assert items[0].startswith("Broken Kafka 3.9.1 KRaft: m1 was acknowledged at offset 1 and must be present")
    many = page_of(*golden_paths[:1] * 8)
    assert [item.words for item in many.named("li") if "header" in item.parents][-1] == (
        "and 3 more: which settings lost what"
    )


def test_the_operators_table_is_open(golden_paths: list[Path]) -> None:
    for runs in (golden_paths[:1], golden_paths * 3):
        page = page_of(*runs)
        (table,) = [item for item in page.named("table") if item.attributes.get("class") == "operators"]
        assert "details" not in table.parents


def test_machines_read_the_cause_and_the_rules(other_rules: Path, tmp_path: Path) -> None:
    golden = loss()
    verdict = golden.verdict and golden.verdict | {"promise_reason": CAUSE}
    write_report([write_golden(replace(golden, verdict=verdict), tmp_path), other_rules], tmp_path / "report.html")
    told = json.loads((tmp_path / "report.json").read_text())["runs"]
    assert [(run["promise_broken_by"], run["by_rules_of"]) for run in told] == [
        (CAUSE, None),
        (None, "0.10.2.2 ZooKeeper"),
    ]


def test_the_card_of_conformance_does_not_tell_of_the_promise(golden_paths: list[Path]) -> None:
    run = load_run(golden_paths[0])
    judged = replace(run.verdict, reason=f"34 numbers as predicted; {CAUSE}", promise_reason=CAUSE)
    assert replace(run, verdict=judged).short_reason == "34 numbers as predicted"


def test_a_loss_that_the_settings_allow_does_not_stand_for_the_cause(tmp_path: Path) -> None:
    golden, cause = loss(), "offset 1 holds m1 on broker 1, m3 on broker 3"
    losses = [{"label": "m1", "promise": "allowed_by_settings", "reason": "broker 3 never had it"}]
    verdict = golden.verdict and golden.verdict | {"promise_reason": cause, "losses": losses}
    told = card(page_of(write_golden(replace(golden, verdict=verdict), tmp_path / "runs")), "Durability promise")
    assert told.endswith(f"Broken, as predicted {cause} Lost besides, as the settings allow: m1 broker 3 never had it")
