"""A checkpoint is two equal probes with a fetch round between them; without that round it is no measurement."""

from __future__ import annotations

import time
from typing import Any, cast

import pytest

from conformance.interruption import InconclusiveError
from conformance.probes.controller import CommittedPartition
from conformance.probes.replica import Admission
from conformance.probes.replica_probe import ProbedNumbers, WrittenDown
from conformance.running import rest
from conformance.running.rest import Rest
from fault_injection.wire.rounds import Round
from oracle.vocabulary import BrokerId

FOLLOWER, LEADER, OTHER = BrokerId(2), BrokerId(1), BrokerId(3)
QUESTIONS_PER_ROUND = 3


class _Cluster:
    zookeeper_address = None
    live_brokers = (LEADER, FOLLOWER)

    def is_alive(self, broker: int) -> bool:
        return broker in self.live_brokers

    def check_alive(self, *_: int) -> None:
        """All of them run."""


class _Follower:
    """A follower that fetches in vain, seen through the gate: one round at every third question."""

    def __init__(self, story: list[str]) -> None:
        self._story = story
        self._rounds: list[Round] = []
        self._questions = 0
        self.rounds_max = 1_000
        self.high_watermark = 3
        self.known: tuple[int | None, int | None] = 3, None

    def rounds_since(self, time_ns: int, *, topic: str, partition: int, follower: int) -> tuple[Round, ...]:
        assert partition == 0, "what other partitions fetch says nothing of the one that the run is about"
        self._questions += 1
        if self._questions % QUESTIONS_PER_ROUND == 0 and len(self._rounds) < self.rounds_max:
            self._story.append("round")
            now = time.monotonic_ns()
            times = (now, now, now, now)
            self._rounds.append(_idle_round(follower, topic, times, self.high_watermark))
        return tuple(one for one in self._rounds if one.request_arrived_ns >= time_ns)

    def last_forwarded_fetch_offset(self, *_: object) -> int | None:
        return self.known[0]

    def diverging_fetch_offset(self, *_: object) -> int | None:
        return self.known[1]


def _idle_round(follower: int, topic: str, times: tuple[int, int, int, int], high_watermark: int) -> Round:
    return Round(follower, LEADER, topic, 0, 3, 0, 0, *times, 0, high_watermark, 0, None, None, None)


class _Probe:
    def __init__(self, story: list[str]) -> None:
        self._story = story
        self.in_sync: tuple[BrokerId, ...] = (LEADER, FOLLOWER)
        self.admits = Admission.ADMITTED
        self.log_end_offsets: list[int] = []
        self.asked_who_leads: list[BrokerId] = []

    def controller_view(self, brokers: list[BrokerId]) -> CommittedPartition:
        self.asked_who_leads = brokers
        return CommittedPartition(LEADER, 0, self.in_sync)

    def written_down(self, _: object) -> WrittenDown:
        return WrittenDown({}, 0)

    def metadata(self, _: object) -> None:
        return None

    def admission(self, _: object) -> Admission:
        return self.admits

    def numbers(self, alive: dict[BrokerId, bool], _untold: frozenset[int]) -> dict[BrokerId, ProbedNumbers]:
        self._story.append("probe")
        end = self.log_end_offsets.pop(0) if self.log_end_offsets else 3
        return {broker: ProbedNumbers(end, 3, alive=True) for broker in alive}


class _Partition:
    """A partition at rest and the story of what was asked of it."""

    def __init__(self, min_insync_replicas: int = 1) -> None:
        self.story: list[str] = []
        self.follower, self.probe = _Follower(self.story), _Probe(self.story)
        self.rest = Rest(
            cast("Any", _Cluster()),
            cast("Any", self.follower),
            cast("Any", self.probe),
            "t",
            (LEADER, FOLLOWER),
            checks_checkpoint_files=False,
            min_insync_replicas=min_insync_replicas,
        )


def test_a_round_passes_between_the_two_probes_of_a_measurement() -> None:
    partition = _Partition()

    partition.rest.measure("end")

    first, second = (index for index, event in enumerate(partition.story) if event == "probe")
    assert "round" in partition.story[first:second]


def test_numbers_that_change_from_probe_to_probe_are_measured_again() -> None:
    partition = _Partition()
    partition.probe.log_end_offsets = [3, 4, 5, 5]

    measured = partition.rest.measure("end")

    assert partition.story.count("probe") == 4
    assert {numbers.log_end_offset for numbers in measured.replicas.values()} == {5}


def test_a_follower_that_falls_silent_after_the_first_probe_is_never_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "REST_DEADLINE_S", 0.1)
    partition = _Partition()
    partition.follower.rounds_max = rest.QUIET_ROUNDS

    with pytest.raises(InconclusiveError, match=r"another fetch round on every free link.*no fetch round of brokers"):
        partition.rest.measure("end")


def test_a_link_that_a_hold_catches_meanwhile_is_waited_for_no_longer() -> None:
    partition = _Partition()
    partition.follower.rounds_max = rest.QUIET_ROUNDS
    partition.rest.blocked = lambda: frozenset({(FOLLOWER, LEADER)}) if "probe" in partition.story else frozenset()

    partition.rest.measure("end")

    assert partition.story.count("probe") == 2


@pytest.mark.parametrize(
    ("in_sync", "minimum", "obeying"),
    [
        (2, 2, {Admission.ADMITTED}),
        (1, 2, {Admission.TOO_FEW_IN_SYNC}),
        (2, 3, {Admission.ADMITTED, Admission.TOO_FEW_IN_SYNC}),
        (1, 3, {Admission.TOO_FEW_IN_SYNC}),
    ],
)
def test_a_leader_is_waited_for_until_it_obeys_by_any_release_s_rule(
    in_sync: int, minimum: int, obeying: set[Admission]
) -> None:
    for admission in Admission:
        partition = _Partition(min_insync_replicas=minimum)
        partition.probe.in_sync, partition.probe.admits = (LEADER, FOLLOWER)[:in_sync], admission
        partition.follower.high_watermark = 4  # a follower that is not in sync is not caught up either
        if admission in obeying:
            partition.rest.wait(deadline_s=2)
            continue
        with pytest.raises(InconclusiveError, match="answers a produce with"):
            partition.rest.wait(deadline_s=0.5)


@pytest.mark.parametrize(
    ("certain", "diverging", "in_sync", "known", "instead"),
    [
        (1, None, 2, 1, None),
        (1, 3, 2, 3, None),  # the high watermark is 3: only a fetch that was counted raised it
        (None, 3, 2, None, {2: 3}),  # no fetch was counted yet: the high watermark may be an inherited one
        (3, 4, 2, 3, {2: 4}),
        (1, 3, 1, 1, {2: 3}),  # who is not in sync raises nothing
    ],
)
def test_what_a_leader_knows_of_a_follower_is_derived_from_frames_and_numbers(
    certain: int | None, diverging: int | None, in_sync: int, known: int | None, instead: dict[int, int] | None
) -> None:
    partition = _Partition()
    partition.follower.known = (certain, diverging)
    partition.probe.in_sync, partition.follower.high_watermark = (LEADER, FOLLOWER)[:in_sync], 4

    measured = partition.rest.measure("end")

    assert measured.remote_log_end_offsets == {2: known}
    assert measured.or_if_diverging_counts == (instead or {})


def test_who_leads_is_asked_of_all_that_run_and_hear_it_of_others_than_replicas_too() -> None:
    """A replica that a hold has kept from a decision applies it late; others have heard it."""
    partition = _Partition()
    cast("Any", partition.rest)._cluster.live_brokers = (LEADER, FOLLOWER, OTHER)
    partition.rest.unreachable = lambda: frozenset({LEADER})
    partition.rest.view()
    assert partition.probe.asked_who_leads == [FOLLOWER, OTHER]
