"""What was a run asked, and what did it answer? From reconciliation/questions.json, and the prediction for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reports.answers import Asked
from reports.run_files import read_object

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def load_answers(path: Path) -> tuple[Asked, ...]:
    """Return every question; first those that were answered or judged, then those that were never reached."""
    compared = read_object(path / "reconciliation" / "questions.json").get("questions") or ()
    predicted = read_object(path / "prediction" / "questions.json").get("questions") or ()
    known = {item.get("what") for item in compared}
    unreached = (item for item in predicted if item.get("what") not in known)
    return (*map(_compared, compared), *map(_unreached, unreached))


def _compared(item: Mapping[str, Any]) -> Asked:
    return Asked(
        what=str(item.get("what") or ""),
        predicted=str(item.get("predicted") or ""),
        measured=str(item.get("measured") or ""),
        remark=str(item.get("why_not") or ""),
        agrees=bool(item.get("agrees")),
    )


def _unreached(item: Mapping[str, Any]) -> Asked:
    return Asked(str(item.get("what") or ""), str(item.get("in_words") or ""), "", "", agrees=None)
