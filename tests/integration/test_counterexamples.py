"""Does a hole that the explorer found open on real brokers of the release that has it, and on no fixed one?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.schedule_file import read_schedule
from conformance.verdicts import Conformance, PromiseKept
from tests.integration.real_runs import real_pipeline
from tests.project.documents import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(300)]


@pytest.mark.parametrize(
    ("version", "promise"), [("0.10.2.2", PromiseKept.BROKEN_AS_PREDICTED), ("0.11.0.3", PromiseKept.KEPT)]
)
def test_a_committed_record_is_lost_by_clean_elections_only_where_followers_cut_to_the_high_watermark(
    version: str, promise: PromiseKept, tmp_path: Path
) -> None:
    found = read_schedule(ROOT / "examples" / "counterexamples" / "truncation-to-high-watermark.yaml")
    with real_pipeline(version, tmp_path) as pipeline:
        verdict = pipeline.run(found).verdict
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, promise)
