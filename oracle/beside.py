"""What has a schedule made beside its partition? More partitions of its topic, and other topics by name."""

from __future__ import annotations

import re

from oracle.schedule import ScheduleError
from oracle.steps import AddPartitions, CreateTopic, DeleteRecords, DeleteTopic

NAME = re.compile(r"[A-Za-z0-9.-]{1,60}")
PARTITIONS_MAX = 50


class Beside:
    """What there is beside the partition so far, while a schedule's steps are looked through."""

    def __init__(self) -> None:
        self._partitions = 1
        self._topics: set[str] = set()
        self._has_deleted_records = False

    def check(self, index: int, step: AddPartitions | CreateTopic | DeleteTopic | DeleteRecords) -> None:
        """Refuse what cannot be made or deleted, and take note of the rest.

        Raises:
            ScheduleError: naming the step and the field.
        """
        match step:
            case AddPartitions(count) if not self._partitions < count <= PARTITIONS_MAX:
                message = f"count must be from {self._partitions + 1} to {PARTITIONS_MAX}"
                raise ScheduleError(message, step=index, field="count")
            case AddPartitions(count):
                self._partitions = count
            case CreateTopic(name) if name in self._topics or not NAME.fullmatch(name):
                message = f"{name!r} cannot name another topic: letters, digits, dots and hyphens, each name once"
                raise ScheduleError(message, step=index, field="name")
            case CreateTopic(name):
                self._topics.add(name)
            case DeleteRecords():
                self._has_deleted_records = True
            case DeleteTopic() if self._has_deleted_records:
                message = "deleting a topic writes down where logs start: not predicted after delete_records"
                raise ScheduleError(message, step=index, field="name")
            case _:
                if step.name not in self._topics:
                    raise ScheduleError(f"no topic {step.name!r} is there", step=index, field="name")
                self._topics.remove(step.name)
