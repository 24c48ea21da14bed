"""A checkpoint is two equal probes with a fetch round between them; without that round it is no measurement."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.interruption import NeverAtRestError
from conformance.probes.admission import Admission
from conformance.probes.controller import ControllerView
from conformance.probes.replica_probe import ReplicaNumbers
from conformance.running import rest
from conformance.running.rest import Rest
from fault_injection.releases import find_release
from fault_injection.wire.rounds import Round
from oracle.vocabulary import BrokerId

FOLLOWER, LEADER = BrokerId(2), BrokerId(1)
QUESTIONS_PER_ROUND = 3


class _Cluster:
    zookeeper_address = None
    live_brokers = (LEADER, FOLLOWER)

    def __init__(self, version: str) -> None:
        self.spec = SimpleNamespace(release=find_release(version))

    def is_alive(self, broker: int) -> bool:
        return broker in self.live_brokers


class _Follower:
    """A follower that fetches in vain, seen through the gate: one round at every third question."""

    def __init__(self, story: list[str]) -> None:
        self._story = story
        self._rounds: list[Round] = []
        self._questions = 0
        self.rounds_max = 1_000

    def rounds_since(self, time_ns: int, *, topic: str, follower: int) -> tuple[Round, ...]:
        self._questions += 1
        if self._questions % QUESTIONS_PER_ROUND == 0 and len(self._rounds) < self.rounds_max:
            self._story.append("round")
            now = time.monotonic_ns()
            times = (now, now, now, now)
            self._rounds.append(Round(follower, LEADER, topic, 0, 3, 0, 0, *times, 0, 3, 0, None, None, None))
        return tuple(one for one in self._rounds if one.request_arrived_ns >= time_ns)

    def last_forwarded_fetch_offset(self, *_: object) -> int:
        return 3


class _Probe:
    def __init__(self, story: list[str]) -> None:
        self._story = story
        self.log_end_offsets: list[int] = []

    def controller_view(self, _: object) -> ControllerView:
        return ControllerView(LEADER, 0, (LEADER, FOLLOWER))

    def metadata(self, _: object) -> None:
        return None

    def admission(self, _: object) -> Admission:
        return Admission.ADMITTED

    def numbers(self, alive: dict[BrokerId, bool]) -> dict[BrokerId, ReplicaNumbers]:
        self._story.append("probe")
        end = self.log_end_offsets.pop(0) if self.log_end_offsets else 3
        return {broker: ReplicaNumbers(end, 3, alive=True) for broker in alive}


class _Partition:
    """A partition at rest and the story of what was asked of it."""

    def __init__(self, version: str = "4.3", min_insync_replicas: int = 1) -> None:
        self.story: list[str] = []
        self.follower, self.probe = _Follower(self.story), _Probe(self.story)
        self.rest = Rest(
            cast("Any", _Cluster(version)),
            cast("Any", self.follower),
            cast("Any", self.probe),
            "t",
            (LEADER, FOLLOWER),
            checks_checkpoint_files=False,
            min_insync_replicas=min_insync_replicas,
        )


def test_a_round_passes_between_the_two_probes_of_a_measurement() -> None:
    partition = _Partition()

    partition.rest.measure()

    first, second = (index for index, event in enumerate(partition.story) if event == "probe")
    assert "round" in partition.story[first:second]


def test_numbers_that_change_from_probe_to_probe_are_measured_again() -> None:
    partition = _Partition()
    partition.probe.log_end_offsets = [3, 4, 5, 5]

    measured = partition.rest.measure()

    assert partition.story.count("probe") == 4
    assert {numbers["log_end_offset"] for numbers in measured["replicas"].values()} == {5}


def test_a_follower_that_falls_silent_after_the_first_probe_is_never_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "REST_DEADLINE_S", 0.1)
    partition = _Partition()
    partition.follower.rounds_max = rest.QUIET_ROUNDS

    with pytest.raises(NeverAtRestError, match=r"another fetch round on every free link.*no fetch round of brokers"):
        partition.rest.measure()


def test_a_link_that_a_hold_catches_meanwhile_is_waited_for_no_longer() -> None:
    partition = _Partition()
    partition.follower.rounds_max = rest.QUIET_ROUNDS
    partition.rest.blocked = lambda: frozenset({(FOLLOWER, LEADER)}) if "probe" in partition.story else frozenset()

    partition.rest.measure()

    assert partition.story.count("probe") == 2


def test_since_3_7_a_minimum_above_the_replicas_keeps_no_leader_from_admitting() -> None:
    _Partition("3.7", min_insync_replicas=3).rest.wait(deadline_s=2)

    with pytest.raises(NeverAtRestError, match="answers a produce with"):
        _Partition("3.6", min_insync_replicas=3).rest.wait(deadline_s=0.5)
