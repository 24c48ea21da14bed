"""Which partition of the run's topic is an entry of a frame about, by name or by id?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.tracing.observed import TopicPartition

if TYPE_CHECKING:
    from conformance.record.wire import Entry


class TopicOfInterest:
    """The one topic whose partitions are followed; its id is learned from whoever tells it."""

    def __init__(self, name: str, topic_id: str | None = None) -> None:
        self.name = name
        self._ids = {topic_id} if topic_id is not None else set[str]()
        self._partitions: dict[int, TopicPartition] = {}

    def learn(self, topic_id: str) -> None:
        """Take note of an id of the topic."""
        self._ids.add(topic_id)

    def is_named(self, topic_id: str) -> bool:
        """Tell whether an id is that of the topic."""
        return topic_id in self._ids

    def partition_of(self, entry: Entry) -> TopicPartition | None:
        """Return the partition that an entry is about; None if it is another topic's."""
        topic = entry.topic
        if topic is None:
            if entry.topic_id not in self._ids:
                return None
        elif topic != self.name:
            return None
        return self.partition(entry.partition)

    def partition(self, index: int) -> TopicPartition:
        """Return a partition of the topic."""
        known = self._partitions.get(index)
        if known is None:
            known = self._partitions[index] = TopicPartition(self.name, index)
        return known
