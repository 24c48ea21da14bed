"""What does a leader know of its epochs once its replica was moved to another log directory? KAFKA-15608, KAFKA-20961.

Broker 2 leads for a while and writes nothing, so that its latest epoch has no record. While it is down, broker 1 leads,
and its replica is moved. On an idle partition that leader knows no epoch above the last record's, and can tell broker 2
nothing about the epoch that broker 2 names in its fetch. ``oracle.rules.log_directories`` has the rule.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import QuestionAnswer
from conformance.clients.producer import send
from conformance.clients.questions import Questioner
from conformance.examining.examination_cluster import DEADLINE_S, CrashedPartition, partition
from conformance.probes.checkpoints import LEADER_EPOCH_FILE
from conformance.running.log_directory_requests import move_replica
from fault_injection.cluster.spec import ClusterSpec
from oracle.predict import initial_world, take
from oracle.rules.log_directories import is_out_of_range, moved, rule_of_moves
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Kill, Start, Stop
from oracle.steps.produce import Produce
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, BrokerId, Label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.examining.context import ExaminationContext
    from oracle.log import ReplicaLog
    from oracle.rules.rule import Rule
    from oracle.rules.rule_set import RuleSet
    from oracle.vocabulary import LeaderEpoch
    from oracle.world import World

MOVED, RETURNING = BOTH = (BrokerId(1), BrokerId(2))
BASE, REFUSED, HEALING = 0, 1, 2
"""The ids of the records."""
PATIENCE_S = 12.0
"""How long broker 2 has to get into the ISR: one that is let in is within two seconds."""
MIN_ISR = 2

STARTS = "first offsets of the epochs that broker 1 has on disk, {}"
END = "where broker 1 says that the epoch ends in which it leads, {}"
BEFORE, AFTER = "before its replica is moved", "after it"
DIRECTORIES = "log directories that broker 1's replica was in"
JOINS = "whether broker 2, back in the cluster, gets into the ISR of the idle partition"
ERROR = "what a producer with acks=all is told then"
JOINS_AFTER = "whether broker 2 gets into the ISR once broker 1 has appended a record"


@dataclass(frozen=True, slots=True)
class MovedReplica:
    """A leader's replica is moved on an idle partition, while the former leader is away.

    Attributes:
        rule: what a move makes of epochs without records; None for what the release does.
    """

    rule: Rule | None = None

    def steps(self) -> tuple[str, ...]:
        """Return what is done, line by line."""
        return (
            f"create a topic on brokers 1 and 2, which have two log directories each, with min.insync.replicas={MIN_ISR}",
            f"produce record {BASE}; stop broker 1, so that broker 2 leads, and start it again: broker 2 writes nothing",
            "kill broker 2, so that broker 1 leads; read broker 1's file, and ask it where its own epoch ends",
            "move broker 1's replica to its other log directory; read and ask the same",
            f"start broker 2; wait up to {PATIENCE_S:.0f} s until it is in the ISR; produce record {REFUSED}, acks=all",
            f"produce record {HEALING}, acks=1; wait likewise",
        )

    def predict(self, rules: RuleSet) -> tuple[QuestionAnswer, ...]:
        """Let the model's brokers go the same way, and move the leader's log by the rule."""
        state = _before_move(rules).state
        leader, leads_in = state.replica(MOVED).log, state.controller.leader_epoch
        there = moved(leader, self.rule or rule_of_moves(rules.version))
        is_stuck = is_out_of_range(there, state.replica(RETURNING).log, rules)
        return (
            QuestionAnswer(STARTS.format(BEFORE), _starts(leader)),
            QuestionAnswer(END.format(BEFORE), _end(leader, leads_in, rules)),
            QuestionAnswer(DIRECTORIES, 2),
            QuestionAnswer(STARTS.format(AFTER), _starts(there)),
            QuestionAnswer(END.format(AFTER), _end(there, leads_in, rules)),
            QuestionAnswer(JOINS, not is_stuck),
            QuestionAnswer(ERROR, "NOT_ENOUGH_REPLICAS" if is_stuck else None),
            QuestionAnswer(JOINS_AFTER, value=True),
        )

    def conduct(self, context: ExaminationContext) -> Iterator[QuestionAnswer]:
        """Move a replica of real brokers."""
        spec = ClusterSpec(context.release, context.metadata, tuple(map(int, BOTH)), log_dirs=2)
        with partition(context, spec, BOTH, {"min.insync.replicas": str(MIN_ISR)}) as moving:
            _change_leaders(moving)
            first = moving.place.cluster.log_directory_of(MOVED, f"{moving.topic}-0")
            yield from _known(moving, BEFORE)
            second = move_replica(moving.place.cluster, MOVED, moving.topic)
            yield QuestionAnswer(DIRECTORIES, len({first, second}))
            yield from _known(moving, AFTER)
            moving.start(RETURNING)
            yield QuestionAnswer(JOINS, _joins(moving))
            yield QuestionAnswer(ERROR, _error(moving, REFUSED, Acks.ALL))
            _error(moving, HEALING, Acks.LEADER)
            yield QuestionAnswer(JOINS_AFTER, _joins(moving))


def _before_move(rules: RuleSet) -> World:
    """Return the model when broker 1 leads alone, before the move."""
    settings = TopicSettings(min_insync_replicas=MIN_ISR, unclean_leader_election=False)
    schedule = Schedule("moved-replica", "", (), BOTH, (Checkpoint("start"),), settings=settings)
    world = initial_world(schedule, rules, BOTH)
    for step in (Produce((Label("m0"),)), Stop(MOVED), Start(MOVED), Kill(RETURNING)):
        world = take(world, step)
    return world


def _starts(log: ReplicaLog) -> list[int]:
    return [int(entry.start_offset) for entry in log.epochs]


def _end(log: ReplicaLog, epoch: LeaderEpoch, rules: RuleSet) -> int | None:
    """Return where a leader with this log says that an epoch ends; None if it cannot tell."""
    told = rules.truncation.end_offset_for(log, epoch).end_offset
    return None if told is None else int(told)


def _change_leaders(moving: CrashedPartition) -> None:
    """Have broker 2 lead without a record of its own, then broker 1, alone."""
    moving.produce(BASE)
    moving.stop(MOVED)
    moving.await_view(lambda view: view.leader == RETURNING, "broker 2 to lead")
    moving.start(MOVED)
    moving.await_view(lambda view: set(view.isr) == set(BOTH), "both to be in sync")
    moving.kill(RETURNING)
    moving.await_view(lambda view: (view.leader, view.isr) == (MOVED, (MOVED,)), "broker 1 to lead alone")
    moving.place.await_leads(MOVED, moving.topic, (MOVED,))


def _known(moving: CrashedPartition, when: str) -> Iterator[QuestionAnswer]:
    """Read the leader's file of epochs, keep it, and ask the leader where the epoch ends in which it leads."""
    cluster, topic = moving.place.cluster, moving.topic
    epochs = moving.probe.epoch_starts(MOVED)
    kept = moving.place.run.path / "brokers" / f"{LEADER_EPOCH_FILE} {when}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(cluster.read_file(MOVED, f"{topic}-0/{LEADER_EPOCH_FILE}"))
    yield QuestionAnswer(STARTS.format(when), [one.start_offset for one in epochs])
    leads_in = moving.await_view(lambda view: view.leader == MOVED, "broker 1 to lead").leader_epoch
    told = Questioner(cluster.client_address(MOVED), topic).epoch_end(leads_in, None)
    yield QuestionAnswer(END.format(when), told.end_offset if told.error is None else told.error)


def _joins(moving: CrashedPartition) -> bool:
    """Wait for a while until broker 2 is in the ISR."""
    end = time.monotonic() + PATIENCE_S
    view = moving.await_view(
        lambda view: set(view.isr) == set(BOTH) or time.monotonic() >= end, "broker 2 in the ISR, or the end of patience"
    )
    return set(view.isr) == set(BOTH)


def _error(moving: CrashedPartition, record_id: int, acks: Acks) -> str | None:
    """Send one record to the leader and return the error that its producer is told, if any."""
    sending = send(moving.place.cluster.client_address(MOVED), moving.topic, 0, record_id, acks)
    delivery = sending.await_delivery(DEADLINE_S)
    sending.close()
    return delivery.error


MOVED_REPLICA = MovedReplica()
