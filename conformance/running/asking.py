"""How does a step ask a real broker? One request to the broker it names, and its answer among the observations.

Values have the names that the prediction has (``oracle.asking``): labels instead of record ids, ordinals of
leaderships instead of epochs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.clients.questions import Questioner
from conformance.interruption import HarnessError
from conformance.record.observations import BrokerAnswer
from oracle.asking import ACKNOWLEDGED, CONNECTION_CLOSED, NO_ANSWER
from oracle.steps.questions import Consume, EndOffsetOfEpoch, ListOffsets, SendTo
from oracle.vocabulary import BrokerId, OffsetSpec

if TYPE_CHECKING:
    from conformance.running.producing import RecordSender
    from conformance.running.recorder import Recorder
    from conformance.running.rest import Rest
    from oracle.schedule import Schedule
    from oracle.steps.questions import Ask


LATEST, EARLIEST = -1, -2
FOREIGN = "?"


class Asking:
    """Asks the brokers of one run, and knows which epochs its leaderships had."""

    def __init__(self, schedule: Schedule, producing: RecordSender, rest: Rest, recorder: Recorder) -> None:
        self._producing, self._rest, self._recorder = producing, rest, recorder
        self._leaderships = Leaderships()
        self._needs_epochs = any(isinstance(step, EndOffsetOfEpoch) for step in schedule.steps)

    def note_leader(self) -> None:
        """Note at rest who leads, if a step asks about leaderships."""
        if self._needs_epochs:
            view = self._rest.view()
            self._leaderships.note(view.leader, view.leader_epoch)

    def ask(self, step: Ask) -> None:
        """Put one question, and write down what was answered.

        Raises:
            ProbeError: the broker does not answer.
        """
        broker = self._asked(step.broker)
        if isinstance(step, SendTo):
            answer = self._send(step)
        else:
            answer = self._answered(
                step, Questioner(self._producing.address_of(broker), self._producing.topic, step.version)
            )
        self._recorder.observe(BrokerAnswer(broker=broker, answer=answer))

    def _asked(self, broker: BrokerId | None) -> BrokerId:
        leader = self._rest.view().leader if broker is None else broker
        if leader is None:
            raise HarnessError("nobody leads: there is no leader to ask")
        return BrokerId(leader)

    def _answered(self, step: Consume | ListOffsets | EndOffsetOfEpoch, questioner: Questioner) -> dict[str, Any]:
        match step:
            case Consume(offset=offset):
                fetched = questioner.fetch(offset)
                labels = [self._producing.label_of(record_id) or FOREIGN for record_id in fetched.record_ids]
                return {"error": fetched.error, "records": labels, "high_watermark": fetched.high_watermark}
            case ListOffsets():
                listed = questioner.list_offset(self._timestamp(step))
                return {"error": listed.error, "offset": listed.offset}
            case EndOffsetOfEpoch(leadership=leadership, current=current):
                now = self._rest.view().leader_epoch
                claimed = None if current is None else self._leaderships.epoch_of(current, now)
                end = questioner.epoch_end(self._leaderships.epoch_of(leadership, now), claimed)
                ordinal = self._leaderships.ordinal_of(end.leader_epoch)
                return {"error": end.error, "leadership": ordinal, "end_offset": end.end_offset}

    def _timestamp(self, step: ListOffsets) -> int:
        if step.spec is OffsetSpec.TIMESTAMP:
            assert step.timestamp_of is not None, "the schedule's structure was checked"
            return self._producing.timestamp_ms_of(step.timestamp_of)
        return LATEST if step.spec is OffsetSpec.LATEST else EARLIEST

    def _send(self, step: SendTo) -> dict[str, Any]:
        told, is_written = self._producing.send_to(step)
        if not told.is_answered:
            heard = CONNECTION_CLOSED if told.is_closed else NO_ANSWER
        else:
            heard = told.error or ACKNOWLEDGED
        return {"answer": heard, "offset": told.offset, "written": is_written}


# Which leader epoch do the brokers have for a leadership of the schedule? Learned at rest, step by step.
#
# A leadership begins whenever another broker leads than at the last rest, or one leads again after nobody did. A
# controller may raise the epoch during a leadership; asked about is the last one seen of it.


@dataclass(slots=True)
class _Leadership:
    leader: int
    last_epoch: int


class Leaderships:
    """Knows every leadership that was seen at rest, in order."""

    def __init__(self) -> None:
        self._seen: list[_Leadership] = []
        self._is_led = False

    def note(self, leader: int | None, leader_epoch: int) -> None:
        """Note who leads at rest, and in which epoch."""
        if leader is None:
            self._is_led = False
            return
        if not self._is_led or self._seen[-1].leader != leader:
            self._seen.append(_Leadership(leader, leader_epoch))
        self._is_led = True
        self._seen[-1].last_epoch = leader_epoch

    def epoch_of(self, ordinal: int, current_epoch: int) -> int:
        """Return the epoch that a schedule means by a leadership: see ``oracle.asking``.

        Args:
            ordinal: of the leadership, from 0.
            current_epoch: the controller's present epoch.
        """
        ahead = ordinal - (len(self._seen) - 1)
        return self._seen[ordinal].last_epoch if ahead < 0 else current_epoch + ahead

    def ordinal_of(self, leader_epoch: int | None) -> int | None:
        """Return the leadership that an epoch belongs to: the first one that did not end before it."""
        if leader_epoch is None:
            return None
        ended = [one.last_epoch for one in self._seen[:-1]]
        return sum(1 for last in ended if last < leader_epoch)
