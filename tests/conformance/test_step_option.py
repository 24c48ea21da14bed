"""Does ``run --step`` show how a run stands, wait for a person, and for no longer than the run stays what it is?"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, cast

import pytest
from typing_extensions import override

from conformance.cli import main
from conformance.commands.stepping import MARGIN_S, Stepper, TypedLines
from conformance.console import Console
from conformance.pipeline import Pipeline
from conformance.probes.connection import ProbeError
from conformance.record.observations import read_observations
from conformance.record.run import read_run
from conformance.running.standstill import (
    UNHURRIED_S,
    Limit,
    StandingFrame,
    Standstill,
    limits_of,
    patience,
    unhurried,
)
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from conformance.scenarios.vocabulary import await_outcome, brokers, pause, produce
from fault_injection.cluster.imposed import imposed_settings
from fault_injection.cluster.spec import PATIENCE_S, ClusterSpec, Node, ProcessRole, Timing
from fault_injection.releases import MetadataMode, find_release
from fault_injection.waiting import until
from oracle.schedule import Schedule
from oracle.steps.produce import Produce
from oracle.vocabulary import BrokerId, Expectation, Label
from tests.conformance.brokerless import brokerless_pipeline
from tests.conformance.ideal_runs import write_ideal_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.record.directory import RunDirectory
    from conformance.record.observations import MeasuredCheckpoint, MeasuredNumbers
    from oracle.steps.step import Step

LOOKED_S = 1.0


@dataclass
class Looking:
    """A run of TR-01 on 0.10.2.2, a person who looks at it, and the pipe that she types into."""

    run: RunDirectory
    stepper: Stepper
    typing: int
    measures: list[MeasuredNumbers] = field(default_factory=list)

    def at(self, number: int, *limits: Limit, **changes: object) -> Standstill:
        """Return how the run stands at a checkpoint, counted from 0."""
        found = [one for one in read_observations(self.run) if one.kind == "checkpoint"][number]
        measured: MeasuredCheckpoint = replace(found, **changes)  # type: ignore[arg-type]
        assert measured.step is not None
        held = (StandingFrame("gap", "FETCH(2) response between follower 2 and leader 1", time.monotonic()),)
        measure: Callable[[], MeasuredNumbers] = lambda: self.measures.pop(0) if self.measures else measured  # noqa: E731
        return Standstill(measured.step, measured, held, (Label("m9"),), limits, measure)

    def type(self, text: str) -> None:
        os.write(self.typing, text.encode())


@pytest.fixture
def looking(tmp_path: Path) -> Iterator[Looking]:
    run = write_ideal_run(tmp_path)
    reading, typing = os.pipe()
    yield Looking(run, Stepper(Console(), TypedLines(reading)), typing)
    os.close(reading)


def test_a_checkpoint_shows_every_replica_and_goes_on_at_enter(
    looking: Looking, capsys: pytest.CaptureFixture[str]
) -> None:
    looking.type("\n")

    looking.stepper.look(looking.run, looking.at(0))

    told = capsys.readouterr().out
    assert "checkpoint 1 of 3, after step 5: follower has m1 but not the high watermark that commits it" in told
    assert "broker 1 leads in leader epoch 4; in-sync replicas 1, 2" in told
    assert [line.split() for line in told.splitlines() if line.startswith("    broker")] == [
        ["broker", "1", "2", "2"],
        ["broker", "2", "2", "1"],
    ]
    assert "held: gap, FETCH(2) response between follower 2 and leader 1" in told
    assert "waiting for their answers: m9" in told
    assert "next: kill broker 2 (kill -9)" in told
    assert "≠" not in told
    assert not looking.stepper.is_over


def test_what_is_not_as_predicted_is_said(looking: Looking, capsys: pytest.CaptureFixture[str]) -> None:
    looking.type("\n")
    seen = looking.at(0).measured.replicas

    looking.stepper.look(looking.run, looking.at(0, leader=2, replicas=seen | {2: replace(seen[2], high_watermark=2)}))

    told = capsys.readouterr().out
    assert "broker 2 leads in leader epoch 4; in-sync replicas 1, 2 ≠ predicted: broker 1 leads" in told
    assert "2 ≠ predicted 1" in told


def test_what_changes_while_somebody_looks_is_shown(looking: Looking, capsys: pytest.CaptureFixture[str]) -> None:
    still = looking.at(0)
    looking.measures.append(replace(still.measured, isr=(1,)))
    looking.measures.append(replace(still.measured, isr=(1,)))
    shown_twice = still.measure

    def measure() -> MeasuredNumbers:
        seen = shown_twice()
        if not looking.measures:
            looking.type("\n")
        return seen

    looking.stepper.look(looking.run, replace(still, measure=measure))

    told = capsys.readouterr().out
    assert told.count("it has changed while you looked:") == 1
    assert "in-sync replicas 1\n" in told


def test_after_g_and_after_the_last_line_nobody_is_waited_for(
    looking: Looking, capsys: pytest.CaptureFixture[str]
) -> None:
    looking.type("g\n")
    looking.stepper.look(looking.run, looking.at(0))
    assert looking.stepper.is_over
    looking.stepper.look(looking.run, looking.at(1))
    assert "checkpoint 2 of 3" in capsys.readouterr().out

    looking.stepper.is_over = False
    looking.type("closed\n")
    looking.stepper.look(looking.run, looking.at(1))
    assert not looking.stepper.is_over
    os.close(looking.typing)
    looking.stepper.look(looking.run, looking.at(2))
    assert looking.stepper.is_over
    assert "standard input is closed: the run goes on without pauses" in capsys.readouterr().out


def test_nobody_is_asked_to_look_where_the_run_would_become_another(
    looking: Looking, capsys: pytest.CaptureFixture[str]
) -> None:
    soon = Limit(time.monotonic() + MARGIN_S, "m9 is given up by its client")

    looking.stepper.look(looking.run, looking.at(0, soon))

    assert "no pause here: m9 is given up by its client if the run stands for long" in capsys.readouterr().out


def test_a_run_goes_on_by_itself_before_something_ends(looking: Looking, capsys: pytest.CaptureFixture[str]) -> None:
    later = Limit(time.monotonic() + MARGIN_S + 5.5, "m9 is given up by its client")

    looking.stepper.look(looking.run, looking.at(0, later))

    assert re.search(r"in 5\.\d s it goes on by itself, before m9 is given up by its client", capsys.readouterr().out)
    assert not looking.stepper.is_over


def test_without_standard_input_a_run_goes_on(looking: Looking) -> None:
    stepper = Stepper(Console(), TypedLines(None))
    stepper.look(looking.run, looking.at(0))
    assert stepper.is_over


def test_a_broker_that_does_not_answer_while_somebody_looks_ends_no_run(looking: Looking) -> None:
    def measure() -> MeasuredNumbers:
        looking.type("\n")
        raise ProbeError(1, "no answer")

    looking.stepper.look(looking.run, replace(looking.at(0), measure=measure))
    assert not looking.stepper.is_over


def test_the_first_limit_is_the_first_to_end() -> None:
    spec = ClusterSpec(find_release("4.4"), MetadataMode.KRAFT, patience_s=60, lag_s=65)
    found = limits_of(1.0, spec, {"broker 1": 10.0}, {Label("m1"): 40.0}, {BrokerId(2): 12.5})

    assert [limit.at for limit in found] == [12.5, 40.0, 66.0, 70.0]
    assert found[0].why == "broker 2 may leave the in-sync replicas"
    assert found[2].why == "the lag time passes"


# What an unhurried run waits for


def schedule(*steps: Step) -> Schedule:
    return Schedule("a/b", "It stands.", (), brokers(1, 2), steps)


@pytest.mark.parametrize(
    ("awaited", "timeout_ms"),
    [
        ([], 295_000),
        ([await_outcome("m0", expect=Expectation.ACKNOWLEDGED)], 295_000),
        ([await_outcome("m0", expect=Expectation.INDETERMINATE)], 30_000),
        ([await_outcome("m0", expect=Expectation.ANY)], 30_000),
    ],
)
def test_a_record_waits_longer_where_no_step_waits_for_its_end(awaited: list[Step], timeout_ms: int) -> None:
    (first, *_) = unhurried(schedule(produce("m0", expect=Expectation.PENDING), *awaited)).steps

    assert isinstance(first, Produce)
    assert first.timeout_ms == timeout_ms


def test_a_time_that_a_schedule_gives_stays() -> None:
    asked = schedule(produce("m0", expect=Expectation.PENDING, timeout_ms=2_000), produce("m1"))

    assert unhurried(asked) == asked


def test_brokers_wait_for_an_hour_unless_some_stand_still() -> None:
    assert patience(schedule(produce("m0")))["patience_s"] == UNHURRIED_S
    assert patience(schedule(produce("m0"), pause(2)))["patience_s"] == PATIENCE_S


def test_a_patient_cluster_gives_up_no_frame_for_an_hour() -> None:
    spec = ClusterSpec(find_release("4.4"), MetadataMode.KRAFT, **patience(schedule(produce("m0"))))
    settings = imposed_settings(spec, Node(ProcessRole.BROKER, 1))
    of_controller = imposed_settings(spec, Node(ProcessRole.CONTROLLER, 100))

    for name in ("request.timeout.ms", "replica.socket.timeout.ms", "controller.quorum.request.timeout.ms"):
        assert int(settings[name]) >= UNHURRIED_S * 1000, name
    assert int(settings["replica.lag.time.max.ms"]) > UNHURRIED_S * 1000
    for node in (settings, of_controller):
        assert int(node["connections.max.idle.ms"]) > UNHURRIED_S * 1000


def test_the_lag_time_of_a_schedule_stays_what_it_is() -> None:
    spec = ClusterSpec(find_release("4.4"), MetadataMode.KRAFT, timing=Timing.LAG, patience_s=UNHURRIED_S)

    assert imposed_settings(spec, Node(ProcessRole.BROKER, 1))["replica.lag.time.max.ms"] == "3000"


@pytest.mark.parametrize("options", [["--json"], ["--quiet"], ["--lanes", "2"]])
def test_options_that_leave_nobody_who_looks_are_refused(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "TR-01", "--step", *options]) == 2
    assert "--step shows each checkpoint" in capsys.readouterr().err


class _LookedAt(Pipeline):
    """A pipeline whose runs are looked at, and that is all."""

    @override
    def execute(self, run: RunDirectory, entry: Entry) -> None:
        assert self.look is not None
        self.look(run, cast("Standstill", None))


def test_the_time_of_looking_is_none_of_the_run(tmp_path: Path) -> None:
    asked = brokerless_pipeline(tmp_path)
    looks: list[float] = []

    def look(*_: object) -> None:
        began = time.monotonic()
        until(lambda: time.monotonic() > began + LOOKED_S or None, deadline_s=60, what="the end of the look")
        looks.append(time.monotonic() - began)

    given = {each.name: getattr(asked, each.name) for each in fields(asked)} | {"look": look}
    began = time.monotonic()
    taken = _LookedAt(**given).take(RESTARTED_FOLLOWER)

    assert looks
    assert taken.seconds == read_run(taken.run).seconds
    assert taken.seconds <= time.monotonic() - began - looks[0] + 0.001


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(180)
def test_a_run_that_is_looked_at_conforms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, typing = os.pipe()
    os.write(typing, b"\n\ng\n")
    with os.fdopen(reading) as typed:
        monkeypatch.setattr("sys.stdin", typed)
        code = main(["run", "HW-02/follower", "--step", "--backend", "process", "--runs-dir", str(tmp_path)])
    told = capsys.readouterr().out
    assert code == 0, told
    assert "CONFORMS" in told
    assert "checkpoint 1 of " in told
    assert "held: commitment, FETCH(2) response between follower 2 and leader 1, for " in told
