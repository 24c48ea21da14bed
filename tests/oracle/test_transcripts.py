"""Do the stories still read the same? Every transcript is run and compared line by line.

``REWRITE_TRANSCRIPTS=1`` writes today's answers into the files; read the difference before keeping it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.oracle.transcript import rewritten

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.fixture(scope="module", autouse=True)
def _rewrite_if_asked() -> None:
    if os.environ.get("REWRITE_TRANSCRIPTS"):
        for path in TRANSCRIPTS:
            path.write_text(rewritten(path.read_text()))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript_reads_as_written(path: Path) -> None:
    assert path.read_text() == rewritten(path.read_text())


def test_there_are_stories() -> None:
    assert len(TRANSCRIPTS) >= 20


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_one_changed_number_is_noticed(path: Path) -> None:
    text = path.read_text()
    doctored = text.replace("HW 0", "HW 9", 1)
    assert doctored != text
    assert rewritten(doctored) != doctored


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_no_story_depends_on_the_order_of_followers(path: Path) -> None:
    assert "race:" not in path.read_text()
