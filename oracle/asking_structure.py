"""Does a step that asks a broker something hold together? Its brokers, labels and numbers exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.request_versions import EPOCH_REQUESTS_CLAIM_CURRENT, Request
from oracle.schedule import ScheduleError
from oracle.steps import Consume, EndOffsetOfEpoch, ListOffsets
from oracle.vocabulary import OffsetSpec
from oracle.wire_ranges import ACKS, LEADERSHIP, OFFSET, REQUEST_VERSION, TIMEOUT_MS

if TYPE_CHECKING:
    from oracle.schedule import Schedule
    from oracle.steps import Ask, SendTo
    from oracle.vocabulary import Label


def check_ask(index: int, step: Ask, labels: set[Label], schedule: Schedule) -> None:
    """Refuse what the schedule does not have; take note of the label that is sent.

    Raises:
        ScheduleError: naming the step and the field.
    """
    if step.broker is not None and step.broker not in schedule.brokers:
        has = ", ".join(map(str, sorted(schedule.brokers)))
        raise _refusal(index, "broker", f"broker names what the schedule does not have: {step.broker}; it has {has}")
    match step:
        case Consume(offset=offset):
            OFFSET.check(index, "offset", offset)
            _check_version(index, step.version)
        case ListOffsets():
            _check_timestamp(index, step, labels)
            _check_version(index, step.version)
        case EndOffsetOfEpoch():
            _check_epochs(index, step)
            _check_version(index, step.version)
        case _:
            _check_sent(index, step, labels)


def _check_version(index: int, version: int | None) -> None:
    REQUEST_VERSION.check(index, "version", version or 0)


def _check_epochs(index: int, step: EndOffsetOfEpoch) -> None:
    LEADERSHIP.check(index, "leadership", step.leadership)
    LEADERSHIP.check(index, "current", step.current or 0)
    version, oldest = step.version, EPOCH_REQUESTS_CLAIM_CURRENT
    if step.current is not None and version is not None and version < oldest:
        asked = f"{Request.OFFSETS_FOR_LEADER_EPOCH.value} {version}"
        raise _refusal(index, "current", f"{asked} has no such field: ask in version {oldest} or newer")


def _check_sent(index: int, step: SendTo, labels: set[Label]) -> None:
    if step.record in labels:
        raise _refusal(index, "record", f"label {step.record!r} is produced twice")
    labels.add(step.record)
    ACKS.check(index, "acks", step.acks)
    TIMEOUT_MS.check(index, "timeout_ms", step.timeout_ms)


def _check_timestamp(index: int, step: ListOffsets, labels: set[Label]) -> None:
    is_by_time = step.spec is OffsetSpec.TIMESTAMP
    if is_by_time and step.timestamp_of is None:
        raise _refusal(index, "spec", "spec: timestamp needs timestamp_of: LABEL")
    if not is_by_time and step.timestamp_of is not None:
        raise _refusal(index, "timestamp_of", f"timestamp_of only with spec: timestamp, not {step.spec.value}")
    if is_by_time and step.timestamp_of not in labels:
        message = f"timestamp_of names what the schedule has not produced yet: {step.timestamp_of}"
        if labels:
            message += f"; it has {', '.join(sorted(labels))}"
        raise _refusal(index, "timestamp_of", message)


def _refusal(index: int, field: str, message: str) -> ScheduleError:
    return ScheduleError(message, step=index, field=field)
