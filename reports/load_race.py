"""What was open in the prediction, and how did it end? Every outcome with its moves, the measured one among them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from reports.fates import predicted_fate
from reports.race import OpenRace, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def load_race(prediction: Mapping[str, Any]) -> OpenRace | None:
    """Return the open race, or None where everything was determined."""
    alternatives = prediction.get("alternatives") or ()
    assumed = tuple(str(item.get("text") or "") for item in prediction.get("assumed") or ())
    if not alternatives and not assumed:
        return None
    measured = (prediction.get("measured_outcome") or {}).get("number")
    ends = _differing_ends([alternative.get("records") or () for alternative in alternatives])
    return OpenRace(
        outcomes=tuple(
            Outcome(
                number=number,
                moves=tuple(str(move) for move in alternative.get("race") or ()),
                ends=ends[number - 1],
                is_measured=number == measured,
            )
            for number, alternative in enumerate(alternatives, start=1)
        ),
        values=tuple(str(value) for value in prediction.get("races") or ()),
        assumed=assumed,
    )


def raced_steps(race: OpenRace | None) -> tuple[int, ...]:
    """Return the steps, counted from 0, in which the measured outcome, or any, was decided."""
    if race is None:
        return ()
    outcomes = [race.measured] if race.measured else race.outcomes
    moves = " ".join(move for outcome in outcomes for move in outcome.moves)
    return tuple(sorted({int(number) - 1 for number in re.findall(r"\bstep (\d+)", moves)}))


def _differing_ends(records: Sequence[Sequence[Mapping[str, Any]]]) -> list[tuple[str, ...]]:
    """Say of every outcome what becomes of the records that do not end alike in all of them."""
    ends = [{str(record.get("label")): _end(record) for record in each} for each in records]
    return [
        tuple(words for label, words in each.items() if any(other.get(label) != words for other in ends))
        for each in ends
    ]


def _end(record: Mapping[str, Any]) -> str:
    label, fate, outcome = record.get("label"), predicted_fate(record), record.get("outcome")
    where = f"at offset {record.get('offset')}" if fate == "present" else fate
    return f"{label} {where}" if outcome == "acknowledged" else f"{label} {where}, {outcome}"
