"""What does CONTRIBUTING.md have its reader write? The schedule as a file, and the entry of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.scenarios.high_watermark import hw_08_lowest_end_offset
from conformance.scenarios.vocabulary import hold_request
from oracle.schedule import TopicSettings
from tests.project.documents import CONTRIBUTING, blocks

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.scenario import Scenario

FILE = "my/slow-follower.yaml"
IMPORTS = {one.__name__: one for one in (hold_request, TopicSettings)}
"""What the page says is not imported yet in the file that it names."""


def write_first_schedule(folder: Path) -> Path:
    """Write the page's schedule below a folder, where the page says, and return its path."""
    (text,) = blocks(CONTRIBUTING, "yaml")
    path = folder / FILE
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return path


def first_entry() -> Scenario:
    """Return the page's entry, as the file that the page names would have it."""
    (text,) = blocks(CONTRIBUTING, "python")
    names = {**vars(hw_08_lowest_end_offset), **IMPORTS}
    exec(text, names)
    entry: Scenario = names["SLOW_FOLLOWER"]
    return entry
