"""When did a leader remove a follower from the ISR, and how long was that after the follower's last fetch?

From 2.7 on the leader asks the controller, and its AlterPartition (AlterIsr) is on the wire. Before, it writes the
ISR to ZooKeeper itself; its log has the line "Shrinking ISR", with the time of day. run.json names one moment by
both clocks: when the prediction was frozen.

Choices: a node's log may be in any time zone; those differ by whole quarters of an hour, and no run lasts that long.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from conformance.catalogue.questions import NotSeenError, Took, formula_ms
from conformance.notes import checkpoints, first_at
from conformance.record.run import read_run
from conformance.record.schedule import read_schedule
from conformance.record.timeline import Event
from conformance.record.wire import ALTER_PARTITION, FETCH, UPDATE_METADATA
from conformance.wire_trace.partition import mentions, requests

if TYPE_CHECKING:
    from conformance.record.answers import Between, Value
    from conformance.record.directory import RunDirectory
    from conformance.record.wire import TracedFrame
    from conformance.wire_trace.partition import Mention

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


def silence_before_shrink(run: RunDirectory) -> Took:
    """Return how long broker 2 was silent when leader 1 removed it from the ISR."""
    caught = first_at(run, Event.HOLD_CAUGHT, "silence")
    last = last_fetch_before(run, 2, 1, caught)
    return Took(last, shrunk_at(run, 1, last))


# Which frames and notices carried a smaller ISR to a broker without a replica, and when?


WRITTEN_AND_REMOVED = 2
"""A notice changes the children of its node twice."""

LEADER, OTHER = 1, 3
"""Broker 3 has no replica of the partition: what it knows of the ISR it has been told."""

SMALLER_ISR = (1,)


def notices(run: RunDirectory, begin: str, end: str) -> Value:
    """Return how many notices of a changed ISR were written and read in ZooKeeper between two checkpoints.

    Raises:
        NotSeenError: one of the two was never measured.
    """
    counted = {seen.name: seen.isr_notices for seen in checkpoints(run) if seen.isr_notices is not None}
    if not {begin, end} <= counted.keys():
        raise NotSeenError("the notices in ZooKeeper were not counted at both checkpoints")
    return (counted[end] - counted[begin]) // WRITTEN_AND_REMOVED


def path_of_the_news(run: RunDirectory) -> Value:
    """Return which frames carried the smaller ISR, from the leader to a broker without a replica.

    Raises:
        NotSeenError: that broker was never told.
    """
    told, since_ns = _told(run), first_at(run, Event.HOLD_CAUGHT, "silence")
    asked = [m.frame for m in mentions(run) if _asks_for_less(m) and since_ns < m.frame.arrived_ns < told.arrived_ns]
    return [*(frame.api for frame in asked[:1]), told.api]


def delay_of_the_news(run: RunDirectory) -> Took:
    """Return how long after the shrink the other broker was told.

    Raises:
        NotSeenError: it was never told, or nobody shrank the ISR.
    """
    told = _told(run)
    assert told.forwarded_ns is not None, "a frame that was not forwarded tells nobody"
    return Took(shrunk_at(run, LEADER, first_at(run, Event.HOLD_CAUGHT, "silence")), told.forwarded_ns)


def _asks_for_less(mention: Mention) -> bool:
    is_wish = mention.frame.is_request(ALTER_PARTITION) and mention.frame.source == LEADER
    return is_wish and mention.entry.new_isr == SMALLER_ISR


def _told(run: RunDirectory) -> TracedFrame:
    since_ns = first_at(run, Event.HOLD_CAUGHT, "silence")
    for frame, entry in mentions(run):
        is_to_other = (frame.api == UPDATE_METADATA and frame.destination == OTHER) or (
            frame.is_answer(FETCH) and frame.source == OTHER
        )
        is_news = frame.forwarded_ns is not None and frame.forwarded_ns > since_ns
        if is_to_other and is_news and entry.isr == SMALLER_ISR:
            return frame
    raise NotSeenError(f"nothing told broker {OTHER} that the ISR is {SMALLER_ISR}")
