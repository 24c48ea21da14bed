"""The whole site on two release lines and three runs, written once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.ladder import lines
from conformance.commands.site.writing import SiteOptions, write_site
from conformance.console import Console
from tests.reports.golden_runs import deviation, kept, loss
from tests.reports.golden_writer import write_golden

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reports.golden_writer import GoldenRun

TWO_LINES = lines("0.10.2.2,4.4.0")


def options_in(folder: Path, lanes: int = 1) -> SiteOptions:
    return SiteOptions(folder / "site", (folder / "runs",), TWO_LINES, lanes)


def of_catalogue(golden: GoldenRun) -> GoldenRun:
    """Return a golden run under the name that the catalogue has for its entry."""
    return replace(golden, run=golden.run | {"scenario": "TR-01"})


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("taught")
    for golden in (loss(), kept(), deviation()):
        write_golden(of_catalogue(golden), folder / "runs")
    (folder / "runs" / "report.html").write_text("a report", encoding="utf-8")
    options = options_in(folder)
    assert write_site(Console(quiet=True), options) == 0
    return options.directory
