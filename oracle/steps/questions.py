"""Which steps ask one broker something in the middle of a schedule? Its answer is predicted, and measured.

Three only read; ``send_to`` may append. None waits for another broker's view: each goes to the broker it names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from oracle.steps.step import ACKS, LEADERSHIP, OFFSET, REQUEST_VERSION, TIMEOUT_MS, Step, described, step
from oracle.vocabulary import BrokerId, ClientRequest, Label, Leadership, Offset, OffsetSpec

if TYPE_CHECKING:
    from oracle.steps.step import SoFar

VERSION_HELP = "version of the request; none: the newest that the release and this tester have"
LEADER_HELP = "the broker that is asked; none: the controller's leader"
EPOCH_REQUESTS_CLAIM_CURRENT = 2
"""The first version of OffsetsForLeaderEpoch that claims a current epoch (KIP-320)."""


@step("consume")
class Consume(Step):
    """Fetch as a read_uncommitted consumer: which records does this broker show, and which high watermark?"""

    broker: BrokerId | None = described(f"{LEADER_HELP}. Followers answer from 2.4 on (Fetch 11)", default=None)
    offset: Offset = described("the first offset wanted", default=Offset(0))
    version: int | None = described(VERSION_HELP, default=None)

    @override
    def check(self, so_far: SoFar) -> None:
        _check_broker(so_far, self.broker)
        so_far.require_within("offset", self.offset, OFFSET)
        _check_version(so_far, self.version)

    @override
    def sentence(self) -> str:
        return f"consume from {_asked(self.broker)} from offset {self.offset} on{_in_version(self)}"

    @override
    def short(self) -> str:
        return f"consume {self.broker or 'leader'}"


@step("list_offsets", short="{spec} offset?")
class ListOffsets(Step):
    """Ask for the earliest or the latest offset, or the first one that is as late as a record's timestamp."""

    spec: OffsetSpec = described("earliest, latest or timestamp")
    broker: BrokerId | None = described(LEADER_HELP, default=None)
    timestamp_of: Label | None = described("the record whose timestamp is asked for, with timestamp", default=None)
    version: int | None = described(VERSION_HELP, default=None)

    @override
    def check(self, so_far: SoFar) -> None:
        _check_broker(so_far, self.broker)
        if self.spec is OffsetSpec.TIMESTAMP:
            self._check_timestamp(so_far)
        elif self.timestamp_of is not None:
            so_far.refuse("timestamp_of", f"timestamp_of only with spec: timestamp, not {self.spec.value}")
        _check_version(so_far, self.version)

    def _check_timestamp(self, so_far: SoFar) -> None:
        if self.timestamp_of is None:
            so_far.refuse("spec", "spec: timestamp needs timestamp_of: LABEL")
        if self.timestamp_of not in so_far.records:
            has = f"; it has {', '.join(sorted(so_far.records))}" if so_far.records else ""
            message = f"timestamp_of names what the schedule has not produced yet: {self.timestamp_of}{has}"
            so_far.refuse("timestamp_of", message)

    @override
    def sentence(self) -> str:
        by_time = self.spec is OffsetSpec.TIMESTAMP
        what = f"first offset not older than {self.timestamp_of}" if by_time else f"{self.spec.value} offset"
        return f"ask {_asked(self.broker)} for the {what}{_in_version(self)}"


@step("end_offset_of_epoch", short="end of epoch {leadership}?")
class EndOffsetOfEpoch(Step):
    """Ask where a leader epoch ends, as followers do (OffsetsForLeaderEpoch, 0.11 on)."""

    leadership: Leadership = described("ordinal of the leadership whose epoch is asked for, from 0; its last epoch")
    broker: BrokerId | None = described(LEADER_HELP, default=None)
    current: Leadership | None = described(
        "ordinal of the leadership that is claimed to be the current one (2.1 on, version 2 on); none: not claimed",
        default=None,
    )
    version: int | None = described(VERSION_HELP, default=None)

    @override
    def check(self, so_far: SoFar) -> None:
        _check_broker(so_far, self.broker)
        so_far.require_within("leadership", self.leadership, LEADERSHIP)
        so_far.require_within("current", self.current or 0, LEADERSHIP)
        oldest = EPOCH_REQUESTS_CLAIM_CURRENT
        if self.current is not None and self.version is not None and self.version < oldest:
            asked = f"{REQUESTS[type(self)].value} {self.version}"
            so_far.refuse("current", f"{asked} has no such field: ask in version {oldest} or newer")
        _check_version(so_far, self.version)

    @override
    def sentence(self) -> str:
        claim = "" if self.current is None else f", claiming that leadership {self.current} is the current one"
        of = f"the epoch of leadership {self.leadership}"
        return f"ask {_asked(self.broker)} where {of} ends{claim}{_in_version(self)}"


@step("send_to", says="send {record} to broker {broker} with acks={acks}", short="{record} to {broker}")
class SendTo(Step):
    """Send one record to a broker, whether it leads or not, with any acks: what does it answer, what does it write?"""

    record: Label = described("label of the record")
    broker: BrokerId = described("the broker that gets the request")
    acks: int = described("all (-1), 0 or 1, or a number that is none of them", default=-1)
    timeout_ms: int = described("how long the broker waits for acks=-1", default=30_000)

    @override
    def check(self, so_far: SoFar) -> None:
        _check_broker(so_far, self.broker)
        so_far.note_record("record", self.record)
        so_far.require_within("acks", self.acks, ACKS)
        so_far.require_within("timeout_ms", self.timeout_ms, TIMEOUT_MS)

    @override
    def labels(self) -> tuple[Label, ...]:
        return (self.record,)


Ask = Consume | ListOffsets | EndOffsetOfEpoch | SendTo
REQUESTS: dict[type[Step], ClientRequest] = {
    Consume: ClientRequest.FETCH,
    ListOffsets: ClientRequest.LIST_OFFSETS,
    EndOffsetOfEpoch: ClientRequest.OFFSETS_FOR_LEADER_EPOCH,
}


def _check_broker(so_far: SoFar, broker: BrokerId | None) -> None:
    if broker is not None:
        so_far.require_brokers("broker", broker)


def _check_version(so_far: SoFar, version: int | None) -> None:
    so_far.require_within("version", version or 0, REQUEST_VERSION)


def _asked(broker: BrokerId | None) -> str:
    return "the leader" if broker is None else f"broker {broker}"


def _in_version(asked: Consume | ListOffsets | EndOffsetOfEpoch) -> str:
    return "" if asked.version is None else f", in {REQUESTS[type(asked)].value} {asked.version}"
