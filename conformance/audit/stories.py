"""Which steps show what a topic's settings lose, or what they stop? One story a mistake, for any number of replicas.

A story is told twice: with the settings that were read, and with the mended ones. It expects nothing of its records,
so that it can be told either way; what must become of them is asked of the prediction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    checkpoint,
    hold_request,
    kill,
    lose_tail,
    produce,
    start,
    stop,
)
from oracle.vocabulary import Acks, Expectation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.steps.produce import Produce
    from oracle.steps.step import Step

PATIENCE_MS = 3000
"""How long a producer of a story waits."""


@dataclass(frozen=True, slots=True)
class TopicCase:
    """A topic with the settings that decide about its records, and what happens to its replicas.

    Attributes:
        replicas: how many a partition has.
        min_isr: min.insync.replicas.
        unclean: unclean.leader.election.enable.
        acks: what its producers wait for.
        eligible: whether the cluster has eligible leader replicas; None for what new clusters of the release have.
        away: how many replicas are not in sync; where nobody leads, how many are not back of those that could.
        is_spread: whether a power failure reaches one replica only, or all; None where no machine loses power.
    """

    replicas: int = 3
    min_isr: int = 2
    unclean: bool = False
    acks: Acks = Acks.ALL
    eligible: bool | None = None
    away: int = 0
    is_spread: bool | None = None

    @property
    def followers(self) -> range:
        """Return the brokers that do not lead at first."""
        return range(2, self.replicas + 1)

    @property
    def everybody(self) -> range:
        """Return the brokers of all replicas."""
        return range(1, self.replicas + 1)

    @property
    def in_sync(self) -> int:
        """Return how many replicas are in sync: those of the first brokers."""
        return self.replicas - self.away


Story: TypeAlias = Callable[[TopicCase], "tuple[Step, ...]"]


def _send(label: str, acks: Acks = Acks.ALL) -> Produce:
    return produce(label, acks=acks, expect=Expectation.ANY, timeout_ms=PATIENCE_MS)


def _start(*brokers: int) -> Iterator[Step]:
    return map(start, brokers)


def _end(case: TopicCase) -> tuple[Step, ...]:
    return await_isr(*case.everybody), checkpoint("end")


def only_disk_is_lost(case: TopicCase) -> tuple[Step, ...]:
    """Let the leader's machine lose power, and what it had not flushed."""
    return (_send("m0"), kill(1), lose_tail(1, 0), _send("m1"), start(1), *_end(case))


def lone_leader_forgets(case: TopicCase) -> tuple[Step, ...]:
    """Stop every follower, produce to the leader alone, and let its machine lose power, and that record."""
    return (
        _send("m0"),
        *map(stop, case.followers),
        await_isr(1),
        _send("m1"),
        checkpoint("broker 1 is alone"),
        kill(1),
        *((lose_tail(1, 1),) if case.min_isr == 1 else ()),
        *_start(*case.everybody),
        *_end(case),
    )


def one_of_two_is_down(case: TopicCase) -> tuple[Step, ...]:
    """Stop one follower and produce; where that is taken, the leader's machine then loses power, and that record."""
    return (
        _send("m0"),
        stop(2),
        _send("m1"),
        checkpoint("broker 2 is down"),
        kill(1),
        *((lose_tail(1, 1),) if case.min_isr < case.replicas else ()),
        *_start(1, 2),
        *_end(case),
    )


def leader_dies_ahead(case: TopicCase) -> tuple[Step, ...]:
    """Kill a leader whose last record no follower has fetched."""
    return (
        _send("m0", case.acks),
        *_hold_followers(case),
        _send("m1", case.acks),
        checkpoint("only broker 1 has m1"),
        kill(1),
        await_leader(2),
        start(1),
        *_end(case),
    )


def _hold_followers(case: TopicCase) -> Iterator[Step]:
    names = {one: f"fetch of {one}" for one in case.followers}
    yield from (hold_request(name, follower=one, leader=1, fetch_offset=1) for one, name in names.items())
    yield from map(await_hold, names.values())


def one_restart(case: TopicCase) -> tuple[Step, ...]:
    """Stop one follower, produce, and start it again."""
    last = case.replicas
    others = range(1, last) if last > 1 else ()
    down = (stop(last), await_isr(*others), _send("m1"), checkpoint("one is down"), start(last)) if others else ()
    return (_send("m0"), *down, *_end(case))


def first_to_crash_is_back_first(case: TopicCase) -> tuple[Step, ...]:
    """Kill a follower, produce, kill all others, and let that follower be back before them."""
    last = case.replicas
    return (
        _send("m0"),
        kill(last),
        await_isr(*range(1, last)),
        _send("m1"),
        *map(kill, range(last - 1, 0, -1)),
        await_leader(None),
        start(last),
        checkpoint("the first to crash is back, and lacks m1"),
        *_start(*range(1, last)),
        *_end(case),
    )


def last_in_sync_forgets(case: TopicCase) -> tuple[Step, ...]:
    """Stop every follower; the last one in sync crashes, its disk forgets, and it is back first (EL-06)."""
    return (
        _send("m0"),
        *map(stop, reversed(case.followers)),
        await_isr(1),
        kill(1),
        lose_tail(1, 0),
        *_start(*case.everybody),
        *_end(case),
    )


def producing_now(case: TopicCase) -> tuple[Step, ...]:
    """Produce while the replicas are away that were."""
    return (*_away(case), _send("m1"), checkpoint("now"), *_back(case))


def next_failure(case: TopicCase) -> tuple[Step, ...]:
    """Kill one more replica than are away, and produce."""
    return (*_away(case), kill(case.in_sync), _send("m1"), checkpoint("one more is down"), *_back(case, failed=1))


def failures_that_it_should_bear(case: TopicCase) -> tuple[Step, ...]:
    """Kill as many replicas as leave enough in sync, if none were away before, and produce."""
    failed = min(case.replicas - case.min_isr, case.in_sync)
    killed = map(kill, range(case.in_sync, case.in_sync - failed, -1))
    return (*_away(case), *killed, _send("m1"), checkpoint(f"{failed} more are down"), *_back(case, failed=failed))


def failure_in_a_roll(case: TopicCase) -> tuple[Step, ...]:
    """Restart one more replica than are away; meanwhile one is killed, and producers go on."""
    roll = stop(case.in_sync), kill(case.in_sync - 1)
    return (*_away(case), *roll, _send("m1"), checkpoint("one restarts, one has failed"), *_back(case, failed=2))


def _away(case: TopicCase) -> Iterator[Step]:
    yield _send("m0")
    yield from (stop(one) for one in range(case.replicas, case.in_sync, -1))
    yield await_isr(*range(1, case.in_sync + 1))


def _back(case: TopicCase, failed: int = 0) -> Iterator[Step]:
    yield from _start(*range(case.in_sync - failed + 1, case.replicas + 1))
    yield from _end(case)


def nobody_may_lead(case: TopicCase) -> tuple[Step, ...]:
    """Stop every follower and kill the leader; whoever is back then lacks nothing, and may not lead all the same."""
    last = case.replicas
    return _leaderless(case, awaited=1, back=last)


def eligible_is_away(case: TopicCase) -> tuple[Step, ...]:
    """Do the same with eligible leader replicas: the leader crashed and is back, who stopped in order is not."""
    return _leaderless(case, awaited=2, back=1)


def _leaderless(case: TopicCase, awaited: int, back: int) -> tuple[Step, ...]:
    """Start one that may not lead, and the one that all wait for, or not yet; produce; start the others."""
    first = tuple(case.everybody) if case.away == 0 else (back,)
    return (
        _send("m0"),
        *map(stop, reversed(case.followers)),
        await_isr(1),
        kill(1),
        await_leader(None),
        *_start(*first),
        *((await_isr(*case.everybody),) if case.away == 0 else ()),
        _send("m1"),
        checkpoint(f"broker {awaited} is {'back' if case.away == 0 else 'awaited'}"),
        *_start(*(one for one in case.everybody if one not in first)),
        *_end(case),
    )


def power_fails(case: TopicCase) -> tuple[Step, ...]:
    """Let the machines of all replicas lose power, or that of one where they are spread, and all unflushed records."""
    reached = (1,) if case.is_spread else tuple(reversed(case.everybody))
    return (
        _send("m0"),
        checkpoint("every replica has m0"),
        *map(kill, reached),
        *(lose_tail(one, 0) for one in reached),
        *_start(*sorted(reached)),
        *_end(case),
    )
