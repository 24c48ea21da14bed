"""What does a leader puppet serve, what was it asked, and is it answering at all just now?"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from fault_injection.puppets.records import Batch
from fault_injection.waiting import until
from fault_injection.wire.controller_views import PartitionLeadership
from fault_injection.wire.views import NONE, DivergingEpochView, EpochQuery, FetchPartition

# What does a leader puppet tell its followers about one partition? All of it is the caller's choice.


UNKNOWN_END = DivergingEpochView(-1, -1)
OFFSET_OUT_OF_RANGE = 1
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = 74, 75


def _unknown(_leader_epoch: int) -> DivergingEpochView:
    return UNKNOWN_END


def _never_diverges(_last_fetched_epoch: int, _fetch_offset: int) -> DivergingEpochView | None:
    return None


@dataclass(frozen=True, slots=True)
class Served:
    """The leader's side of one partition.

    Attributes:
        log: the records, from the log start offset on.
        high_watermark: as every fetch is told.
        end_of_epoch: (epoch asked about) -> the answer to OffsetsForLeaderEpoch; unknown by default.
        diverging: (last fetched epoch, fetch offset) -> a diverging epoch in place of records (Fetch v12+).
        leader_epoch: requests that claim another epoch are fenced, as leaders do from 2.1 on; None serves any.
        error: the error code of every answer; 0 for none.

    Spec: KIP-320 for the fencing.
    """

    log: tuple[Batch, ...]
    high_watermark: int
    end_of_epoch: Callable[[int], DivergingEpochView] = _unknown
    diverging: Callable[[int, int], DivergingEpochView | None] = _never_diverges
    leader_epoch: int | None = None
    error: int = 0

    def error_for(self, current_leader_epoch: int) -> int:
        """Return the error code for a request that claims a leader epoch; -1 claims none."""
        if self.error or self.leader_epoch is None or current_leader_epoch in {NONE, self.leader_epoch}:
            return self.error
        return FENCED_LEADER_EPOCH if current_leader_epoch < self.leader_epoch else UNKNOWN_LEADER_EPOCH

    def fetch_error_for(self, current_leader_epoch: int) -> int:
        """Return the error code for a fetch; that of any other request unless a leader says otherwise."""
        return self.error_for(current_leader_epoch)

    @property
    def log_start_offset(self) -> int:
        """Return the first offset that is there."""
        return self.log[0].base_offset if self.log else 0

    @property
    def log_end_offset(self) -> int:
        """Return the offset after the last record."""
        return self.log[-1].end_offset if self.log else 0

    def records_from(self, offset: int, magic: int) -> bytes:
        """Return the encoded batches from the one with an offset on."""
        return b"".join(batch.encoded(magic) for batch in self.log if batch.end_offset > offset)


# Which topics do puppets speak about, and who is said to lead them?


@dataclass(frozen=True, slots=True)
class PuppetTopic:
    """A topic of one partition, number 0, that only puppets decide about.

    Attributes:
        name: its name; used once per run.
        replicas: the broker ids it is assigned to, preferred leader first.
        id: its id, which releases from 2.8 on know it by.
    """

    name: str
    replicas: tuple[int, ...]
    id: UUID = field(default_factory=uuid4)

    def led_by(
        self, leader: int, leader_epoch: int, isr: tuple[int, ...] | None = None, partition_epoch: int = 0
    ) -> PartitionLeadership:
        """Return a decision about the partition; without ``isr`` all replicas are in sync.

        The controller epoch in it is that of the request that carries it.
        """
        return PartitionLeadership(
            topic=self.name,
            topic_id=self.id,
            partition=0,
            leader=leader,
            leader_epoch=leader_epoch,
            isr=self.replicas if isr is None else isr,
            replicas=self.replicas,
            partition_epoch=partition_epoch,
            controller_epoch=0,
        )


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
        """Return a topic by name, or by id while the name is unknown; None if it is not served."""
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
        """Return the questions about a topic that were not forgotten, oldest first."""
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
