"""Which topic does a topic id on the wire stand for?

From Fetch v13 on partitions are named by topic id (KIP-516). Ids are learned from whoever knows them:
the caller, after it created a topic, and LeaderAndIsr v5+, which carries both.
"""

import base64
from dataclasses import replace
from typing import Any, TypeVar, cast
from uuid import UUID

from fault_injection.wire.controller_views import LeaderAndIsrView
from fault_injection.wire.messages import RequestView, ResponseView
from fault_injection.wire.points import METADATA_TOPIC, METADATA_TOPIC_ID

KAFKA_TEXT_LENGTH = 22

View = TypeVar("View", bound=RequestView | ResponseView)


def topic_uuid(text: str | UUID) -> UUID:
    """Read a topic id as Kafka prints it (22 characters, URL-safe base64) or in the usual UUID form.

    Raises:
        ValueError: the text is neither.
    """
    if isinstance(text, UUID):
        return text
    if len(text) == KAFKA_TEXT_LENGTH:
        return UUID(bytes=base64.urlsafe_b64decode(text + "=="))
    return UUID(text)


class TopicNames:
    """The names of topic ids as far as they were learned."""

    def __init__(self) -> None:
        self._names: dict[UUID, str] = {METADATA_TOPIC_ID: METADATA_TOPIC}

    def learn(self, topic_id: str | UUID, name: str) -> None:
        """Remember the name of a topic id."""
        self._names[topic_uuid(topic_id)] = name

    def learn_from(self, view: RequestView | None) -> None:
        """Remember what a controller's request tells about topics."""
        if isinstance(view, LeaderAndIsrView):
            for state in view.partitions:
                if state.topic is not None and state.topic_id is not None and state.topic_id.int:
                    self._names[state.topic_id] = state.topic

    def named(self, view: View) -> View:
        """Give the view with the names of the topic ids that are known."""
        entries: tuple[Any, ...] = getattr(view, "partitions", ())
        if all(self._name(entry) == entry.topic for entry in entries):
            return view
        named = tuple(replace(entry, topic=self._name(entry)) for entry in entries)
        changed: Any = replace
        return cast("View", changed(view, partitions=named))

    def _name(self, entry: Any) -> str | None:  # noqa: ANN401 - an entry of any view
        if entry.topic is not None:
            return str(entry.topic)
        return self._names.get(entry.topic_id)
