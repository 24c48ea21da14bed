"""Does a hole that the explorer found open on real brokers of the release that has it, and on no fixed one?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.record.verdict import Conformance, PromiseKept
from conformance.schedules.schedule_file import read_schedule
from tests.project.documents import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.real_runs import Releases

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(300)]


BROKEN, KEPT, ALLOWED = PromiseKept.BROKEN_AS_PREDICTED, PromiseKept.KEPT, PromiseKept.ALLOWED_BY_SETTINGS
HOLES = [
    # hole, release that has it, release that does not, and what becomes of the promise there
    ("truncation-to-high-watermark", "0.10.2.2", "0.11.0.3", KEPT),
    ("divergence-after-fast-failovers", "1.1.1", "2.1.1", ALLOWED),
    ("leader-without-epoch-entry", "2.0.0", "2.0.1", ALLOWED),
    ("diverging-fetch-counted", "2.8.0", "2.8.1", KEPT),
]


@pytest.mark.parametrize(
    ("hole", "version", "promise"),
    [case for hole, has, has_not, promise in HOLES for case in ((hole, has, BROKEN), (hole, has_not, promise))],
)
def test_a_hole_is_open_on_its_release_and_closed_on_the_next(
    hole: str, version: str, promise: PromiseKept, releases: Releases, tmp_path: Path
) -> None:
    found = read_schedule(ROOT / "examples" / "counterexamples" / f"{hole}.yaml")
    verdict = releases.pipeline(version, tmp_path).run(found).verdict
    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, promise)
