"""Which silent follower leaves the ISR, when, and what does that do to those who wait?

Choices: nothing is measured between the silence and the wait for the lag time, which must not pass unasked.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, Question, Took, formula_ms
from conformance.catalogue.scenario import Scenario
from conformance.notes import first_at
from conformance.record.run import read_run
from conformance.record.schedule import read_schedule
from conformance.record.timeline import Event
from conformance.record.wire import ALTER_PARTITION, FETCH
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_lag,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    produce,
    release,
)
from conformance.wire_trace.partition import mentions, requests
from oracle.schedule import Schedule, Settings
from oracle.vocabulary import Acks, Expectation, Timing

if TYPE_CHECKING:
    from conformance.catalogue.questions import Expected
    from conformance.record.answers import Between
    from conformance.record.directory import RunDirectory
    from conformance.record.prediction import FrozenPrediction
    from oracle.rules.rule_set import RuleSet
    from oracle.steps.frames import Hold
    from oracle.steps.produce import Produce
    from oracle.steps.step import Step


# How does a follower fall silent until its leader removes it, and come back? Steps that several schedules share.


SILENT_LINK = hold_request("silence", follower=2, leader=1)
"""The fetch of broker 2 that its leader does not see."""
REMOVED = "broker 2 has left the ISR"
"""The checkpoint after that."""


def silent_until_removed(record: Produce, removed: str, silence: Hold = SILENT_LINK) -> tuple[Step, ...]:
    """Have broker 2 replicate m0, miss another record, and leave the ISR; measure a checkpoint then."""
    return (
        produce("m0"),
        silence,
        await_hold(silence.name),
        record,
        await_lag(2),
        await_isr(1),
        checkpoint(removed),
    )


def removed_while_a_record_waits(removed: str, silence: Hold = SILENT_LINK) -> tuple[Step, ...]:
    """Have m1 wait for broker 2 until that has left the ISR, and be acknowledged when m2 is appended at the latest."""
    return (
        *silent_until_removed(produce("m1", expect=Expectation.PENDING), removed, silence),
        produce("m2"),
        await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
    )


def removed_without(record: str) -> tuple[Step, ...]:
    """Have broker 2 leave the ISR for a record that its leader alone has."""
    return silent_until_removed(produce(record, acks=Acks.LEADER), REMOVED)


def heard_again(*records: Produce, silence: Hold = SILENT_LINK) -> tuple[Step, ...]:
    """Have broker 2 fetch again and join the ISR; produce records and measure the end."""
    return release(silence.name), await_isr(1, 2), *records, checkpoint("end")


# When did a leader remove a follower from the ISR, and how long was that after the follower's last fetch?
#
# From 2.7 on the leader asks the controller, and its AlterPartition (AlterIsr) is on the wire. Before, it writes the
# ISR to ZooKeeper itself; its log has the line "Shrinking ISR", with the time of day. run.json names one moment by
# both clocks: when the prediction was frozen.
#
# Choices: a node's log may be in any time zone; those differ by whole quarters of an hour, and no run lasts that long.


LAG_MS = 3_000
"""``replica.lag.time.max.ms`` under ``timing: lag``."""
QUARTER_NS = 15 * 60 * 10**9
LINE = re.compile(r"^\[(?P<time>[\d-]{10} [\d:]{8},\d{3})\] INFO .*Shrinking ISR ")
TIME = "%Y-%m-%d %H:%M:%S,%f"


def leaves_within(look_ms: int = 0) -> Between:
    """Return the formula of ``ReplicaManager.startup``: looked at every half lag time, out when behind for longer.

    Args:
        look_ms: how long after the decision the tester may see it.
    """
    return formula_ms(LAG_MS, LAG_MS * 3 // 2 + look_ms)


def last_fetch_before(run: RunDirectory, follower: int, leader: int, before_ns: int) -> int:
    """Return when the gate let the last fetch of a follower through to its leader before a moment.

    Raises:
        NotSeenError: it let none through.
    """
    passed = [
        frame.forwarded_ns
        for frame, _ in requests(run, source=follower, destination=leader)
        if frame.api == FETCH and frame.forwarded_ns is not None and frame.forwarded_ns < before_ns
    ]
    if not passed:
        raise NotSeenError(f"no fetch of broker {follower} reached broker {leader}")
    return passed[-1]


def shrunk_at(run: RunDirectory, leader: int, since_ns: int) -> int:
    """Return when a leader first removed somebody from the ISR after a moment: by the wire, else by its log.

    Raises:
        NotSeenError: neither shows it.
    """
    wished = _wished_at(run, leader, since_ns)
    return _logged_at(run, leader, since_ns) if wished is None else wished


def _wished_at(run: RunDirectory, leader: int, since_ns: int) -> int | None:
    replicas = len(read_schedule(run).replicas)
    for frame, entry in mentions(run):
        is_wish = frame.is_request(ALTER_PARTITION) and frame.source == leader
        if is_wish and frame.arrived_ns > since_ns and len(entry.new_isr) < replicas:
            return frame.arrived_ns
    return None


def _logged_at(run: RunDirectory, leader: int, since_ns: int) -> int:
    topic = read_run(run).topic or ""
    log = run.path / "brokers" / str(leader) / "server.log"
    text = log.read_text(encoding="utf-8") if log.exists() else ""
    for line in text.splitlines():
        found = LINE.match(line) if topic in line else None
        if found is not None and (at_ns := _monotonic(run, found["time"], since_ns)) > since_ns:
            return at_ns
    raise NotSeenError(f"broker {leader} neither proposed a smaller ISR nor logged that it shrank it")


def _monotonic(run: RunDirectory, logged: str, near_ns: int) -> int:
    """Return the moment of a log line on the tester's clock, within seven minutes of another moment."""
    frozen = read_run(run).prediction
    assert frozen is not None, "a run is examined after its prediction was frozen"
    passed = datetime.strptime(logged, TIME).replace(tzinfo=UTC) - datetime.fromisoformat(frozen.frozen_at)
    at_ns = frozen.frozen_ns + int(passed.total_seconds() * 10**9)
    return at_ns - round((at_ns - near_ns) / QUARTER_NS) * QUARTER_NS


def _within_lag(_rules: RuleSet, _prediction: FrozenPrediction) -> Expected:
    return leaves_within()


def _silence(run: RunDirectory) -> Took:
    caught = first_at(run, Event.HOLD_CAUGHT, "silence")
    last = last_fetch_before(run, 2, 1, caught)
    return Took(last, shrunk_at(run, 1, last))


SILENCE = Question(
    "milliseconds from the last fetch of broker 2 that reached its leader to its removal from the ISR",
    _within_lag,
    _silence,
)

LEAVES_IN_TIME = Scenario(
    name="IS-01",
    explanation=(
        "Broker 2 falls silent with one record missing. Its leader looks every 1.5 s for followers that were not "
        "caught "
        "up for longer than 3 s: it is removed between 3.0 and 4.5 s after its last fetch."
    ),
    schedule=Schedule(
        id="in-sync-replicas/silent-follower-leaves-in-time",
        requirement=(
            "A follower that lacks a record and falls silent leaves the ISR between 1.0 and 1.5 times "
            "replica.lag.time.max.ms after its last fetch at the leader's end."
        ),
        sources=("IS-01", "002", "003", "004"),
        replicas=brokers(1, 2),
        timing=Timing.LAG,
        steps=(*removed_without("m1"), *heard_again(produce("m2"))),
    ),
    questions=(SILENCE,),
)

SILENCE_ALONE = Scenario(
    name="IS-04",
    explanation=(
        "Broker 2 has every record when it falls silent, and nothing is produced. From 2.1 on it stays in the ISR; "
        "up to "
        "2.0 its silence alone puts it out, and its next fetch brings it back."
    ),
    schedule=Schedule(
        id="in-sync-replicas/silence-alone-removes-nobody",
        requirement=(
            "From 2.1 on a follower whose log ends where the leader's does is still in the ISR when it was silent for "
            "as long as puts out one that lacks a record; before, it leaves like any other one."
        ),
        sources=("IS-04", "IS-03", "003", "004", "KAFKA-7152"),
        replicas=brokers(1, 2),
        timing=Timing.LAG,
        steps=(
            produce("m0"),
            hold_request("silence", follower=2, leader=1, fetch_offset=1),
            await_hold("silence"),
            await_lag(2),
            checkpoint("broker 2 was silent for the lag time and has everything"),
            *heard_again(produce("m1")),
        ),
    ),
)

COMPLETES_WAITING = Scenario(
    name="IS-05",
    explanation=(
        "m1 waits for broker 2, which is silent. When broker 2 is out of the ISR, the leader alone is all that "
        "counts: "
        "its high watermark rises and m1 is acknowledged. From 2.7 to 3.0 nobody looks then (KAFKA-13091): m1 waits "
        "until m2 is appended."
    ),
    schedule=Schedule(
        id="in-sync-replicas/shrink-raises-the-high-watermark",
        requirement=(
            "When a replica leaves the ISR the leader's high watermark rises to the end of those who are left, and "
            "the "
            "acks=all produces that waited for it are acknowledged."
        ),
        sources=("IS-05", "HW-07", "AC-02", "003", "KAFKA-13091"),
        replicas=brokers(1, 2),
        settings=Settings(min_insync_replicas=1, unclean_leader_election=False),
        timing=Timing.LAG,
        steps=(
            *removed_while_a_record_waits("broker 2 has left the ISR"),
            checkpoint("m2 is appended"),
            *heard_again(produce("m3")),
        ),
    ),
)

SCENARIOS = (LEAVES_IN_TIME, SILENCE_ALONE, COMPLETES_WAITING)
