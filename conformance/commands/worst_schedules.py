"""Which schedule loses an acknowledged record to a power failure, cell by cell? ``make guarantees`` chooses anew.

The explorer's shortest schedule of a release is the cell's, if it is as bad as the guarantee table says on every other
release too; the newest release that gives one is taken. What a producer is told is left open, since releases differ.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.guarantee_cell import GONE
from conformance.kept_guarantees import kept_table
from conformance.scenarios.election.el_03_settings import ACKS, CELLS, COUNTS_AT_MOST_THE_REPLICAS, SettingsCombination
from oracle.brokers import questions
from oracle.brokers.answers import shown
from oracle.brokers.questions import Faults, question
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.schedule_format import encode_step
from oracle.steps.produce import Produce
from oracle.steps.step import ScheduleError
from oracle.vocabulary import Expectation, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oracle.brokers.guarantee_table import GuaranteeRow
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps.step import Step


def main() -> None:
    """Look at every cell and write the schedules to the file that is named."""
    parser = argparse.ArgumentParser(
        description="Choose of the guarantee table what a power failure can do to a cell of EL-03."
    )
    parser.add_argument("out", type=Path, help="the file to write: a cell's settings, and its steps")
    out: Path = parser.parse_args().out
    found = {cell.words: worst(cell).steps for cell in CELLS if is_lost_to_power_alone(cell)}
    out.write_text(as_text(found), encoding="utf-8")


def is_lost_to_power_alone(cell: SettingsCombination) -> bool:
    """Return whether on some release a power failure loses what kills cannot, although every replica is waited for."""
    return cell.acks == "all" and any(
        is_lost(row, cell, Faults.POWER_FAILURE) and not is_lost(row, cell, Faults.KILLS) for row in kept_table().rows
    )


def is_lost(row: GuaranteeRow, cell: SettingsCombination, faults: Faults) -> bool:
    """Return whether the table has a loss for a cell."""
    lost = row.answers[_asked(cell, faults)].lost
    return lost is not None and lost.actions is not None


def worst(cell: SettingsCombination) -> Schedule:
    """Return the schedule that a cell's entry takes.

    Raises:
        LookupError: no release's schedule is as bad as the table says on all of them.
    """
    tried: set[Schedule] = set()
    for row in reversed(kept_table().rows):
        if not is_lost(row, cell, Faults.POWER_FAILURE):
            continue
        schedule = _shortest(row, cell)
        if schedule is not None and schedule not in tried and is_worst(schedule, cell):
            return schedule
        tried |= {schedule} if schedule is not None else set()
    raise LookupError(f"no release has a schedule that is the worst for {cell.words} on every release")


def is_worst(schedule: Schedule, cell: SettingsCombination) -> bool:
    """Return whether a schedule loses an acknowledged record wherever the table has a loss, and nowhere else."""
    try:
        return all(
            loses(schedule, rules) == is_lost(row, cell, Faults.POWER_FAILURE) for row, rules in where_it_applies(cell)
        )
    except ScheduleError:  # a step that another release has no place for
        return False


def where_it_applies(cell: SettingsCombination) -> Iterator[tuple[GuaranteeRow, RuleSet]]:
    """Yield every release on which producers of a cell are ever told that a record is there."""
    for row in kept_table().rows:
        for name in row.releases:
            rules = rules_of(name)
            limit = COUNTS_AT_MOST_THE_REPLICAS if cell.min_isr > cell.replicas else None
            if limit is None or limit.reason_not_to_run(rules.version, rules.metadata) is None:
                yield row, rules


def loses(schedule: Schedule, rules: RuleSet) -> bool:
    """Return whether an acknowledged record is predicted to be gone in the end."""
    return any(record.promise.verdict in GONE for record in predict(schedule, rules).records)


def rules_of(name: str) -> RuleSet:
    """Return the rules of a release as the table names it."""
    version, metadata = name.split()
    return rules_for(version, MetadataMode(metadata))


def as_text(found: Mapping[str, tuple[Step, ...]]) -> str:
    """Return the steps of the cells as the file has them: a step a line."""
    cells = ",\n".join(f"  {json.dumps(words)}: [\n{_lines(steps)}\n  ]" for words, steps in found.items())
    return f"{{\n{cells}\n}}\n"


def _lines(steps: tuple[Step, ...]) -> str:
    return ",\n".join(f"    {json.dumps(encode_step(step))}" for step in steps)


def _asked(cell: SettingsCombination, faults: Faults) -> questions.GuaranteeCell:
    return questions.GuaranteeCell(ACKS[cell.acks], cell.min_isr, cell.unclean, cell.replicas, faults)


def _shortest(row: GuaranteeRow, cell: SettingsCombination) -> Schedule | None:
    asked = _asked(cell, Faults.POWER_FAILURE)
    schedule = shown(question(rules_of(row.releases[-1]), asked), row.answers[asked])
    if schedule is None:
        return None
    steps = tuple(_whatever_is_told(step) if isinstance(step, Produce) else step for step in schedule.steps)
    return replace(schedule, settings=cell.settings, steps=steps)


def _whatever_is_told(step: Produce) -> Produce:
    is_told_at_once = step.expect is Expectation.ACKNOWLEDGED
    return replace(step, expect=Expectation.ANY) if is_told_at_once else step


if __name__ == "__main__":
    main()
