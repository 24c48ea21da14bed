"""A hold whose frame is lost behind the runner's back is a failure of the tester, never a finding."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.clients.producer import DeliveryReport
from conformance.interruption import AwaitedStateMissingError, HarnessError
from conformance.probes.controller import CommittedPartition
from conformance.record.observations import MeasuredCheckpoint, MeasuredNumbers, OutcomeSeen
from conformance.running import runner
from conformance.running.recorder import Recorder
from conformance.running.runner import Runner
from conformance.scenarios.vocabulary import await_hold, await_leader, brokers, checkpoint, hold_response, kill
from fault_injection.cluster.backend import ProcessState
from fault_injection.faults.account import FaultAccount
from fault_injection.wire.gate import GateError
from fault_injection.wire.gate_events import HoldStatus
from oracle.schedule import Schedule
from oracle.steps.topic import Alter, Elect, Reassign
from oracle.vocabulary import ElectionKind, Label, ProduceOutcome
from tests.conformance.example_steps import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from oracle.steps.step import Step

GAP = (hold_response("gap", follower=2, leader=1), await_hold("gap"))


class _Gate:
    """A gate whose one hold catches its frame at once."""

    status_of_hold = HoldStatus.CAUGHT
    failures: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._armed: dict[str, HoldStatus] = {}

    def arm(self, name: str, *_: object, **__: object) -> None:
        """It is caught already."""
        self._armed[name] = self.status_of_hold

    def holds(self) -> dict[str, HoldStatus]:
        return self._armed

    def disarm(self, _: str) -> None:
        raise GateError

    release = drop = close_connection = disarm

    def caught(self, _: str) -> object:
        request = SimpleNamespace(connection=1, api_key=1, correlation_id=1)
        return SimpleNamespace(fetch_offset=0, caught_ns=0, request=request, direction="response")

    def status(self, _: str) -> HoldStatus:
        return self.status_of_hold


class _Rest:
    """A partition at rest; measuring it may end the held frame's connection."""

    def __init__(self, gate: _Gate) -> None:
        self._gate = gate
        self.blocked: Any = None
        self.loses_connection_at = ""

    def _happens(self, what: str) -> None:
        if what == self.loses_connection_at:
            self._gate.status_of_hold = HoldStatus.DISCHARGED

    def wait(self) -> None:
        """It is at rest."""

    def numbers(self) -> MeasuredNumbers:
        return SEEN

    def measure(self, name: str) -> MeasuredCheckpoint:
        self._happens("measure")
        return MeasuredCheckpoint(name=name, settled=True, replicas={}, leader=1, leader_epoch=0, isr=())

    def alive(self) -> dict[int, bool]:
        return {1: True, 2: True}

    def view(self) -> CommittedPartition:
        self._happens("view")
        return CommittedPartition(1, 0, (1,))


SEEN = MeasuredNumbers(replicas={}, leader=1, leader_epoch=0, isr=())


class _Cluster:
    live_brokers: tuple[int, ...] = ()
    zookeeper_address = None

    spec = SimpleNamespace(release=None)

    def __init__(self, gate: _Gate) -> None:
        self._gate = self.relay = gate

    def is_alive(self, _: int) -> bool:
        return True

    def process_state(self, _: int) -> ProcessState:
        return ProcessState(137)

    def kill(self, _: int) -> None:
        self._gate.status_of_hold = HoldStatus.DISCHARGED

    def check_alive(self, *_: int) -> None:
        """All of them run."""


class _Run:
    """A runner and what it stands on."""

    def __init__(self, recorder: Recorder, *steps: Step) -> None:
        self.gate = gate = _Gate()
        self.rest = _Rest(gate)
        cluster = cast("Any", _Cluster(gate))
        self.runner = Runner(
            Schedule("a/b", "It holds.", (), brokers(1, 2), steps),
            cluster=cluster,
            gate=cast("Any", gate),
            probe=cast("Any", None),
            rest=cast("Any", self.rest),
            ledger=cast("Any", None),
            recorder=recorder,
            faults=FaultAccount(cluster, checks_health=False),
            topic="t",
            record_id_base=0,
        )


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "AWAIT_DEADLINE_S", 0.05)


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with Recorder(tmp_path) as recorder:
        yield recorder


def test_numbers_measured_after_a_held_frame_was_lost_are_no_checkpoint(recorder: Recorder, tmp_path: Path) -> None:
    run = _Run(recorder, *GAP, checkpoint("held"))
    run.rest.loses_connection_at = "measure"

    with pytest.raises(HarnessError, match="hold 'gap' lost its frame"):
        run.runner.run()

    assert '"checkpoint"' not in (tmp_path / "observations.ndjson").read_text()


def test_what_was_measured_through_a_gate_that_failed_is_no_checkpoint(recorder: Recorder, tmp_path: Path) -> None:
    run = _Run(recorder, *GAP, checkpoint("held"))
    run.gate.failures = ("KeyError: 7",)

    with pytest.raises(HarnessError, match="the gate failed while it moved frames: KeyError: 7"):
        run.runner.run()

    assert '"checkpoint"' not in (tmp_path / "observations.ndjson").read_text()


def test_a_state_that_a_lost_frame_may_have_prevented_is_no_deviation(recorder: Recorder) -> None:
    run = _Run(recorder, *GAP, await_leader(2))
    run.rest.loses_connection_at = "view"

    with pytest.raises(HarnessError, match="hold 'gap' lost its frame"):
        run.runner.run()


def test_a_state_that_never_comes_while_the_frame_is_held_is_a_deviation(recorder: Recorder) -> None:
    with pytest.raises(AwaitedStateMissingError, match="leader 2"):
        _Run(recorder, *GAP, await_leader(2)).runner.run()


def test_a_frame_that_went_with_a_killed_broker_is_no_loss(recorder: Recorder, tmp_path: Path) -> None:
    _Run(recorder, *GAP, kill(2), checkpoint("alone")).runner.run()

    assert '"checkpoint"' in (tmp_path / "observations.ndjson").read_text()


def test_a_step_notes_what_was_answered_while_it_was_taken(recorder: Recorder, tmp_path: Path) -> None:
    """A record whose outcome the schedule leaves open is collected by no step; the run may end early after it."""
    run = _Run(recorder, *GAP, await_leader(2))
    refused = DeliveryReport(ProduceOutcome.REFUSED, "NOT_ENOUGH_REPLICAS", None)
    run.runner._producing._sendings[Label("m0")] = cast("Any", SimpleNamespace(poll=lambda: refused, close=lambda: 0))
    run.runner._producing._record_outcome = lambda label, told: recorder.observe(  # type: ignore[method-assign]
        OutcomeSeen(label=label, outcome="refused", error=told.error)
    )

    with pytest.raises(AwaitedStateMissingError):
        run.runner.run()

    seen = map(json.loads, (tmp_path / "observations.ndjson").read_text().splitlines())
    assert [one["step"] for one in seen if one["kind"] == "outcome"] == [0]


@pytest.mark.parametrize("step", [Alter(2), Elect(ElectionKind.PREFERRED), Reassign(brokers(1))])
def test_what_nobody_can_be_asked_for_is_a_failure_of_ours(recorder: Recorder, step: Step) -> None:
    with pytest.raises(HarnessError, match="nobody can be asked"):
        _Run(recorder, step).runner.run()


def test_a_step_that_the_runner_was_not_taught_is_refused(recorder: Recorder) -> None:
    run = _Run(recorder, Unknown())

    with pytest.raises(HarnessError, match="the runner does not take 'explode'"):
        run.runner.run()
