"""One set of golden run directories for all report tests, and the page written from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reports import write_report
from tests.reports.golden_runs import write_all

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def golden_paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_all(tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="session")
def report(golden_paths: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(golden_paths, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="session")
def page(report: Path) -> str:
    return report.read_text(encoding="utf-8")
