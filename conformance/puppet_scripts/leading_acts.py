"""What can be done to a broker that leads? It is appointed, appended to, fetched from and asked about epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.puppet_scripts.acts import (
    EPOCHS,
    ERRORS,
    STATE,
    errors,
    listed,
    measured_epochs,
    measured_state,
    predicted_epochs,
    predicted_state,
)
from conformance.puppet_scripts.modelled_broker import REAL
from fault_injection.wire.views import NONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.catalogue.questions import Expected
    from conformance.puppet_scripts.modelled_broker import ModelledBroker
    from conformance.puppet_scripts.puppet_topic import PuppetStage
    from conformance.record.answers import Value

PARKED_MS = 50
APPEND_TIMEOUT_MS = 1_000
APPENDED = "error code and offset"
TOLD = "error code, records, high watermark"
DIVERGING = "diverging epoch and where it ends"
END = "error code, epoch, end offset"
CHECKPOINTED = "high watermark on disk before the end"


@dataclass(frozen=True, slots=True)
class Lead:
    """The controller makes the broker the leader."""

    leader_epoch: int
    isr: tuple[int, ...]

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"the controller makes broker {REAL} the leader in epoch {self.leader_epoch}, in sync {listed(self.isr)}"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Let the model hear the decision."""
        model.decide(REAL, self.leader_epoch, self.isr)
        return {ERRORS: [0], STATE: predicted_state(model), EPOCHS: predicted_epochs(model)}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send UpdateMetadata and LeaderAndIsr."""
        told = errors(stage.lead(self.leader_epoch, self.isr))
        return {ERRORS: told, STATE: measured_state(stage, expected), EPOCHS: measured_epochs(stage, expected)}


@dataclass(frozen=True, slots=True)
class Append:
    """A producer sends one record."""

    label: str
    acks: int = 1
    timeout_ms: int = APPEND_TIMEOUT_MS
    to_leader: bool = True

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"a producer sends {self.label} with acks={'all' if self.acks == NONE else self.acks}"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Append, refuse or time out."""
        offset = model.log_end_offset
        error = model.append(self.label, self.acks)
        state = {STATE: predicted_state(model)} if self.to_leader else {}
        return {APPENDED: [error, None if error else offset], **state}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send Produce."""
        error, offset = stage.run.client.append(
            stage.topic, self.label.encode(), acks=self.acks, timeout_ms=self.timeout_ms
        )
        state = {STATE: measured_state(stage, expected)} if self.to_leader else {}
        return {APPENDED: [error, None if error else offset], **state}


@dataclass(frozen=True, slots=True)
class FetchAs:
    """A follower fetches: its offset is what the leader takes for its log end offset.

    Attributes:
        last_epoch: the last fetched epoch that it tells, where its release does (KIP-595); -1 for none.
        parks: whether the leader may park the fetch when it has no records for it.
    """

    follower: int
    offset: int
    leader_epoch: int
    last_epoch: int = NONE
    parks: bool = False

    @property
    def text(self) -> str:
        """Return it in words."""
        after = "" if self.last_epoch == NONE else f" after records of epoch {self.last_epoch}"
        waiting = ", and may wait" if self.parks else ""
        return f"broker {self.follower} fetches at {self.offset}{after} in epoch {self.leader_epoch}{waiting}"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Answer as a leader of the release."""
        told = model.fetch(self.follower, self.offset, self.leader_epoch, self.last_epoch, parks=self.parks)
        answer: Value = [told.error, None, None] if told.error else [0, told.records, told.high_watermark]
        return {TOLD: answer, **self._diverging(told.diverging), STATE: predicted_state(model)}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send Fetch with a replica id."""
        given = stage.followers[self.follower].fetch(
            stage.topic,
            self.offset,
            leader_epoch=self.leader_epoch,
            last_fetched_epoch=self.last_epoch if stage.rules.truncation.checks_on_fetch else NONE,
            max_wait_ms=PARKED_MS if self.parks else 0,
        )
        answer: Value = [given.error, None, None] if given.error else [0, given.record_count, given.high_watermark]
        end = given.diverging_epoch
        diverging = None if end is None else (end.leader_epoch, end.end_offset)
        return {TOLD: answer, **self._diverging(diverging), STATE: measured_state(stage, expected)}

    def _diverging(self, end: tuple[int, int] | None) -> Mapping[str, Value]:
        if self.last_epoch == NONE:
            return {}
        return {DIVERGING: None if end is None else [*end]}


@dataclass(frozen=True, slots=True)
class AskEpochEnd:
    """A follower asks the leader where an epoch ends (OffsetsForLeaderEpoch, 0.11+).

    Attributes:
        claims: the current leader epoch that it claims (2.1+); -1 is not checked.
    """

    leader_epoch: int
    claims: int = NONE

    @property
    def text(self) -> str:
        """Return it in words."""
        claiming = "" if self.claims == NONE else f", being in epoch {self.claims}"
        return f"broker 2 asks where epoch {self.leader_epoch} ends{claiming}"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Look the epoch up as the release does."""
        error = 0 if self.claims == NONE else model.error_for_epoch(self.claims)
        epoch, end_offset = model.end_of_epoch(self.leader_epoch)
        return {END: [error, None, None] if error else [0, epoch, end_offset]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send OffsetsForLeaderEpoch; -1 means that the leader cannot tell."""
        del expected  # answered at once
        told = stage.followers[2].end_of_epoch(stage.topic, self.leader_epoch, current_leader_epoch=self.claims)
        end = [None if number == NONE else number for number in (told.leader_epoch, told.end_offset)]
        return {END: [told.error, None, None] if told.error else [0, *end]}


@dataclass(frozen=True, slots=True)
class Restart:
    """The broker is killed once its high watermark is on disk, and started again."""

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"broker {REAL} is killed once its high watermark is on disk, and started again"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Keep what is on disk; the broker has no role until the next decision."""
        checkpointed = model.high_watermark
        model.restart()
        return {CHECKPOINTED: checkpointed}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Wait for the checkpoint, then kill and start."""
        del expected  # whatever is on disk then
        checkpointed = stage.checkpointed_high_watermark()
        stage.restart()
        return {CHECKPOINTED: checkpointed}
