"""Which crash is the worst for which settings?

Found by the explorer (``kafka-conformance guarantees --write-schedule``), then written so that one schedule is the
worst that kill -9 can do on every release of the ladder; the tests hold them against the guarantee table. Disks that
forget are left out: power failures are in the table too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    checkpoint,
    hold_request,
    hold_response,
    kill,
    produce,
    start,
)
from oracle.vocabulary import Acks, Expectation

if TYPE_CHECKING:
    from oracle.steps.produce import Produce
    from oracle.steps.step import Step

Steps = tuple["Step", ...]


def refused(label: str) -> Produce:
    """Send a record that too few replicas are in sync for."""
    return produce(label, expect=Expectation.REFUSED, error="NOT_ENOUGH_REPLICAS")


def minimum_exceeds_the_replicas() -> Steps:
    """Ask for more replicas in sync than there are: refused always, or since 3.7 once one of the two is down."""
    return (
        produce("m0", expect=Expectation.ANY),
        kill(1),
        await_leader(2),
        refused("m1"),
        start(1),
        await_isr(1, 2),
        checkpoint("end"),
    )


def leader_dies_ahead(replicas: int, acks: Acks) -> Steps:
    """Kill a leader whose last record no follower has; nobody waits for followers, so nothing is refused."""
    followers = range(2, replicas + 1)
    return (
        produce("m0", acks=acks, expect=Expectation.ANY),
        *(hold_request(f"fetch of {n}", follower=n, leader=1, fetch_offset=1) for n in followers),
        *(await_hold(f"fetch of {n}") for n in followers),
        produce("m1", acks=acks, expect=Expectation.ANY),
        checkpoint("only the leader has m1"),
        kill(1),
        await_leader(2),
        produce("m2", acks=acks, expect=Expectation.ANY),
        start(1),
        await_isr(*range(1, replicas + 1)),
        checkpoint("end"),
    )


def lone_leader_is_followed_by_less(replicas: int, acks: Acks) -> Steps:
    """Kill all but broker 2, which leads; then it too, and start broker 1, which lacks what broker 2 took alone.

    Nobody asks for the minimum: m3 is taken with one replica in sync, and shown only where the minimum allows it. Where
    unclean election is on, broker 1 leads and m3 is lost; where it is off, nobody leads until broker 2 is back.
    """
    others = [n for n in range(1, replicas + 1) if n != 2]
    return (
        *(kill(n) for n in others),
        await_isr(2),
        produce("m3", acks=acks, expect=Expectation.ANY),
        checkpoint("broker 2 is alone and has m3"),
        kill(2),
        start(1),
        produce("m4", acks=acks, expect=Expectation.ANY, timeout_ms=3000),
        checkpoint("broker 1 is back and lacks m3"),
        *(start(n) for n in range(2, replicas + 1)),
        await_isr(*range(1, replicas + 1)),
        checkpoint("all are back"),
    )


def lone_leader_dies(attempt: Produce) -> Steps:
    """Kill a leader that was alone in sync, two replicas and clean elections only: everybody waits for it."""
    return (
        produce("m0"),
        kill(2),
        await_isr(1),
        attempt,
        kill(1),
        await_leader(None),
        start(2),
        await_leader(None),
        checkpoint("broker 2 is up and may not lead"),
        start(1),
        await_leader(1),
        await_isr(1, 2),
        checkpoint("end"),
    )


def both_lead_alone() -> Steps:
    """Let each of two replicas lead without the other, then let the one that was cut short follow and lead again.

    Up to 1.1 the second of two leaders in a row does not tell the follower where the first one's records end (KIP-279).
    """
    return (
        kill(2),
        await_isr(1),
        produce("m0"),
        kill(1),
        start(2),
        produce("m1", expect=Expectation.ANY, timeout_ms=3000),
        checkpoint("broker 2 is alone and lacks m0"),
        start(1),
        kill(2),
        start(2),
        await_isr(1, 2),
        checkpoint("end"),
    )


def restarted_follower_leads() -> Steps:
    """Restart a follower that has m0 and not the high watermark that commits it, and kill the leader."""
    return (
        hold_response("answer", follower=2, leader=1, fetch_offset=1),
        produce("m0"),
        await_hold("answer"),
        kill(2),
        await_isr(1),
        refused("m1"),
        hold_request("refetch", follower=2, leader=1),
        start(2),
        await_hold("refetch"),
        checkpoint("broker 2 is back, its first fetch held"),
        kill(1),
        start(1),
        await_isr(1, 2),
        checkpoint("end"),
    )


def follower_of_a_new_leader_leads() -> Steps:
    """Kill two leaders in a row: broker 3 followed both and never learned that m0 is committed (TR-02)."""
    return (
        hold_response("answer", follower=3, leader=1, fetch_offset=1),
        produce("m0"),
        await_hold("answer"),
        hold_request("fetch from 2", follower=3, leader=2),
        kill(1),
        await_leader(2),
        await_hold("fetch from 2"),
        checkpoint("broker 3 follows broker 2"),
        kill(2),
        await_leader(3),
        produce("m1", acks=Acks.LEADER),
        checkpoint("broker 3 leads"),
        start(1),
        start(2),
        await_isr(1, 2, 3),
        checkpoint("all are back"),
    )


def replica_outside_the_isr_leads() -> Steps:
    """Kill the last replicas in sync while one is back that has not fetched yet; broker 3 leads at first."""
    return (
        kill(1),
        await_isr(2, 3),
        produce("m2"),
        kill(2),
        await_isr(3),
        hold_request("refetch", follower=1, leader=3),
        start(1),
        await_hold("refetch"),
        checkpoint("broker 1 is back and lacks m2"),
        kill(3),
        start(3),
        start(2),
        await_isr(1, 2, 3),
        checkpoint("end"),
    )
