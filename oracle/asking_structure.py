"""Does a step that asks a broker something hold together? Its brokers, labels and numbers exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.schedule import ScheduleError
from oracle.steps import Consume, EndOffsetOfEpoch, ListOffsets
from oracle.vocabulary import OffsetSpec

if TYPE_CHECKING:
    from oracle.schedule import Schedule
    from oracle.steps import Ask
    from oracle.vocabulary import Label


def check_ask(index: int, step: Ask, labels: set[Label], schedule: Schedule) -> None:
    """Refuse what the schedule does not have; take note of the label that is sent.

    Raises:
        ScheduleError: naming the step and the field.
    """
    if step.broker is not None and step.broker not in schedule.brokers:
        raise _refusal(index, "broker", f"broker names what the schedule does not have: {step.broker}")
    match step:
        case Consume(offset=offset):
            _check_numbers(index, offset=offset, version=step.version or 0)
        case ListOffsets():
            _check_timestamp(index, step, labels)
            _check_numbers(index, version=step.version or 0)
        case EndOffsetOfEpoch(leadership=leadership, current=current):
            _check_numbers(index, leadership=leadership, current=current or 0, version=step.version or 0)
        case _:
            if step.record in labels:
                raise _refusal(index, "record", f"label {step.record!r} is produced twice")
            labels.add(step.record)
            _check_numbers(index, timeout_ms=step.timeout_ms - 1)


def _check_timestamp(index: int, step: ListOffsets, labels: set[Label]) -> None:
    is_by_time = step.spec is OffsetSpec.TIMESTAMP
    if is_by_time is not (step.timestamp_of is not None):
        raise _refusal(index, "timestamp_of", "timestamp_of goes with timestamp, which needs it")
    if is_by_time and step.timestamp_of not in labels:
        message = f"timestamp_of names what the schedule has not produced yet: {step.timestamp_of}"
        raise _refusal(index, "timestamp_of", message)


def _check_numbers(index: int, **numbers: int) -> None:
    for name, value in numbers.items():
        if value < 0:
            raise _refusal(index, name, f"{name} is too low")


def _refusal(index: int, field: str, message: str) -> ScheduleError:
    return ScheduleError(message, step=index, field=field)
