"""What do fetches of KRaft's metadata log show? See the table of ``frame_events``.

A broker applies a record once it has it and knows a high watermark above it; both come with answers. A broker
that starts reads again what it has on disk, up to the high watermark that the first answer tells it.

Choices: the newest state before a start is heard again only once, not every state on the way there. A broker may
apply what it heard at any later time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.observation.errors import TraceUnreadableError
from conformance.observation.in_flight import InFlight, request_key
from conformance.observation.metadata_log import MetadataLog, Registration
from oracle.tracing.observed import IsrAnnounced, LeadershipHeard
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.observation.wire_moments import Moment
    from conformance.wire_trace.topic_of_interest import TopicOfInterest


@dataclass(slots=True)
class _Reader:
    """How far one broker has read the log.

    Attributes:
        applied: how many states of the history it has applied.
        is_starting: it began anew and has had no answer since.
    """

    applied: int = 0
    is_starting: bool = False


class MetadataEvents:
    """Turns fetches of the metadata log into what the controller announced and what each broker heard."""

    def __init__(self, topic: TopicOfInterest) -> None:
        self._topic = topic
        self._log = MetadataLog(topic)
        self._readers: dict[int, _Reader] = {}
        self._in_flight: InFlight[int] = InFlight()

    def of(self, moment: Moment) -> Iterator[IsrAnnounced | LeadershipHeard]:
        """Give the events of one moment."""
        frame = moment.frame
        if frame["direction"] == "response":
            return self._delivered(moment) if moment.is_delivery else self._answered(moment)
        if not moment.is_delivery:
            for entry in frame["decoded"]["partitions"]:
                self._in_flight.sent(request_key(frame), entry["fetch_offset"])
        return iter(())

    def broker_started(self, broker: int) -> None:
        """Take note that a broker begins anew."""
        self._readers[broker] = _Reader(is_starting=True)

    def _answered(self, moment: Moment) -> Iterator[IsrAnnounced]:
        for entry in moment.frame["decoded"]["partitions"]:
            records, epochs = entry.get("metadata", ()), entry.get("epochs")
            unread = next((record for record in records if record["record"] == "UnreadableRecord"), None)
            if unread is not None:
                what = f"a record of the metadata log (api key {unread['api_key']}, version {unread['version']})"
                raise TraceUnreadableError(f"frame {moment.seq}: {what} was not decoded")
            if epochs:
                for state in self._log.append(records, epochs[-1]["last_offset"]):
                    yield IsrAnnounced(
                        at=moment.at,
                        frame=moment.seq,
                        partition=self._topic.partition(state.partition),
                        leader=state.leader,
                        leader_epoch=state.leader_epoch,
                        isr=state.isr,
                        replicas=state.replicas,
                        partition_epoch=state.partition_epoch,
                    )

    def _delivered(self, moment: Moment) -> Iterator[LeadershipHeard]:
        broker = moment.frame["source"]
        if broker is None:
            return
        fetch_offset = self._in_flight.delivered(request_key(moment.frame)) or 0
        reader = self._readers.setdefault(broker, _Reader())
        for entry in moment.frame["decoded"]["partitions"]:
            states = self._applied(reader, min(_fetched(entry, fetch_offset), entry["high_watermark"]))
            for state in _newest(states) if reader.is_starting else states:
                yield self._heard(moment, broker, state)
        reader.is_starting = False

    def _applied(self, reader: _Reader, below: int) -> list[Registration]:
        start = end = reader.applied
        history = self._log.history
        while end < len(history) and history[end].offset < below:
            end += 1
        reader.applied = end
        return history[start:end]

    def _heard(self, moment: Moment, broker: int, state: Registration) -> LeadershipHeard:
        return LeadershipHeard(
            at=moment.at,
            frame=moment.seq,
            partition=self._topic.partition(state.partition),
            broker=BrokerId(broker),
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=state.isr,
            replicas=state.replicas,
            partition_epoch=state.partition_epoch,
        )


def _fetched(entry: dict[str, Any], fetch_offset: int) -> int:
    epochs = entry.get("epochs")
    return int(epochs[-1]["last_offset"]) + 1 if epochs else fetch_offset


def _newest(states: list[Registration]) -> list[Registration]:
    return list({state.partition: state for state in states}.values())
