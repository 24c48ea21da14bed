"""Do real brokers lose, or refuse, what a demonstration says that they do, and nothing of it once mended?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.audit.demonstrated_topics import example
from conformance.audit.demonstrations import DEMONSTRATIONS, NothingToShowError, Telling, has_eligible_feature
from conformance.cli import main
from conformance.line import line_named
from conformance.record.verdict import Conformance
from conformance.run_options import RunOptions
from conformance.session import Session, Task, session_on

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.pipeline import Finished

pytestmark = [pytest.mark.broker, pytest.mark.spark]

WITH_THE_FEATURE = [name for name, one in DEMONSTRATIONS.items() if one.needs_eligible]


def _silent(_text: str) -> None:
    pass


@pytest.fixture(scope="module")
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    line = line_named(request.param)
    with session_on(line, RunOptions(backend="process"), 7, _silent, "a test.") as running:
        yield running


def _run(session: Session, telling: Telling, runs: Path) -> Finished:
    session.cluster_pool.line = telling.line
    session.cluster_pool.features = telling.features
    (finished,) = session.run_all([Task(telling.entry, runs, telling.entry.name)])
    return finished


def _check(session: Session, check: str, runs: Path) -> None:
    twins = example(check, line_named(session.cluster_pool.line.text)).twins
    for telling in (twins.as_read, twins.mended):
        finished = _run(session, telling, runs)
        assert finished.verdict.conformance is Conformance.CONFORMS, (telling.shows, finished.verdict.reason)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("check", DEMONSTRATIONS)
@pytest.mark.parametrize("session", ["2.8.2/zookeeper", "4.4.0/kraft"], indirect=True)
def test_brokers_do_the_harm_and_do_none_once_mended(session: Session, check: str, tmp_path: Path) -> None:
    if check in WITH_THE_FEATURE and not has_eligible_feature(session.cluster_pool.line):
        with pytest.raises(NothingToShowError, match="has no eligible leader replicas"):
            example(check, session.cluster_pool.line)
        return
    _check(session, check, tmp_path)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("check", WITH_THE_FEATURE)
@pytest.mark.parametrize("session", ["4.0.2/kraft"], indirect=True)
def test_brokers_do_the_harm_where_the_feature_is_off_by_default(session: Session, check: str, tmp_path: Path) -> None:
    _check(session, check, tmp_path)


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("check", "kafka"), [("unclean-election", "4.4.0"), ("known-defect", "2.8.2"), ("known-defect", "1.1.1")]
)
def test_the_command_tells_both_with_a_report_of_each(
    check: str, kafka: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--demonstrate", check, "--kafka", kafka, "--backend", "process", "--runs-dir", str(tmp_path)]
    assert main(["audit", *options, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["check"], shown["subject"]) == (check, "an example")
    assert [one["conformance"] for one in shown["runs"]] == ["CONFORMS", "CONFORMS"]
    assert [one["promise"] for one in shown["runs"]][1] == "KEPT"
    for one, place in zip(shown["runs"], ("as-read", "mended"), strict=True):
        assert one["report"] == str(tmp_path / check / place / "report.html")
        assert one["predicted"] in (tmp_path / check / place / "report.json").read_text() or check == "known-defect"
