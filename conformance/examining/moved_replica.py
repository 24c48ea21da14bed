"""What does a leader know of its epochs once its replica was moved to another log directory? KAFKA-15608, KAFKA-20961.

An epoch without records, as that of a leader that has written nothing, is in no batch that the future log is given. An
idle partition goes on all the same while its last record's epoch is known. When all its records are deleted, as time
does on any topic with a retention, none is: a follower that names its own can be told nothing. It asks without end, and
if it had left the ISR, as it does when it stands still for longer than its session, it does not join again.
``oracle.rules.log_directories`` has the rule.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.clients.producer import send
from conformance.clients.questions import Questioner
from conformance.examining.examination_cluster import DEADLINE_S, CrashedPartition, partition
from conformance.record.wire import FETCH, frames_of
from conformance.running.log_directory_requests import move_replica
from conformance.running.topic_requests import delete_records
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.waiting import until
from oracle.error_codes import ErrorCode
from oracle.predict import initial_world, take
from oracle.rules.log_directories import MovedEpochs, epochs_of_moves, is_out_of_range, moved
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Start, Stop
from oracle.steps.produce import Produce
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, BrokerId, Label, Offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from conformance.record.answers import Value
    from conformance.record.wire import TracedFrame
    from oracle.log import ReplicaLog
    from oracle.rules.rule_set import RuleSet
    from oracle.vocabulary import LeaderEpoch
    from oracle.world import World

FOLLOWER, LEADER = BOTH = (BrokerId(1), BrokerId(2))
BASE, REFUSED, HEALING = 0, 1, 2
"""The ids of the records."""
DELETED_TO = Offset(1)
MIN_ISR = 2
PATIENCE_S = 9.0
"""How long broker 1 has to get into the ISR: one that is let in is within two seconds."""
OUT_OF_RANGE = int(ErrorCode.OFFSET_OUT_OF_RANGE)

STARTS = "first offsets of the epochs that the leader has on disk, {}"
END = "where the leader says that the epoch ends in which it leads, {}"
BEFORE, MOVED = "before its replica is moved", "when it is moved"
DELETED, MOVED_AGAIN = "when all records are deleted", "when it is moved then"
DIRECTORIES = "log directories that the leader's replica was in"
JOINED = "in-sync replicas of the idle partition, when broker 1 goes on"
ERROR = "what a producer with acks=all is told then"
HEALED = "in-sync replicas once the leader has appended a record"
REFUSES = "whether fetches of broker 1 were answered with OFFSET_OUT_OF_RANGE"


@dataclass(frozen=True, slots=True)
class MovedReplica:
    """A leader's replica is moved on an idle partition: once with a record in it, once with none.

    Attributes:
        stay: which leader epochs a move leaves; None for what the release does.
    """

    stay: MovedEpochs | None = None

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            f"create a topic on brokers 1 and 2, of two log directories each, with min.insync.replicas={MIN_ISR}",
            f"produce record {BASE}; stop broker 1, so that broker 2 leads; start it again; broker 2 writes nothing",
            "read broker 2's file of epochs, and ask it where its own ends; move its replica; read and ask the same",
            "have all records deleted; read and ask the same; freeze broker 1 until it is out of the ISR",
            "move broker 2's replica back; read and ask the same",
            f"let broker 1 go on; wait up to {PATIENCE_S:.0f} s until it is in the ISR",
            f"produce record {REFUSED} with acks=all, then record {HEALING} with acks=1; wait likewise",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Let the model's brokers go the same way, and move the leader's log."""
        state = _before_move(rules).state
        stay, leads_in = self.stay or epochs_of_moves(rules.version), state.controller.leader_epoch
        before, follower = state.replica(LEADER).log, state.replica(FOLLOWER).log
        there = moved(before, stay)
        emptied = there.starting_at(DELETED_TO)
        back = moved(emptied, stay, DELETED_TO)
        is_stuck = is_out_of_range(back, follower.starting_at(DELETED_TO), rules)
        return (
            *_known_of(before, leads_in, rules, BEFORE),
            *_known_of(there, leads_in, rules, MOVED),
            *_known_of(emptied, leads_in, rules, DELETED),
            QuestionAnswer(DIRECTORIES, 2),
            *_known_of(back, leads_in, rules, MOVED_AGAIN),
            QuestionAnswer(JOINED, _isr(is_stuck=is_stuck)),
            QuestionAnswer(ERROR, "NOT_ENOUGH_REPLICAS" if is_stuck else None),
            QuestionAnswer(HEALED, _isr(is_stuck=False)),
            QuestionAnswer(REFUSES, is_stuck),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Move a replica of real brokers."""
        spec = ClusterSpec(context.release, context.metadata, tuple(map(int, BOTH)), log_dirs=2)
        with partition(context, spec, BOTH, {"min.insync.replicas": str(MIN_ISR)}) as moving:
            cluster, topic = moving.place.cluster, moving.topic
            _have_broker_2_lead(moving)
            yield from _known(moving, BEFORE)
            first = move_replica(cluster, LEADER, topic)
            yield from _known(moving, MOVED)
            _delete_all(moving)
            yield from _known(moving, DELETED)
            _freeze(moving)
            yield QuestionAnswer(DIRECTORIES, len({first, move_replica(cluster, LEADER, topic)}))
            yield from _known(moving, MOVED_AGAIN)
            cluster.resume(FOLLOWER)
            await_registered(cluster, FOLLOWER)
            yield QuestionAnswer(JOINED, _isr_once_joined(moving))
            yield QuestionAnswer(ERROR, _error(moving, REFUSED, Acks.ALL))
            _error(moving, HEALING, Acks.LEADER)
            yield QuestionAnswer(HEALED, _isr_once_joined(moving))
        yield QuestionAnswer(REFUSES, any(map(_is_out_of_range, frames_of(context.run))))


def _before_move(rules: RuleSet) -> World:
    """Return the model when broker 2 leads and has written nothing."""
    settings = TopicSettings(min_insync_replicas=MIN_ISR, unclean_leader_election=False)
    schedule = Schedule("moved-replica", "", (), BOTH, (Checkpoint("start"),), settings=settings)
    world = initial_world(schedule, rules, BOTH)
    for step in (Produce((Label("m0"),)), Stop(FOLLOWER), Start(FOLLOWER)):
        world = take(world, step)
    return world


def _known_of(log: ReplicaLog, epoch: LeaderEpoch, rules: RuleSet, when: str) -> Iterator[QuestionAnswer]:
    """Predict what a leader with this log knows of its epochs, and of the one in which it leads."""
    yield QuestionAnswer(STARTS.format(when), [int(entry.start_offset) for entry in log.epochs])
    told = rules.truncation.end_offset_for(log, epoch).end_offset
    yield QuestionAnswer(END.format(when), None if told is None else int(told))


def _isr(*, is_stuck: bool) -> list[Value]:
    return [int(LEADER)] if is_stuck else [*map(int, BOTH)]


def _have_broker_2_lead(moving: CrashedPartition) -> None:
    moving.produce(BASE)
    moving.stop(FOLLOWER)
    moving.await_view(lambda view: view.leader == LEADER, "broker 2 to lead")
    moving.start(FOLLOWER)
    moving.await_view(lambda view: set(view.isr) == set(BOTH), "both to be in sync")
    moving.place.await_leads(LEADER, moving.topic, BOTH)


def _delete_all(moving: CrashedPartition) -> None:
    """Have the leader delete its records, and wait until both files of epochs begin where the logs do."""
    delete_records(moving.place.cluster, moving.topic, LEADER, DELETED_TO)

    def are_empty() -> bool:
        return all([one.start_offset for one in moving.probe.epoch_starts(broker)] == [DELETED_TO] for broker in BOTH)

    until(are_empty, deadline_s=DEADLINE_S, what="both replicas to have deleted their records")


def _known(moving: CrashedPartition, when: str) -> Iterator[QuestionAnswer]:
    """Read the leader's file of epochs, and ask the leader where the epoch ends in which it leads."""
    starts = [one.start_offset for one in moving.probe.epoch_starts(LEADER)]
    yield QuestionAnswer(STARTS.format(when), [*starts])
    leads_in = moving.await_view(lambda view: view.leader == LEADER, "broker 2 to lead").leader_epoch
    told = Questioner(moving.place.cluster.client_address(LEADER), moving.topic).epoch_end(leads_in, None)
    yield QuestionAnswer(END.format(when), told.end_offset if told.error is None else told.error)


def _freeze(moving: CrashedPartition) -> None:
    """Have broker 1 stand still until its session is gone, and with it its place in the ISR."""
    moving.place.cluster.pause(FOLLOWER)
    await_unregistered(moving.place.cluster, FOLLOWER)
    moving.await_view(lambda view: (view.leader, view.isr) == (LEADER, (LEADER,)), "broker 2 to lead alone")


def _isr_once_joined(moving: CrashedPartition) -> list[Value]:
    """Return the in-sync replicas as soon as both are, or when that was not so for a while."""
    end = time.monotonic() + PATIENCE_S
    view = moving.await_view(
        lambda view: set(view.isr) == set(BOTH) or time.monotonic() >= end, "both in the ISR, or the end of patience"
    )
    return [*sorted(view.isr)]


def _error(moving: CrashedPartition, record_id: int, acks: Acks) -> str | None:
    """Send one record to the leader and return the error that its producer is told, if any."""
    sending = send(moving.place.cluster.client_address(LEADER), moving.topic, 0, record_id, acks)
    delivery = sending.await_delivery(DEADLINE_S)
    sending.close()
    return delivery.error


def _is_out_of_range(frame: TracedFrame) -> bool:
    """Return whether a frame answers a fetch of broker 1 with OFFSET_OUT_OF_RANGE."""
    is_answer = frame.is_answer(FETCH) and frame.is_between(FOLLOWER, LEADER)
    return is_answer and any(entry.error == OUT_OF_RANGE for entry in frame.entries())


MOVED_REPLICA = MovedReplica()
