"""Is a broker's death or return awaited of those that hear the controller, and of nobody else?"""

from __future__ import annotations

import json
from contextlib import nullcontext, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.interruption import AwaitedStateMissingError, HarnessError
from conformance.running import lag_time, processes
from conformance.running.processes import Processes
from conformance.running.recorder import Recorder
from fault_injection.cluster import readiness
from fault_injection.cluster.backend import ProcessState
from fault_injection.faults.account import FaultAccount
from fault_injection.faults.process import KillProcess as KillFault
from fault_injection.waiting import DeadlineExceededError
from oracle.steps.brokers import Kill, KillTogether, LoseTail, Start
from oracle.vocabulary import BrokerId, Offset, Timing

if TYPE_CHECKING:
    from pathlib import Path

ALL = frozenset({1, 2, 3})
WITHOUT_ONE = frozenset({2, 3})
LIVE = (1, 2, 3)
STALE = {1: ALL, 2: WITHOUT_ONE, 3: ALL}
"""Broker 2 has not heard that broker 1 is back; the others have."""


HEALTHY: dict[str, Any] = {"check_alive": lambda *_: None, "end_hung": lambda *_: None}
"""What a cluster does whose brokers all run."""


def _ends(
    monkeypatch: pytest.MonkeyPatch,
    directory: Path,
    step: Kill | Start,
    views: dict[int, frozenset[int]],
    unreachable: frozenset[int],
) -> bool:
    """Return whether a step ends, given which brokers each live broker knows."""
    dead: set[int] = set()
    cluster = SimpleNamespace(
        live_brokers=tuple(views),
        zookeeper_address=None,
        client_address=lambda broker: broker,
        logs_since_launch=dict,
        kill=lambda *brokers: dead.update(brokers),
        start_broker=dead.discard,
        is_alive=lambda broker: broker not in dead,
        process_state=lambda _: ProcessState(137),
        **HEALTHY,
    )
    faults = FaultAccount(cast("Any", cluster), checks_health=False)
    monkeypatch.setattr(readiness, "brokers_known_to", views.get)
    for waits in (processes, lag_time):
        monkeypatch.setattr(waits, "DEADLINE_S", 0.05)
    with Recorder(directory) as recorder:
        ending = Processes(
            cast("Any", cluster),
            recorder,
            "t",
            Timing.SESSION,
            holding=cast("Any", SimpleNamespace(discharge=lambda _: None, unreachable=lambda: unreachable)),
            faults=faults,
            await_view=lambda *_: None,
        )
        if isinstance(step, Start):
            faults.inject(KillFault(1))
        with suppress(DeadlineExceededError, AwaitedStateMissingError):
            ending.take(step)
            return True
    return False


@pytest.mark.parametrize(
    ("views", "unreachable", "ends"),
    [
        ({2: WITHOUT_ONE, 3: WITHOUT_ONE}, frozenset(), True),
        ({2: ALL, 3: WITHOUT_ONE}, frozenset({2}), True),
        ({2: ALL, 3: WITHOUT_ONE}, frozenset(), False),
        ({2: WITHOUT_ONE, 3: ALL}, frozenset({2}), False),
    ],
)
def test_a_death_is_awaited_of_those_who_hear_of_it(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    views: dict[int, frozenset[int]],
    unreachable: frozenset[int],
    ends: bool,
) -> None:
    assert _ends(monkeypatch, tmp_path, Kill(BrokerId(1)), views, unreachable) is ends


@pytest.mark.parametrize(
    ("views", "unreachable", "ends"),
    [
        (dict.fromkeys(LIVE, ALL), frozenset(), True),
        (STALE, frozenset({2}), True),
        (STALE, frozenset(), False),
        (STALE, frozenset({3}), False),
        ({2: WITHOUT_ONE, 3: ALL}, frozenset({2}), False),
    ],
)
def test_a_return_is_awaited_of_those_who_hear_of_it(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    views: dict[int, frozenset[int]],
    unreachable: frozenset[int],
    ends: bool,
) -> None:
    assert _ends(monkeypatch, tmp_path, Start(BrokerId(1)), views, unreachable) is ends


def test_brokers_that_are_killed_together_get_their_signals_at_once_and_are_healed_with_the_last(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dead: set[int] = set()
    kills: list[tuple[int, ...]] = []

    def kill(*brokers: int) -> None:
        kills.append(brokers)
        dead.update(brokers)

    cluster = SimpleNamespace(
        zookeeper_address=None,
        kill=kill,
        start_broker=dead.discard,
        is_alive=lambda broker: broker not in dead,
        process_state=lambda _: ProcessState(137),
        **HEALTHY,
    )
    faults = FaultAccount(cast("Any", cluster), checks_health=False)
    for wait in ("await_return", "await_unregistered"):
        monkeypatch.setattr(processes, wait, lambda *_, **__: None)
    with Recorder(tmp_path) as recorder:
        ending = Processes(
            cast("Any", cluster),
            recorder,
            "t",
            Timing.SESSION,
            holding=cast("Any", SimpleNamespace(discharge=lambda _: None, unreachable=frozenset)),
            faults=faults,
            await_view=lambda *_: None,
        )
        ending.take(KillTogether((BrokerId(1), BrokerId(2))))
        assert kills == [(1, 2)]
        ending.take(Start(BrokerId(2)))
        assert (dead, len(faults.standing)) == ({1}, 1)
        ending.take(Start(BrokerId(1)))
        assert (dead, faults.standing) == (set(), ())
        with pytest.raises(HarnessError, match="broker 1 is to start, and no step has ended it"):
            ending.take(Start(BrokerId(1)))


def test_a_lost_tail_is_noted_with_its_first_offset(tmp_path: Path) -> None:
    faults = SimpleNamespace(inject=lambda _: SimpleNamespace(done="what was lost, in words"))
    with Recorder(tmp_path) as recorder:
        losing = Processes(
            cast("Any", SimpleNamespace(end_hung=lambda _: None, files=lambda _: ())),
            recorder,
            "t",
            Timing.SESSION,
            holding=cast("Any", SimpleNamespace(unreachable=frozenset)),
            faults=cast("Any", faults),
            await_view=lambda *_: None,
        )
        losing.take(LoseTail(BrokerId(1), Offset(4)))
    (mark,) = map(json.loads, (tmp_path / "timeline.ndjson").read_text().splitlines())
    assert (mark["event"], mark["subject"], mark["offset"]) == ("tail_lost", "1", 4)


@pytest.mark.parametrize(("unlisted", "ends"), [(frozenset({3}), True), (frozenset(), False)])
def test_a_fenced_broker_need_not_be_listed_when_another_returns(
    monkeypatch: pytest.MonkeyPatch, unlisted: frozenset[int], ends: bool
) -> None:
    views = {1: frozenset({1, 2}), 2: frozenset({1, 2})}
    cluster = SimpleNamespace(
        live_brokers=LIVE, zookeeper_address=None, client_address=lambda broker: broker, check_alive=lambda *_: None
    )
    monkeypatch.setattr(readiness, "brokers_known_to", views.get)

    with nullcontext() if ends else pytest.raises(DeadlineExceededError):
        readiness.await_registered(
            cast("Any", cluster), 2, deadline_s=0.05, unreachable=lambda: frozenset({3}), unlisted=lambda: unlisted
        )
