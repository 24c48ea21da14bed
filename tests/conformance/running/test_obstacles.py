"""What stands in the way is imposed on the real gate, known to whoever waits, and taken back."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.interruption import HarnessError
from conformance.record.directory import RunDirectory
from conformance.record.timeline import Event, read_timeline
from conformance.running import obstacles
from conformance.running.obstacles import RaisedObstacles
from conformance.running.recorder import Recorder
from fault_injection.cluster.backend import ProcessState
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.faults.account import FaultAccount
from fault_injection.releases import MetadataMode, find_release
from fault_injection.waiting import DeadlineExceededError
from fault_injection.wire.impairments import LinkCut as CutOfNetwork
from fault_injection.wire.proxy import GateProxy
from oracle.steps.brokers import Isolate, Pause, Rejoin, Resume
from oracle.steps.frames import CutLink, Heal
from oracle.vocabulary import BrokerId, Timing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ONE, TWO, THREE = BrokerId(1), BrokerId(2), BrokerId(3)


class Bench:
    """A run's obstacles on a real gate without brokers behind it.

    Attributes:
        reacted: the brokers whose removal was waited for.
        discharged: the brokers and links whose holds were ended.
    """

    def __init__(self, gate: GateProxy, recorder: Recorder, timing: Timing, *, is_kraft: bool) -> None:
        self.gate = gate
        self.reacted: list[int] = []
        self.discharged: list[object] = []
        self._paused: set[int] = set()
        mode = MetadataMode.KRAFT if is_kraft else MetadataMode.ZOOKEEPER
        spec = ClusterSpec(find_release("3.9"), mode, controller_id=100 if is_kraft else None)
        cluster: Any = SimpleNamespace(
            relay=gate,
            spec=spec,
            zookeeper_address=None if is_kraft else "127.0.0.1:1",
            is_alive=lambda _: True,
            is_paused=self._paused.__contains__,
            pause=self._paused.add,
            resume=self._paused.discard,
            process_state=lambda broker: ProcessState(None, is_paused=broker in self._paused),
        )
        holding = SimpleNamespace(
            discharge=self.discharged.append,
            discharge_link=lambda *link: self.discharged.append(link),
            unreachable=frozenset,
        )
        self.faults = FaultAccount(cluster, checks_health=False)
        self.obstacles = RaisedObstacles(
            cluster,
            gate,
            recorder,
            timing,
            faults=self.faults,
            holding=cast("Any", holding),
            await_reaction=self.reacted.append,
        )

    def imposed(self) -> list[str]:
        """Return how the cuts that are imposed now end or silence connections, in order of time."""
        return [one.by for one in self.gate.network.imposed().values() if isinstance(one, CutOfNetwork)]


@pytest.fixture(params=[Timing.SESSION, Timing.LAG])
def timing(request: pytest.FixtureRequest) -> Timing:
    return cast("Timing", request.param)


@pytest.fixture(params=[True, False], ids=["kraft", "zookeeper"])
def is_kraft(request: pytest.FixtureRequest) -> bool:
    return cast("bool", request.param)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timing: Timing, is_kraft: bool) -> Iterator[Bench]:
    monkeypatch.setattr(obstacles, "await_return", lambda *_, **__: None)
    monkeypatch.setattr(obstacles, "STANDSTILL_S", 0.01)
    with GateProxy() as gate, Recorder(tmp_path) as recorder:
        yield Bench(gate, recorder, timing, is_kraft=is_kraft)


def test_a_paused_broker_is_deaf_and_silent_until_it_goes_on(bench: Bench, timing: Timing) -> None:
    bench.obstacles.take(Pause(TWO))
    assert (bench.obstacles.paused, bench.obstacles.unreachable()) == (frozenset({TWO}), frozenset({TWO}))
    assert list(bench.obstacles.silent_since()) == [TWO]
    assert bench.reacted == ([TWO] if timing is Timing.SESSION else [])
    bench.obstacles.take(Resume(TWO))
    assert (bench.obstacles.unreachable(), bench.obstacles.silent_since()) == (frozenset(), {})


def test_a_cut_link_is_known_by_its_ends(bench: Bench, tmp_path: Path) -> None:
    bench.obstacles.take(CutLink(TWO, ONE))
    (noted,) = [mark for mark in read_timeline(RunDirectory(tmp_path)) if mark.event is Event.LINK_CUT]
    assert (noted.subject, noted.follower, noted.leader) == ("2", 2, 1)
    bench.obstacles.take(CutLink(TWO, THREE))
    assert set(bench.obstacles.severed()) == {(TWO, ONE), (TWO, THREE)}
    assert (bench.imposed(), bench.discharged) == (["reset", "reset"], [(TWO, ONE), (TWO, THREE)])
    bench.obstacles.take(Heal(TWO, ONE))
    assert (set(bench.obstacles.severed()), list(bench.obstacles.silent_since())) == ({(TWO, THREE)}, [TWO])
    assert bench.imposed() == ["reset"]


def test_an_isolated_broker_keeps_its_connections_to_a_kraft_controller(
    bench: Bench, timing: Timing, is_kraft: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RaisedObstacles, "_have_fired", lambda *_: True)
    bench.obstacles.take(Isolate(ONE))
    assert bench.imposed() == (["reset", "blackhole"] if is_kraft else ["reset"])
    assert bench.reacted == ([ONE] if is_kraft and timing is Timing.SESSION else [])
    assert (bench.obstacles.unreachable(), bench.discharged) == (frozenset({ONE}), [ONE])
    bench.obstacles.take(Rejoin(ONE))
    assert (bench.imposed(), bench.obstacles.unreachable()) == ([], frozenset())


def test_an_isolation_lasts_until_a_frame_is_lost(
    bench: Bench, is_kraft: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hunt on 4.4.0, seed 7, schedule 13: the broker rejoined before anything had met the cut, which never fired."""
    monkeypatch.setattr(obstacles, "LOST_FRAME_DEADLINE_S", 0.05)
    with (
        pytest.raises(DeadlineExceededError, match="between broker 1 and the controller") if is_kraft else nullcontext()
    ):
        bench.obstacles.take(Isolate(ONE))


def test_a_broker_that_dies_is_paused_no_more(bench: Bench) -> None:
    bench.obstacles.take(Pause(TWO))
    bench.obstacles.discharge(TWO)
    assert (bench.obstacles.unreachable(), bench.obstacles.silent_since()) == (frozenset(), {})


def test_what_does_not_stand_cannot_be_taken_back(bench: Bench) -> None:
    with pytest.raises(HarnessError, match="cut is to be healed, and it does not stand"):
        bench.obstacles.take(Heal(TWO, ONE))
