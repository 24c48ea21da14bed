"""What is one act of a script? Something done to a broker, in words, in the model and for real.

Sources: ``ReplicaManager.becomeLeaderOrFollower``, ``Partition``. Its row in the catalogue says what a script proves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.catalogue.questions import Expected
    from conformance.puppet_scripts.modelled_broker import ModelledBroker
    from conformance.puppet_scripts.puppet_topic import PuppetStage
    from conformance.puppet_scripts.replica_requests import FollowerRequest
    from conformance.record.answers import Value
    from fault_injection.wire.controller_views import ErrorsView

STATE = "log end offset, high watermark, in-sync replicas"
NUMBERS = "log end offset, high watermark"
ERRORS = "error codes"
EPOCHS = "leader epochs on disk and where they start"


class Act(Protocol):
    """One act; both interpreters give the same facts by name."""

    @property
    def text(self) -> str:
        """What is done, in one clause."""

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Do it to the model and return the facts that follow."""

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Do it to the real broker and return the facts; ``expected`` says only what is worth waiting for."""


def listed(broker_ids: Iterable[int]) -> str:
    """Return broker ids as prose has them."""
    return ", ".join(map(str, broker_ids))


def errors(answer: ErrorsView) -> Value:
    """Return every error code of an answer once, of the request and of its partitions, in ascending order."""
    codes: list[Value] = []
    codes += sorted({answer.error, *(part.error for part in answer.partitions)})
    return codes


def predicted_state(model: ModelledBroker) -> Value:
    """Return the modelled leader's numbers and the committed in-sync replicas."""
    return [model.log_end_offset, model.high_watermark, list(model.isr)]


def measured_state(stage: PuppetStage, expected: Mapping[str, Expected]) -> Value:
    """Return the leader's numbers and the committed in-sync replicas; from 2.7 on a join takes a moment."""

    def look() -> Value:
        log_end_offset, high_watermark = stage.numbers()
        return [log_end_offset, high_watermark, [*stage.isr()]]

    return stage.settled(look, expected[STATE])


def predicted_epochs(model: ModelledBroker) -> Value:
    """Return the modelled leader-epoch checkpoint."""
    return [[epoch, start] for epoch, start in model.epochs]


def measured_epochs(stage: PuppetStage, expected: Mapping[str, Expected]) -> Value:
    """Return the leader-epoch checkpoint, which releases from 3.7 on may write a little later."""
    seen = stage.settled(stage.epochs_on_disk, expected[EPOCHS])
    return [[*start] for start in seen]


def in_words(words: FollowerRequest) -> str:
    """Return a follower's request as people read it."""
    kind, offset, epoch = words
    if kind == "epoch lookup":
        return f"where does epoch {epoch} end"
    return f"fetch at {offset}" if epoch < 0 else f"fetch at {offset} after epoch {epoch}"
