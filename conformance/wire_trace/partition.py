"""What do a run's frames say of its partition? A frame that says nothing of it is passed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.record.run import read_run
from conformance.record.wire import FrameEntry, TracedFrame, frames_of
from oracle.tracing.observed import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.record.directory import RunDirectory


NO_TOPIC_ID = "00000000-0000-0000-0000-000000000000"
PARTITION = 0


class Mention(NamedTuple):
    """A frame, and one of the things that it says of the run's partition."""

    frame: TracedFrame
    entry: FrameEntry


def mentions(run: RunDirectory) -> list[Mention]:
    """Return all that is said of a run's partition, in the order in which the frames arrived."""
    frames = frames_of(run)
    topic = topic_of(run, frames)
    return [Mention(frame, entry) for frame in frames for entry in frame.entries() if is_about(entry, topic)]


def requests(run: RunDirectory, *, source: int, destination: int, since_ns: int = 0) -> list[Mention]:
    """Return what the requests of one broker to another one say of a run's partition."""
    return [
        mention
        for mention in mentions(run)
        if mention.frame.direction == "request"
        and mention.frame.is_between(source, destination)
        and mention.frame.arrived_ns >= since_ns
    ]


def topic_of(run: RunDirectory, frames: Iterable[TracedFrame]) -> TopicOfInterest:
    """Return a run's topic, with every id that the run or its frames know it by."""
    about = read_run(run)
    topic = TopicOfInterest(about.topic or "", about.topic_id)
    for frame in frames:
        for entry in frame.entries():
            if entry.topic == topic.name and entry.topic_id not in (None, NO_TOPIC_ID):
                topic.learn(entry.topic_id)
    return topic


def is_about(entry: FrameEntry, topic: TopicOfInterest) -> bool:
    """Return whether an entry is about the run's partition; what names no partition is not."""
    return entry.partition == PARTITION and topic.partition_of(entry) is not None


# Which partition of the run's topic is an entry of a frame about, by name or by id?


class TopicOfInterest:
    """The one topic whose partitions are followed; its id is learned from whoever tells it."""

    def __init__(self, name: str, topic_id: str | None = None) -> None:
        self.name = name
        self._ids = {topic_id} if topic_id is not None else set[str]()
        self._partitions: dict[int, TopicPartition] = {}

    def learn(self, topic_id: str) -> None:
        """Note an id of the topic."""
        self._ids.add(topic_id)

    def is_named(self, topic_id: str) -> bool:
        """Return whether an id is that of the topic."""
        return topic_id in self._ids

    def partition_of(self, entry: FrameEntry) -> TopicPartition | None:
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
