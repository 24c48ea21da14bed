"""Which short forms do regression scenarios need besides the catalogue's? Steps that few schedules take."""

from __future__ import annotations

from oracle.steps import Drop, Elect, Hold, Pause, Produce, Resume
from oracle.vocabulary import Acks, BrokerId, ElectionKind, Expectation, Label, PointName


def send_unacknowledged(*labels: str) -> Produce:
    """Send records with acks=0: nothing is promised about them."""
    return Produce(tuple(Label(label) for label in labels), Acks.NONE, Expectation.ANY)


def hold_decision(name: str, broker: int) -> Hold:
    """Freeze the next LeaderAndIsr before a broker hears it."""
    return Hold(name, PointName.LEADER_AND_ISR, broker=BrokerId(broker))


def hold_isr_request(name: str, leader: int) -> Hold:
    """Freeze the next AlterPartition of a leader before the controller sees it."""
    return Hold(name, PointName.ALTER_PARTITION_REQUEST, broker=BrokerId(leader))


def hold_lookup_answer(name: str, follower: int, leader: int) -> Hold:
    """Freeze the answer to the next OffsetsForLeaderEpoch before the follower sees it."""
    return Hold(name, PointName.OFFSETS_FOR_LEADER_EPOCH_RESPONSE, BrokerId(follower), BrokerId(leader))


def drop(name: str) -> Drop:
    """Throw a held frame away."""
    return Drop(name)


def pause(broker: int) -> Pause:
    """Freeze a broker's process."""
    return Pause(BrokerId(broker))


def resume(broker: int) -> Resume:
    """Let a paused broker go on."""
    return Resume(BrokerId(broker))


def elect_preferred() -> Elect:
    """Ask the controller to let the first assigned replica lead."""
    return Elect(ElectionKind.PREFERRED)
