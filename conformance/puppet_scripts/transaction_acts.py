"""What does a transaction make of offsets? A reader of committed records sees what is before the first open one.

The tester plays producer and coordinator: nobody else knows of the transaction. The leader is alone in sync, so
that a marker is committed when it is written.

Source: ``ProducerStateManager.firstUnstableOffset``, KIP-98.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.puppet_scripts.client_acts import LISTED
from conformance.puppet_scripts.leading_acts import APPENDED
from fault_injection.puppets.client import LATEST_TIMESTAMP, ConsumedFetch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.catalogue.questions import Expected
    from conformance.puppet_scripts.modelled_broker import ModelledBroker
    from conformance.puppet_scripts.puppet_topic import PuppetStage
    from conformance.record.answers import Value

PRODUCER_ID = 9000
ERROR = "error code"
COMMITTED = "error code, first and last offset, last stable offset"
MARKER = "-"


@dataclass(frozen=True, slots=True)
class AppendInTransaction:
    """A producer sends one record of its transaction.

    Attributes:
        sequence: how many records it has sent before.
    """

    label: str
    sequence: int

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"a producer sends {self.label} in its transaction"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Append it; the first one of a transaction is where it opens."""
        offset = model.log_end_offset
        error = model.append(self.label)
        if model.open_since is None:
            model.open_since = offset
        return {APPENDED: [error, offset]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send Produce with a transactional batch."""
        del expected  # answered once the leader has appended
        transaction = (PRODUCER_ID, self.sequence)
        return {APPENDED: [*stage.run.client.append(stage.topic, self.label.encode(), transaction=transaction)]}


@dataclass(frozen=True, slots=True)
class EndTransaction:
    """The coordinator has the transaction committed, or aborted."""

    commits: bool

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"the coordinator {'commits' if self.commits else 'aborts'} the transaction"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Write a marker, which takes an offset."""
        model.open_since = None
        return {ERROR: model.append(MARKER)}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send WriteTxnMarkers."""
        del expected  # answered once the marker is replicated
        return {ERROR: stage.run.client.end_transaction(stage.topic, PRODUCER_ID, commits=self.commits)}


@dataclass(frozen=True, slots=True)
class ListLatestCommitted:
    """A reader of committed records asks for the latest offset."""

    @property
    def text(self) -> str:
        """Return it in words."""
        return "a reader of committed records asks for the latest offset"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Return the last stable offset."""
        return {LISTED: [0, model.last_stable_offset]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send ListOffsets with isolation level 1."""
        del expected  # answered at once
        told = stage.run.client.list_offset(stage.topic, LATEST_TIMESTAMP, committed=True)
        return {LISTED: [told.error, told.offset]}


@dataclass(frozen=True, slots=True)
class ConsumeCommitted:
    """A reader of committed records fetches once."""

    offset: int

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"a reader of committed records fetches at {self.offset}"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Return what is below the last stable offset, markers and aborted records included."""
        end = model.last_stable_offset
        found: list[Value] = [self.offset, end - 1] if self.offset < end else [None, None]
        return {COMMITTED: [0, *found, end]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send Fetch with isolation level 1."""
        del expected  # nothing to wait for
        given = stage.run.client.fetch(stage.topic, ConsumedFetch(self.offset, committed=True))
        return {COMMITTED: [given.error, given.first_offset, given.last_offset, given.last_stable_offset]}
