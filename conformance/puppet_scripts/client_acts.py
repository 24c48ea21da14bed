"""What can a client ask of a leader? Records within limits of its choice, where offsets are, and transactions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.puppet_scripts.leading_acts import APPENDED
from conformance.record.answers import Between
from fault_injection.puppets.client import BYTES_MAX, EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, ConsumedFetch
from fault_injection.puppets.records import TIMESTAMP_MS
from oracle.error_codes import ErrorCode
from oracle.vocabulary import Offset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.catalogue.questions import Expected
    from conformance.puppet_scripts.modelled_broker import ModelledBroker
    from conformance.puppet_scripts.puppet_topic import PuppetStage
    from conformance.record.answers import Value

FETCHED = "error code, first and last offset, high watermark"
TOOK = "time to the answer"
LISTED = "error code and offset"
LATE_MS = 10_000
EARLY_MS = 10
"""How early a wait may seem to end: brokers and testers count whole milliseconds, each by a clock of its own."""


@dataclass(frozen=True, slots=True)
class ConsumerFetch:
    """A consumer fetches once.

    Attributes:
        max_wait_ms: how long the leader may wait for ``min_bytes``.
        wants_more: whether it wants more bytes at least than there are, or one.
        takes_one_byte: whether it takes one byte at most.
    """

    offset: int
    max_wait_ms: int = 0
    wants_more: bool = False
    takes_one_byte: bool = False

    @property
    def text(self) -> str:
        """Return it in words."""
        limits = (
            f", max wait {self.max_wait_ms} ms" if self.max_wait_ms else "",
            f", min bytes {BYTES_MAX}" if self.wants_more else "",
            ", max bytes 1" if self.takes_one_byte else "",
        )
        return f"a consumer fetches at {self.offset}{''.join(limits)}"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Return what is below the high watermark, one record a batch, at least one batch."""
        if self.offset > model.log_end_offset:
            return {FETCHED: [ErrorCode.OFFSET_OUT_OF_RANGE, None, None, None]}
        last = self.offset if self.takes_one_byte else model.high_watermark - 1
        found: list[Value] = [self.offset, last] if self.offset < model.high_watermark else [None, None]
        return {FETCHED: [0, *found, model.high_watermark], **self._predicted_time(model)}

    def _predicted_time(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Wait as long as it may for what is not there, unless a release does not wait beyond the high watermark."""
        if not self.max_wait_ms:
            return {}
        has_all = self.offset < model.high_watermark and not self.wants_more
        if has_all or model.rules.answers_fetch_at_once(Offset(self.offset), Offset(model.high_watermark)):
            return {TOOK: Between(0, self.max_wait_ms - EARLY_MS - 1, "ms")}
        return {TOOK: Between(self.max_wait_ms - EARLY_MS, self.max_wait_ms + LATE_MS, "ms")}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send Fetch without a replica id."""
        del expected  # the leader decides when to answer
        bytes_max = 1 if self.takes_one_byte else BYTES_MAX
        fetch = ConsumedFetch(
            self.offset,
            max_wait_ms=self.max_wait_ms,
            min_bytes=BYTES_MAX if self.wants_more else 1,
            max_bytes=bytes_max,
            partition_max_bytes=bytes_max,
        )
        began = time.monotonic()
        given = stage.run.client.fetch(stage.topic, fetch)
        took_ms = int((time.monotonic() - began) * 1000)
        took: Mapping[str, Value] = {TOOK: took_ms} if self.max_wait_ms and not given.error else {}
        if given.error:
            return {FETCHED: [given.error, None, None, None], **took}
        return {FETCHED: [0, given.first_offset, given.last_offset, given.high_watermark], **took}


@dataclass(frozen=True, slots=True)
class AppendAt:
    """A producer sends one record with a timestamp, so many milliseconds after that of all others."""

    label: str
    later_ms: int

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"a producer sends {self.label}, {self.later_ms} ms later than all before"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Append it."""
        offset, error = model.log_end_offset, model.append(self.label)
        return {LISTED: [error, offset]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send Produce."""
        del expected  # answered once the leader has appended
        timestamp_ms = TIMESTAMP_MS + self.later_ms
        return {LISTED: [*stage.run.client.append(stage.topic, self.label.encode(), timestamp_ms=timestamp_ms)]}


@dataclass(frozen=True, slots=True)
class ListEarliest:
    """A consumer asks for the earliest offset."""

    @property
    def text(self) -> str:
        """Return it in words."""
        return "a consumer asks for the earliest offset"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Return the log start offset."""
        return {LISTED: [0, model.replica.log_start_offset]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send ListOffsets."""
        del expected  # answered at once
        return {LISTED: _listed(stage, EARLIEST_TIMESTAMP)}


@dataclass(frozen=True, slots=True)
class ListLatest:
    """A consumer asks for the latest offset."""

    @property
    def text(self) -> str:
        """Return it in words."""
        return "a consumer asks for the latest offset"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Predict the high watermark, or that it is not told yet (KIP-207)."""
        start, high_watermark = model.replica.epoch_start_offset, model.high_watermark
        tells = model.rules.tells_latest_offset(Offset(high_watermark), start)
        return {LISTED: [0, high_watermark] if tells else [ErrorCode.OFFSET_NOT_AVAILABLE, None]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send ListOffsets."""
        del expected  # answered at once
        return {LISTED: _listed(stage, LATEST_TIMESTAMP)}


@dataclass(frozen=True, slots=True)
class ListByTime:
    """A consumer asks for the first offset at or after a time.

    Attributes:
        later_ms: so long after the timestamp that records have unless told otherwise.
        first: the offset of the first record with at least that timestamp; None for none.
    """

    later_ms: int
    first: int | None

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"a consumer asks for the first offset {self.later_ms} ms after the first record or later"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Return what the script knows: timestamps are no matter of replication, except below the high watermark."""
        assert self.first is None or self.first < model.high_watermark
        return {LISTED: [0, self.first]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Send ListOffsets."""
        del expected  # answered at once
        return {LISTED: _listed(stage, TIMESTAMP_MS + self.later_ms)}


def _listed(stage: PuppetStage, timestamp: int) -> Value:
    told = stage.run.client.list_offset(stage.topic, timestamp)
    return [told.error, None if told.offset < 0 else told.offset]


# What does a transaction make of offsets? A reader of committed records sees what is before the first open one.
#
# The tester plays producer and coordinator: nobody else knows of the transaction. The leader is alone in sync, so
# that a marker is committed when it is written.
#
# Source: ``ProducerStateManager.firstUnstableOffset``, KIP-98.


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
