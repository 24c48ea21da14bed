"""How does an explanation read? A paragraph per record, one per checkpoint, and the rules they cite."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.predicting.chronicle import Change
    from oracle.predicting.explaining import CheckpointStory, Explanation, NumberStory, RecordStory


def story_lines(explanation: Explanation) -> Iterator[str]:
    """Yield an explanation, line by line."""
    yield "why each record ends as it does"
    for record in explanation.records:
        yield ""
        yield from _record(record)
    yield ""
    yield "why each number of a checkpoint is what it is"
    for checkpoint in explanation.checkpoints:
        yield ""
        yield from _checkpoint(checkpoint)
    yield ""
    yield "rules cited"
    for name, source in sorted(_cited(explanation)):
        yield f"  {name}: {source}"
    yield ""


def _record(story: RecordStory) -> Iterator[str]:
    record = story.record
    where = "" if record.offset is None else f" at offset {record.offset}"
    yield f"{record.label}: {record.fate.value}{where}"
    yield f"  {record.decided_by}"
    for during, changes in groupby(story.changes, key=lambda change: change.during):
        yield f"  {during}"
        for change in changes:
            yield f"    {change.sentence()}"


def _checkpoint(story: CheckpointStory) -> Iterator[str]:
    yield f"checkpoint: {story.name}"
    for broker, numbers in groupby(story.numbers, key=lambda number: number.broker):
        row = list(numbers)
        if broker is None:
            for number in row:
                yield f"  {number.what} {number.value}"
                yield from _reasons([number])
        else:
            yield f"  broker {broker}: {', '.join(f'{number.what} {number.value}' for number in row)}"
            yield from _reasons(row)


def _reasons(numbers: Sequence[NumberStory]) -> Iterator[str]:
    changes = [change for number in numbers for change in number.changes]
    for change in [*changes, *numbers[0].holds]:
        yield f"    {change.during}: {change.sentence()}"
    if not changes:
        yield "    as the partition was created"


def _cited(explanation: Explanation) -> set[tuple[str, str]]:
    changes: list[Change] = [change for record in explanation.records for change in record.changes]
    for checkpoint in explanation.checkpoints:
        changes.extend(change for number in checkpoint.numbers for change in number.changes)
    return {(change.rule.name, change.rule.source) for change in changes if change.rule is not None}
