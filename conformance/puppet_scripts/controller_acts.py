"""What can a controller tell a broker, in office or not, and meant for this start of the broker or an earlier one?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from conformance.puppet_scripts.acts import ERRORS, errors
from conformance.puppet_scripts.modelled_broker import ASSIGNMENT, REAL
from fault_injection.wire.views import NONE
from oracle.error_codes import ErrorCode
from oracle.rules import fencing
from oracle.rules.fencing import NO_BROKER_EPOCH
from oracle.vocabulary import LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.catalogue.questions import Expected
    from conformance.puppet_scripts.modelled_broker import ModelledBroker
    from conformance.puppet_scripts.puppet_topic import PuppetStage
    from conformance.record.answers import Value
    from fault_injection.puppets.controller import ControllerPuppet

OWN_EPOCH = 1
"""The modelled broker's epoch: any will do, and one before it was an earlier start's."""
LEADER = "leader in its metadata"
FILES = "files that are there"
ALL, SOME, NO_FILES = "all", "some", "none"


class EpochOfController(Enum):
    """The controller epoch of a request: that of the controller in office, or one below."""

    REPLACED = -1
    HELD = 0


class EpochOfBroker(Enum):
    """Which start of the broker a request is meant for (KIP-380): not said, this one, or an earlier one."""

    UNSAID = "no"
    THIS = "this"
    EARLIER = "an earlier"

    def broker_epoch(self, own: int) -> int:
        """Return the broker epoch that names it, where a broker has its own."""
        return {EpochOfBroker.UNSAID: NO_BROKER_EPOCH, EpochOfBroker.THIS: own, EpochOfBroker.EARLIER: own - 1}[self]


@dataclass(frozen=True, slots=True)
class Sent:
    """Who a request claims to come from, and for which start of the broker it is meant."""

    office: EpochOfController = EpochOfController.HELD
    start: EpochOfBroker = EpochOfBroker.UNSAID

    @property
    def text(self) -> str:
        """Return it in words, as the beginning of a sentence."""
        sender = "a replaced controller" if self.office is EpochOfController.REPLACED else "the controller"
        return (
            sender
            if self.start is EpochOfBroker.UNSAID
            else f"{sender}, meaning {self.start.value} start of the broker,"
        )

    def refusal(self, model: ModelledBroker) -> int | None:
        """Return the error code with which a broker refuses the request as a whole; None if it takes it."""
        if not model.rules.takes_request_of_start(self.start.broker_epoch(OWN_EPOCH), OWN_EPOCH):
            return ErrorCode.STALE_BROKER_EPOCH
        is_obeyed = fencing.is_obeyed(self.office.value, EpochOfController.HELD.value)
        return None if is_obeyed else ErrorCode.STALE_CONTROLLER_EPOCH

    def epochs(self, controller: ControllerPuppet) -> dict[str, Any]:
        """Return the arguments of the puppet's request."""
        named = (
            NO_BROKER_EPOCH
            if self.start is EpochOfBroker.UNSAID
            else self.start.broker_epoch(controller.broker_epoch())
        )
        return {"controller_epoch": controller.epoch + self.office.value, "broker_epoch": named}


IN_OFFICE = Sent()


@dataclass(frozen=True, slots=True)
class SendLeaderAndIsr:
    """LeaderAndIsr and nothing else: what a replica knows, its metadata do not."""

    leader: int
    leader_epoch: int
    sent: Sent = IN_OFFICE

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"{self.sent.text} sends LeaderAndIsr: broker {self.leader} leads in epoch {self.leader_epoch}"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Obey, refuse, or find nothing new in it."""
        refusal = self.sent.refusal(model)
        if refusal is not None:
            return {ERRORS: [refusal]}
        if not fencing.is_news(LeaderEpoch(self.leader_epoch), model.replica.leader_epoch):
            return {ERRORS: [0, ErrorCode.STALE_CONTROLLER_EPOCH]}
        model.decide(self.leader, self.leader_epoch, ASSIGNMENT, reaches_metadata=False)
        return {ERRORS: [0]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send it with the epochs of choice."""
        del expected  # answered at once
        controller, decision = stage.run.controller, stage.topic.led_by(self.leader, self.leader_epoch)
        return {ERRORS: errors(controller.leader_and_isr(decision, **self.sent.epochs(controller)))}


@dataclass(frozen=True, slots=True)
class SendUpdateMetadata:
    """UpdateMetadata and nothing else.

    Attributes:
        leader: whom it names; without one it is about the live brokers only.
    """

    leader: int | None = None
    leader_epoch: int = NONE
    sent: Sent = IN_OFFICE

    @property
    def text(self) -> str:
        """Return it in words."""
        what = f": broker {self.leader} leads in epoch {self.leader_epoch}" if self.leader else " about live brokers"
        return f"{self.sent.text} sends UpdateMetadata{what}"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Believe or refuse it."""
        refusal = self.sent.refusal(model)
        if refusal is not None:
            return {ERRORS: [refusal]}
        if self.leader is not None:
            model.metadata_leader = self.leader
        return {ERRORS: [0]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send it with the epochs of choice."""
        del expected  # answered at once
        controller = stage.run.controller
        decisions = () if self.leader is None else (stage.topic.led_by(self.leader, self.leader_epoch),)
        return {ERRORS: errors(controller.update_metadata(*decisions, **self.sent.epochs(controller)))}


@dataclass(frozen=True, slots=True)
class StopReplica:
    """StopReplica for the broker's replica.

    Attributes:
        leader_epoch: of the decision (2.6+, KIP-570); -1 is not checked.
    """

    is_deleted: bool
    leader_epoch: int = NONE
    sent: Sent = IN_OFFICE

    @property
    def text(self) -> str:
        """Return it in words."""
        decided = "" if self.leader_epoch == NONE else f", decided in leader epoch {self.leader_epoch}"
        return f"{self.sent.text} sends StopReplica with delete={str(self.is_deleted).lower()}{decided}"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Stop the fetcher and keep the files or not, or refuse."""
        refusal = self.sent.refusal(model)
        if refusal is not None:
            return {ERRORS: [refusal], FILES: _predicted_files(model)}
        if not model.rules.stops_replica(LeaderEpoch(self.leader_epoch), model.replica.leader_epoch):
            return {ERRORS: [0, ErrorCode.FENCED_LEADER_EPOCH], FILES: _predicted_files(model)}
        model.stop(is_deleted=self.is_deleted)
        return {ERRORS: [0], FILES: _predicted_files(model)}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send it and compare the files; those of a deleted replica are renamed in the broker's own time."""
        controller, before = stage.run.controller, stage.files()
        epochs = self.sent.epochs(controller)
        answer = controller.stop_replica(
            stage.topic, is_deleted=self.is_deleted, leader_epoch=self.leader_epoch, **epochs
        )

        def left() -> str:
            after = stage.files()
            return NO_FILES if not after else ALL if after == before else SOME

        return {ERRORS: errors(answer), FILES: stage.settled(left, expected[FILES])}


@dataclass(frozen=True, slots=True)
class AskLeader:
    """A client asks the broker for its metadata."""

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"a client asks broker {REAL} who leads"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Name whom UpdateMetadata named last."""
        return {LEADER: model.metadata_leader}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send Metadata."""
        del expected  # the cache is renewed before the controller gets its answer
        return {LEADER: stage.leader_in_metadata()}


def _predicted_files(model: ModelledBroker) -> str:
    return ALL if model.has_files else NO_FILES
