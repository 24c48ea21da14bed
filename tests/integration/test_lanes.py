"""Do lanes share work, and is one that fails told?"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.lanes import LaneError, Lanes, SessionOrder
from conformance.line import line_named
from conformance.registry import CATALOGUE
from conformance.run_options import OwnKafka, RunOptions
from fault_injection.releases import UsageError
from oracle.vocabulary import MetadataMode
from tests.integration.processes import descendants
from tests.integration.real_runs import ignore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.session import Session

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.alone, pytest.mark.timeout(120)]

ORDER = SessionOrder(line_named("4.4.0"), RunOptions("process"), 7, "Two sessions.")


def told(session: Session, piece: str) -> Iterator[tuple[str, int]]:
    session.spark.await_started()
    yield f"{piece} of {session.cluster_pool.line.text}", os.getpid()
    yield f"{piece} again", os.getpid()


def failing(_: Session, piece: str) -> Iterator[tuple[str, int]]:
    logging.getLogger().error("as py4j logs the end of a JVM")
    raise ZeroDivisionError(piece)
    yield piece, 0


def killed(_: Session, piece: str) -> Iterator[tuple[str, int]]:
    os.kill(os.getpid(), signal.SIGKILL)
    yield piece, 0


@pytest.mark.parametrize("count", [1, 2])
def test_every_piece_is_done_once_and_every_lane_has_ended_after_it(count: int) -> None:
    pieces = ["a", "b", "c", "d"]
    progress: list[str] = []
    with Lanes(count, ORDER, told, progress.append) as lanes:
        found = list(lanes.results(iter(pieces)))

    assert sorted(words for words, _ in found) == sorted(
        [*(f"{one} of 4.4.0/kraft" for one in pieces), *(f"{one} again" for one in pieces)]
    )
    pids = {pid for _, pid in found}
    assert len(pids) == count
    assert (os.getpid() in pids) is (count == 1)
    assert len([text for text in progress if "Two sessions." in text]) == count
    assert not {pid for pid, _ in descendants(os.getpid())} & pids


@pytest.mark.parametrize(
    ("work", "words"),
    [(failing, r"lane \d: ZeroDivisionError\('a'\)"), (killed, r"lane \d ended with exit code -9")],
)
def test_a_lane_that_fails_is_told(
    work: Callable[[Session, str], Iterator[tuple[str, int]]], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LaneError, match=words), Lanes(2, ORDER, work, ignore) as lanes:
        list(lanes.results(iter(["a"])))
    assert "py4j" not in capfd.readouterr().err, "what libraries log is not for people"


def test_what_cannot_be_had_is_a_usage_error() -> None:
    order = replace(ORDER, line=replace(ORDER.line, own=OwnKafka(home=Path("nowhere"))))
    with pytest.raises(UsageError, match="nowhere"), Lanes(2, order, told, ignore) as lanes:
        list(lanes.results(iter(["a"])))


def test_entries_of_the_catalogue_run_in_lanes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    not_run = [one.name for one in CATALOGUE if one.where.reason_not_to_run("4.4.0", MetadataMode.KRAFT)][:3]
    asked = ["run", *not_run, "--kafka", "4.4.0", "--lanes", "2", "--runs-dir", str(tmp_path), "--json"]
    assert main([*asked, "--backend", "process"]) == 0
    answer = json.loads(capsys.readouterr().out)

    assert [(one["scenario"], one["conformance"]) for one in answer["runs"]] == [(name, "NOT_RUN") for name in not_run]
    assert len({one["run"] for one in answer["runs"]}) == len(not_run) == 3


def test_cells_of_a_matrix_run_in_lanes_and_are_finished_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    not_run = [one.name for one in CATALOGUE if one.where.reason_not_to_run("4.4.0", MetadataMode.KRAFT)][:5]
    asked = ["matrix", *not_run, "--kafka", "4.4.0", "--lanes", "2", "--runs-dir", str(tmp_path)]
    asked += ["--backend", "process", "--repeat", "2"]
    assert main(asked) == 0
    lanes = set(re.findall(r"lane (\d): .*\[\d/\d\] \S+, round", capsys.readouterr().err))
    assert lanes == {"1", "2"}, "both lanes had cells"
    assert len(list(tmp_path.glob("*/round-*/*/verdict.json"))) == 10

    assert main(asked) == 0
    assert "10 cells, 10 finished and skipped" in capsys.readouterr().err
