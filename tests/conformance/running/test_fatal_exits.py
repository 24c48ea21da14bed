"""Is a broker that ends by itself awaited where that is predicted, and a surprise everywhere else?"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.clients.topics import TopicError
from conformance.interruption import AwaitedStateMissingError, HarnessError
from conformance.record.prediction import (
    FrozenPrediction,
    PredictedMoment,
    PredictedOutcome,
    PredictedReplica,
    frozen_form,
)
from conformance.running import processes
from conformance.running.processes import FatalExits, Processes, fatal_exits
from conformance.running.recorder import Recorder
from conformance.running.topic_requests import require_all_running
from fault_injection.cluster.backend import NodeDiedError, ProcessState
from fault_injection.faults import account
from fault_injection.faults.account import FaultAccount
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.schedule_format import decode
from oracle.steps.brokers import Start
from oracle.vocabulary import BrokerId, MetadataMode, Timing
from tests.conformance.example_steps import FOLLOWER_AHEAD

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.schedule import Schedule


def schedule(*steps: dict[str, Any]) -> Schedule:
    return decode(
        {
            "id": "follower-ahead",
            "requirement": "A follower that is ahead of its leader cuts nothing.",
            "sources": ["KAFKA-7414"],
            "replicas": [1, 2],
            "settings": {"min.insync.replicas": 1, "unclean.leader.election.enable": False},
            "steps": [*steps, {"checkpoint": "end"}],
        }
    )


AHEAD = schedule(*FOLLOWER_AHEAD)
"""Broker 2 is ahead of a leader whose epochs begin above its own."""
TWO = BrokerId(2)
CERTAIN, POSSIBLE = FatalExits(frozenset({TWO})), FatalExits(possible=frozenset({TWO}))
HANGING = FatalExits(frozenset({TWO}), hanging=frozenset({TWO}))


@pytest.mark.parametrize(
    ("version", "ends"), [("0.10.2.2", {5: HANGING}), ("0.11.0.3", {5: CERTAIN}), ("1.1.1", {5: CERTAIN})]
)
def test_only_ends_that_no_step_caused_are_a_brokers_own(version: str, ends: dict[int, FatalExits]) -> None:
    assert fatal_exits(AHEAD, frozen_form(predict(AHEAD, rules_for(version, MetadataMode.ZOOKEEPER)).as_json())) == ends


def outcome(*alive_after: tuple[bool, bool]) -> dict[str, Any]:
    steps = tuple(
        PredictedMoment(
            step=index,
            name=None,
            replicas={broker: PredictedReplica(0, 0, alive=lives) for broker, lives in ((1, one), (2, two))},
            leader=None,
            leadership=0,
            isr=(),
            elr=(),
            remote_log_end_offsets={},
        )
        for index, (one, two) in enumerate(alive_after)
    )
    return {"checkpoints": (), "records": (), "logs": {}, "diverged": (), "steps": steps}


def frozen(numbers: dict[str, Any], *alternatives: dict[str, Any]) -> FrozenPrediction:
    open_ends = tuple(PredictedOutcome(race=(), **one) for one in alternatives)
    whose = {"scenario": "x", "kafka": "1.1.1", "metadata": "zookeeper", "rules": ()}
    return FrozenPrediction(**whose, **numbers, alternatives=open_ends)


def test_who_ends_in_every_outcome_is_awaited_and_who_ends_in_some_is_no_surprise() -> None:
    steps = schedule({"kill_together": [1, 2]}, {"start": 1}, {"start": 2}, {"start": 2}, {"stop": 2}, {"kill": 1})
    both, first, nobody = (True, True), (True, False), (False, False)
    ended = outcome(nobody, first, first, first, first, nobody, nobody)
    stays = outcome(nobody, first, both, first, first, nobody, nobody)
    assert fatal_exits(steps, frozen(ended)) == {2: CERTAIN, 3: CERTAIN}
    assert fatal_exits(steps, frozen(ended, ended, stays)) == {2: POSSIBLE, 3: CERTAIN}
    assert POSSIBLE.all == CERTAIN.all == {TWO}


class Broken:
    """Processes of a run with one broker that has just been started, and ends or does not."""

    def __init__(self, directory: Path, ends: FatalExits, monkeypatch: pytest.MonkeyPatch) -> None:
        self.alive = {1, 2}
        self.state: ProcessState | None = ProcessState(1)
        self.noted: list[int] = []
        self.ended: list[tuple[int, ...]] = []
        self.cluster = SimpleNamespace(
            is_alive=self.alive.__contains__,
            process_state=lambda _: self.state,
            note_end=self.note_end,
            end_hung=lambda *brokers: self.ended.append(brokers),
            check_alive=lambda *_: None,
            start_broker=self.alive.add,
            zookeeper_address=None,
            spec=SimpleNamespace(broker_ids=(1, 2)),
        )
        monkeypatch.setattr(processes, "OWN_END_DEADLINE_S", 0.05)
        monkeypatch.setattr(processes, "await_unregistered", lambda *_, **__: None)
        monkeypatch.setattr(processes, "await_return", self.registered)
        self.discharged: list[int] = []
        self.directory, self.recorder = directory, Recorder(directory)
        self.faults = FaultAccount(cast("Any", self.cluster), checks_health=False)
        self.subject = Processes(
            cast("Any", self.cluster),
            self.recorder,
            "t",
            Timing.SESSION,
            holding=cast("Any", SimpleNamespace(discharge=self.discharged.append, unreachable=frozenset)),
            faults=self.faults,
            await_view=lambda *_: None,
        )
        self.subject.fatal_exits = {3: ends}
        self.recorder.step = 3

    def note_end(self, broker: int) -> None:
        self.noted.append(broker)
        self.alive.discard(broker)

    def registered(self, _cluster: object, broker: int, **_: object) -> None:
        if broker not in self.alive:
            raise NodeDiedError(f"broker-{broker}", "its log")

    def marks(self) -> list[Any]:
        return [json.loads(line) for line in (self.directory / "timeline.ndjson").read_text().splitlines()]

    def events(self) -> list[tuple[str, str]]:
        return [(mark["event"], mark["text"]) for mark in self.marks()]


Make = Callable[[FatalExits], Broken]


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Make a run in which certain brokers are to end in step 3; its files are closed in the end."""
    with ExitStack() as stack:

        def make(ends: FatalExits) -> Broken:
            run = Broken(tmp_path, ends, monkeypatch)
            stack.enter_context(run.recorder)
            return run

        yield make


def test_an_end_that_is_predicted_is_noted_and_the_broker_can_be_started_again(broken: Make) -> None:
    run = broken(CERTAIN)
    run.alive.remove(2)
    run.subject.await_fatal_exits()
    run.subject.note_fatal_exits()
    assert (run.noted, run.discharged, list(run.subject.gone_since)) == ([2], [2], [2])
    assert run.events() == [("broker_ended", f"broker 2 ended by itself: {ProcessState(1).text}")]
    assert run.marks()[0]["processes"] == [{"broker": 2, "exit_code": 1, "signal": None, "is_paused": False}]
    run.subject.take(Start(TWO))
    assert run.alive == {1, 2}
    assert run.events()[-1] == ("broker_started", "broker 2 started")


def test_a_process_that_stays_with_its_port_closed_is_noted_as_an_end(
    broken: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, asked = broken(HANGING), iter([False, True])
    run.state = ProcessState()
    monkeypatch.setattr(processes, "is_hung", lambda *_: next(asked))
    monkeypatch.setattr(processes, "registered_brokers", lambda _: frozenset({1, 2}))
    monkeypatch.setattr(processes, "await_unregistered", None)  # its session stays as long as its process
    run.subject.await_fatal_exits()
    assert run.noted == [2]
    assert run.events() == [("broker_ended", "broker 2 hangs in its own shutdown, its port closed")]
    run.subject.take(Start(TWO))
    assert run.ended == [(2,)], "its process is ended before it is started again"
    assert run.events()[-1] == ("broker_started", "broker 2 started")


def test_a_process_that_ends_although_it_was_to_hang_deviates(broken: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    run = broken(HANGING)
    monkeypatch.setattr(processes, "is_hung", lambda *_: False)
    with pytest.raises(AwaitedStateMissingError, match="broker 2 to hang in its own shutdown"):
        run.subject.await_fatal_exits()


def test_a_broker_that_does_not_end_as_predicted_deviates(broken: Make) -> None:
    run = broken(CERTAIN)
    with pytest.raises(AwaitedStateMissingError, match="broker 2 to end its process by itself"):
        run.subject.await_fatal_exits()
    assert AwaitedStateMissingError.verdict == "DEVIATES"
    assert run.noted == []


@pytest.mark.parametrize("ended", [False, True])
def test_an_end_that_is_open_is_noted_if_it_came(broken: Make, *, ended: bool) -> None:
    run = broken(POSSIBLE)
    run.alive -= {2} if ended else set()
    run.subject.await_fatal_exits()
    run.subject.note_fatal_exits()
    assert run.noted == [2] * ended


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGABRT, signal.SIGKILL, signal.SIGTERM])
def test_a_broker_that_somebody_else_ended_has_not_ended_by_itself(broken: Make, number: signal.Signals) -> None:
    run = broken(CERTAIN)
    run.alive.remove(2)
    for code in (128 + number, -number):
        run.state = ProcessState.of_exit_code(code)
        with pytest.raises(HarnessError, match=f"broker 2 was ended by signal {number:d}, which the tester did not"):
            run.subject.await_fatal_exits()
    assert run.noted == []


def test_a_broker_that_never_ran_has_not_ended(broken: Make) -> None:
    run = broken(CERTAIN)
    run.alive.remove(2)
    run.state = None
    with pytest.raises(HarnessError, match="broker 2 was to end by itself, and was never started"):
        run.subject.await_fatal_exits()


def test_a_broker_is_excused_from_being_healthy_until_it_is_started_again(
    broken: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    excused: list[frozenset[int]] = []
    monkeypatch.setattr(account, "require_untouched", lambda _: None)
    monkeypatch.setattr(account, "require_healthy", lambda *asked: excused.append(*asked[3:] or [frozenset()]))
    run = broken(CERTAIN)
    run.faults._checks_health = True
    for is_started in (False, True):
        with run.faults:
            run.alive.discard(2)
            run.subject.await_fatal_exits()
            if is_started:
                run.subject.take(Start(TWO))
                run.alive.remove(2)
    assert excused == [frozenset(), frozenset({2}), frozenset(), frozenset()]


@pytest.mark.parametrize(("ends", "is_lost"), [(CERTAIN, False), (POSSIBLE, False), (FatalExits(), True)])
def test_a_broker_may_be_gone_before_it_is_seen_only_if_that_is_predicted(
    broken: Make, ends: FatalExits, *, is_lost: bool
) -> None:
    run = broken(CERTAIN)
    run.alive.remove(2)
    run.subject.await_fatal_exits()
    run.subject.fatal_exits, run.recorder.step = {4: ends}, 4
    run.cluster.start_broker = lambda _: None
    with pytest.raises(NodeDiedError) if is_lost else nullcontext():
        run.subject.take(Start(TWO))


def test_a_cluster_of_which_a_broker_has_ended_is_not_used_again(broken: Make) -> None:
    run = broken(CERTAIN)
    require_all_running(cast("Any", run.cluster))
    run.alive.remove(2)
    with pytest.raises(TopicError, match=r"brokers \[2\] have ended by themselves"):
        require_all_running(cast("Any", run.cluster))
