"""Is an entry that fails, is mended, ends differently, or takes longer than in an earlier report told, and no other?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.record.directory import RunDirectoryError
from conformance.record.verdict import Conformance, PromiseKept
from reports import write_report
from reports.baseline import RunTold, Since, changes_since, read_baseline, told_of
from reports.load import load_runs
from tests.reports.page_reader import PageReader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reports.model import RunView

C, P = Conformance, PromiseKept


@pytest.fixture(scope="module")
def views(golden_paths: list[Path]) -> list[RunView]:
    return [view for view in load_runs(golden_paths) if view.verdict.conformance is not C.NOT_RUN]


def told(views: Sequence[RunView], **changed: object) -> list[RunTold]:
    """Return what an earlier report said: as it is now, but the first run otherwise."""
    first, *others = map(told_of, views)
    return [replace(first, **changed), *others]  # type: ignore[arg-type]


def test_the_same_runs_have_not_changed(views: list[RunView]) -> None:
    since = changes_since(told(views), views)
    assert since.changes == ()
    assert since.same == len({(view.name, view.kafka, view.metadata) for view in views})
    assert list(since.lines_of_text()) == [f"as before: {since.same}"]


@pytest.mark.parametrize(
    ("now", "before", "since"),
    [
        ((C.DEVIATES, None), (C.CONFORMS, P.KEPT), Since.NEW),
        ((C.INCONCLUSIVE, None), (C.CONFORMS, P.KEPT), Since.NEW),
        ((C.CONFORMS, P.BROKEN), (C.CONFORMS, P.KEPT), Since.NEW),
        ((C.CONFORMS, P.KEPT), (C.DEVIATES, None), Since.FIXED),
        ((C.CONFORMS, P.BROKEN_AS_PREDICTED), (C.CONFORMS, P.KEPT), Since.OTHERWISE),
        ((C.DEVIATES, None), (C.HARNESS_ERROR, None), Since.OTHERWISE),
        ((C.DEVIATES, None), (C.DEVIATES, None), None),
    ],
)
def test_what_became_of_an_entry(
    now: tuple[Conformance, PromiseKept | None],
    before: tuple[Conformance, PromiseKept | None],
    since: Since | None,
    views: list[RunView],
) -> None:
    view = replace(views[0], verdict=replace(views[0].verdict, conformance=now[0], promise=now[1]))
    earlier = [replace(told_of(view), conformance=before[0], promise=before[1])]
    found = changes_since(earlier, [view]).changes
    assert [change.since for change in found] == ([] if since is None else [since])
    assert all(change.anchor == view.anchor and change.before != change.now for change in found)


def test_runs_of_one_entry_that_end_differently_are_flaky(views: list[RunView]) -> None:
    other = replace(views[0], anchor="second", verdict=replace(views[0].verdict, conformance=C.INCONCLUSIVE))
    (change,) = changes_since(told(views[:1]), [views[0], other]).changes
    assert change.since is Since.FLAKY
    assert change.anchor == views[0].anchor
    assert change.now.count(";") == 1


@pytest.mark.parametrize(
    ("before", "now", "is_slower"),
    [
        (10.0, 16.0, True),
        (10.0, 14.9, False),
        (1.0, 5.9, False),
        (1.0, 6.1, True),
        (None, 60.0, False),
        (60.0, None, False),
    ],
)
def test_what_takes_half_as_long_again_is_slower(
    before: float | None, now: float | None, is_slower: bool, views: list[RunView]
) -> None:
    view = replace(views[0], seconds=now)
    found = changes_since([replace(told_of(view), seconds=before)], [view]).changes
    assert [change.since for change in found] == ([Since.SLOWER] if is_slower else [])


def test_what_was_run_once_only_is_told(views: list[RunView]) -> None:
    gone = replace(told_of(views[0]), scenario="ZZ-99")
    unlike = [view for view in views[1:] if view.name != views[0].name]
    since = changes_since([gone, *map(told_of, unlike)], [views[0], *unlike])
    assert [(change.since, change.scenario) for change in since.changes] == [
        (Since.MISSING, "ZZ-99"),
        (Since.ADDED, views[0].name),
    ]


def test_an_upgrade_is_told_entry_by_entry(views: list[RunView]) -> None:
    now = [replace(views[0], kafka="4.4.0", metadata="kraft", label="", build="")]
    since = changes_since([replace(told_of(now[0]), kafka="4.3.1", conformance=C.DEVIATES)], now)
    assert since.lines == "4.3.1 KRaft → 4.4.0 KRaft"
    assert [change.since for change in since.changes] == [Since.FIXED]


# The report


@pytest.fixture
def earlier(golden_paths: list[Path], tmp_path: Path) -> Path:
    """Return the directory of an earlier report in which all conformed."""
    write_report(golden_paths, tmp_path / "old" / "report.html")
    document = json.loads((tmp_path / "old" / "report.json").read_text())
    for run in document["runs"]:
        run |= {"conformance": "CONFORMS", "promise": "KEPT"}
    (tmp_path / "old" / "report.json").write_text(json.dumps(document))
    return tmp_path / "old"


def test_the_page_has_what_has_changed(earlier: Path, golden_paths: list[Path], tmp_path: Path) -> None:
    page = PageReader(write_report(golden_paths, tmp_path / "new.html", earlier).read_text(encoding="utf-8"))
    (table,) = (one for one in page.named("table") if "What has changed" in one.words)
    assert "newly failing" in table.words
    assert "Conforms, kept" in table.words
    document = json.loads((tmp_path / "report.json").read_text())
    changes = document["since_baseline"]["changes"]
    assert {change["since"] for change in changes} >= {"new"}
    assert len(changes) + document["since_baseline"]["same"] <= len(document["runs"])


def test_without_a_baseline_nothing_is_said(report: Path, page: str) -> None:
    assert "Since the baseline" not in page
    assert "since_baseline" not in json.loads((report.parent / "report.json").read_text())


def test_the_command_tells_it(
    earlier: Path, golden_paths: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["report", str(golden_paths[0].parent), "--out", str(tmp_path / "n.html"), "--baseline"]
    assert main([*given, str(earlier)]) == 0
    out = capsys.readouterr().out
    assert "newly failing: " in out
    assert "as before: " in out
    assert main([*given, str(earlier / "report.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["since_baseline"]["changes"]


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"runs": [{}]}', '{"runs": [{"scenario": 1}]}'])
def test_what_is_no_report_is_refused_and_nothing_is_written(
    content: str | None, golden_paths: list[Path], tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "report.json").write_text(content)
    with pytest.raises(RunDirectoryError, match=r"report\.json cannot be read as the report\.json of a report"):
        read_baseline(tmp_path)
    with pytest.raises(RunDirectoryError):
        write_report(golden_paths, tmp_path / "new" / "report.html", tmp_path)
    assert not (tmp_path / "new").exists()
