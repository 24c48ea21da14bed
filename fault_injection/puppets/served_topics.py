"""What does a leader puppet serve, what was it asked, and is it answering at all just now?"""

import threading
from uuid import UUID

from fault_injection.puppets.served import Served
from fault_injection.puppets.topic import PuppetTopic
from fault_injection.waiting import until
from fault_injection.wire.views import EpochQuery, FetchPartition

Asking = FetchPartition | EpochQuery
"""One follower's question about one partition."""

HELD_S_MAX = 60.0


class ServedTopics:
    """A leader puppet's topics and the questions about them; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._served: dict[str, tuple[PuppetTopic, Served]] = {}
        self._asked: list[tuple[str, Asking]] = []
        self._is_holding = self._is_discarding = False
        self._held = 0

    def serve(self, topic: PuppetTopic, served: Served) -> None:
        """Answer about a topic with ``served`` from now on."""
        with self._lock:
            self._served[topic.name] = (topic, served)

    def find(self, name: str | None, topic_id: UUID | None = None) -> tuple[PuppetTopic, Served] | None:
        """Give a topic by name, or by id while the name is unknown; None if it is not served."""
        with self._lock:
            for topic, served in self._served.values():
                if topic.name == name or (name is None and topic.id == topic_id):
                    return topic, served
        return None

    def note(self, topic: PuppetTopic, asking: Asking) -> None:
        """Write a question down."""
        with self._lock:
            self._asked.append((topic.name, asking))

    def asked(self, topic: PuppetTopic) -> tuple[Asking, ...]:
        """Give the questions about a topic that were not forgotten, oldest first."""
        with self._lock:
            return tuple(asking for name, asking in self._asked if name == topic.name)

    def forget(self) -> None:
        """Forget all questions so far."""
        with self._lock:
            self._asked.clear()

    def hold(self) -> None:
        """Let requests wait that come from now on."""
        with self._lock:
            self._is_holding = True

    def release(self) -> None:
        """Let them be answered."""
        with self._lock:
            self._is_holding = self._is_discarding = False

    def discard(self) -> None:
        """Let nothing be answered that is held, or comes before the next ``release``."""
        with self._lock:
            self._is_holding, self._is_discarding = False, True

    @property
    def held(self) -> int:
        """How many requests wait."""
        with self._lock:
            return self._held if self._is_holding else 0

    def pass_hold(self) -> None:
        """Return at once, or when a hold that is in force ends.

        Raises:
            ConnectionAbortedError: what is held is not to be answered.
        """
        with self._lock:
            self._held += 1
        try:
            until(self._is_decided, deadline_s=HELD_S_MAX, what="the end of a leader puppet's hold")
        finally:
            with self._lock:
                self._held -= 1
        if self._is_discarding:
            raise ConnectionAbortedError("the leader puppet is dead")

    def _is_decided(self) -> bool:
        with self._lock:
            return not self._is_holding
