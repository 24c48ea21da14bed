"""TX on real brokers: what is predicted is measured, and by another release's rules it is not."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from conformance.cluster_pool import ClusterPool
from conformance.line import held_against, line_named
from conformance.pipeline import Pipeline
from conformance.record.verdict import Conformance, PromiseKept
from conformance.registry import select
from conformance.spark_thread import SparkThread
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.releases import jars_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]


def ignore(_: str) -> None:
    pass


@contextmanager
def on(name: str, runs: Path, rules_of: str | None = None) -> Iterator[Pipeline]:
    line = held_against(line_named(name), rules_of)
    with (
        SparkThread() as spark,  # not started: nothing is reconciled
        ClusterPool(line=line, jars=jars_of(line.release), backend=ProcessBackend(), progress=ignore) as cluster_pool,
    ):
        yield Pipeline(cluster_pool, spark, runs, 7, ignore)


BREAKS = {"TX-05/late-abort", "TX-05/late-commit", "TX-06/in-the-next", "TX-07/in-the-next", "TX-12"}
"""What breaks the promise up to 3.9; up to 3.5 another one does."""
BROKEN = {
    "0.11.0.3": {*BREAKS, "TX-06/after-its-abort"},
    "2.8.2": {*BREAKS, "TX-06/after-its-abort"},
    "3.9.2/zookeeper": BREAKS,
    "3.9.2/kraft": BREAKS,
    "4.4.0": {"TX-05/late-commit-version-1", "TX-05/late-abort-version-1", "TX-06/in-the-next-version-1", "TX-12"},
}


@pytest.mark.parametrize("name", ["0.11.0.3", "2.8.2", "3.9.2/zookeeper", "3.9.2/kraft", "4.4.0"])
def test_brokers_do_what_the_release_s_rules_say(name: str, tmp_path: Path) -> None:
    line = line_named(name)
    entries = [
        entry
        for entry in select(["TX"])
        if entry.where.reason_not_to_run(line.release.version, line.rules.metadata) is None
    ]
    assert len(entries) >= 16
    with on(name, tmp_path) as pipeline:
        verdicts = {entry.name: pipeline.run(entry).verdict for entry in entries}
    assert {name: (one.conformance, one.findings) for name, one in verdicts.items()} == {
        entry.name: (Conformance.CONFORMS, ()) for entry in entries
    }
    broken = {name for name, one in verdicts.items() if one.promise is PromiseKept.BROKEN_AS_PREDICTED}
    assert broken == BROKEN[name]
    assert {one.promise for name, one in verdicts.items() if name not in broken} == {PromiseKept.KEPT}


@pytest.mark.parametrize(
    ("name", "rules_of", "entry"),
    [("3.9.2/kraft", "3.5.2", "TX-06/after-its-abort"), ("4.4.0", "4.1.2", "TX-07/in-the-next")],
)
def test_by_other_rules_they_deviate(name: str, rules_of: str, entry: str, tmp_path: Path) -> None:
    (examination,) = select([f"{entry}/"])
    with on(name, tmp_path, rules_of) as pipeline:
        verdict = pipeline.run(examination).verdict
    assert verdict.conformance is Conformance.DEVIATES
