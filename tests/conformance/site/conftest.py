"""The whole site on two release lines, written once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.ladder import lines
from conformance.commands.site.writing import SiteOptions, write_site
from conformance.console import Console

if TYPE_CHECKING:
    from pathlib import Path

TWO_LINES = lines("0.10.2.2,4.4.0")


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    assert write_site(Console(quiet=True), SiteOptions(directory, lines=TWO_LINES)) == 0
    return directory
