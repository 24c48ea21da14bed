"""What of a schedule does this release have? Some points and requests exist only in some releases or modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.asking import why_unspoken
from oracle.gate import POINTS
from oracle.rules import message_format, unclean_election
from oracle.rules.request_versions import versions
from oracle.state import FetchKind
from oracle.steps.frames import DelayFrame, Hold
from oracle.steps.questions import EPOCH_REQUESTS_CLAIM_CURRENT, REQUESTS, Consume, EndOffsetOfEpoch, ListOffsets
from oracle.steps.step import ScheduleError
from oracle.steps.topic import DeleteRecords, Elect
from oracle.vocabulary import (
    FROM_CONTROLLER,
    REQUESTS_OF_CONTROLLER,
    TO_CONTROLLER,
    ClientRequest,
    LeaderEpoch,
    MetadataMode,
    PointName,
)

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule


class NotOnReleaseError(ScheduleError):
    """The schedule needs what this release lacks (a point, a request, a version, an election): it does not apply."""


def check_points(schedule: Schedule, rules: RuleSet) -> None:
    """Refuse points that the model cannot predict or the release does not have, and elections that it does not hold.

    Raises:
        ScheduleError: the model cannot predict a hold there; names the step.
        NotOnReleaseError: the release has no such point or election.
    """
    if not (message_format.stamps_epochs(schedule.settings.message_format_version) or rules.heeds_message_format):
        message = f"Kafka {rules.version} ignores message.format.version (KIP-724: 3.0): its records carry epochs"
        raise NotOnReleaseError(message, field="settings")
    for index, step in enumerate(schedule.steps):
        if isinstance(step, Elect):
            _check_election(index, step, rules)
        if isinstance(step, DeleteRecords) and not rules.requests.deletes_records:
            message = f"Kafka {rules.version} has no request to delete records (KIP-107: 0.11)"
            raise NotOnReleaseError(message, step=index, field="offset")
        if isinstance(step, Consume | ListOffsets | EndOffsetOfEpoch):
            _check_version(index, step, rules)
        if not isinstance(step, Hold | DelayFrame):
            continue
        predicted = [*POINTS, *FROM_CONTROLLER, *TO_CONTROLLER] if isinstance(step, Hold) else [*POINTS]
        if step.point not in predicted:
            word = "hold" if isinstance(step, Hold) else "delay"
            message = f"a {word} at {step.point.value} cannot be predicted; points: {', '.join(predicted)}"
            raise ScheduleError(message, step=index, field="point")
        missing = _why_missing(step.point, rules)
        if missing is not None:
            raise NotOnReleaseError(f"Kafka {rules.version} {missing}", step=index, field="point")


def _check_election(index: int, step: Elect, rules: RuleSet) -> None:
    missing = unclean_election.why_missing(step.kind, rules)
    if missing is not None:
        raise NotOnReleaseError(missing, step=index, field="kind")


def _check_version(index: int, step: Consume | ListOffsets | EndOffsetOfEpoch, rules: RuleSet) -> None:
    missing = why_unspoken(REQUESTS[type(step)], step.version, rules)
    if missing is not None:
        raise NotOnReleaseError(missing, step=index, field="version")
    if isinstance(step, EndOffsetOfEpoch) and step.current is not None:
        _check_claim(index, rules)


def _check_claim(index: int, rules: RuleSet) -> None:
    """Refuse a claim that this release's newest request has no field for."""
    request = ClientRequest.OFFSETS_FOR_LEADER_EPOCH
    newest = versions(request, rules)[-1]
    if newest < EPOCH_REQUESTS_CLAIM_CURRENT:
        message = f"{request.value} {newest} of Kafka {rules.version} claims no current leader epoch (KIP-320: 2.1)"
        raise NotOnReleaseError(message, step=index, field="current")


def _why_missing(point: PointName, rules: RuleSet) -> str | None:
    """Return why a release does not have a point, or None if it does."""
    if point in POINTS:
        asks = POINTS[point][0] is not FetchKind.EPOCH_LOOKUP or rules.truncation.asks_leader
        return None if asks else "followers do not send OffsetsForLeaderEpoch"
    if point in TO_CONTROLLER:
        return None if rules.asks_controller_to_join else "leaders write the ISR themselves"
    in_zookeeper_mode = rules.metadata is MetadataMode.ZOOKEEPER
    if point in REQUESTS_OF_CONTROLLER:
        if not in_zookeeper_mode:
            return f"has no {point.value} in KRaft mode: brokers read the metadata log"
        is_served = rules.serves_epoch(LeaderEpoch(0), LeaderEpoch(1))
        if point is PointName.STOP_REPLICA and is_served:
            return "serves a replica that is not assigned any more: what it does until StopReplica is not predicted"
        return None
    return "brokers read no metadata log in ZooKeeper mode" if in_zookeeper_mode else None
