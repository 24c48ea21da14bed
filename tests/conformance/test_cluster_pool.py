"""How many brokers a schedule needs, and that the backend is closed however a run ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.cluster_pool import ClusterPool, brokers_for, cluster_kind, spec_traits
from conformance.line import line_named
from conformance.registry import SCENARIOS
from conformance.scenarios.vocabulary import brokers, kill, produce, start, stop
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import JarSet, MetadataMode, find_release
from oracle.schedule import Schedule
from oracle.steps.frames import Hold, ReleaseHold
from oracle.vocabulary import BrokerId, HighWatermarkCheckpoint, PointName, Timing

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.steps.step import Step


DEAF = Hold("deaf", PointName.CONTROLLER_FETCH_REQUEST, broker=BrokerId(3))


def schedule(replicas: tuple[int, ...], *steps: Step) -> Schedule:
    return Schedule("a/b", "It holds.", (), brokers(*replicas), steps)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (schedule((1, 2), produce("m0")), (1, 2, 3)),
        (schedule((1, 9), produce("m0")), (1, 2, 9)),
        (schedule((7, 8, 9), kill(7), kill(8), kill(9)), (1, 7, 8, 9)),
        (schedule((1, 2, 3), kill(1), kill(2)), (1, 2, 3)),
        (schedule((1, 2, 3), kill(1), stop(2), kill(3)), (1, 2, 3, 4)),
        (schedule((1, 2, 3), kill(1), start(1), kill(2), start(2), kill(3)), (1, 2, 3)),
        (schedule((1, 2, 3), kill(1), kill(2), DEAF), (1, 2, 3, 4)),
        (schedule((1, 2, 3), DEAF, ReleaseHold("deaf"), kill(1), kill(2)), (1, 2, 3)),
        (schedule((1, 2, 3), DEAF, kill(3), start(3), kill(1), kill(2)), (1, 2, 3)),
        (schedule((1, 2, 3), DEAF, kill(3), kill(2)), (1, 2, 3)),
        (schedule((1, 2, 3), kill(3), DEAF, start(3), kill(1), kill(2)), (1, 2, 3, 4)),
    ],
    ids=[
        "three at least",
        "only those named",
        "one beside those named",
        "one outlives",
        "a fourth outlives all",
        "never all at once",
        "a fourth hears",
        "all hear again",
        "its end lets it hear",
        "down and deaf is one",
        "deaf from its start on",
    ],
)
def test_somebody_is_always_there_to_be_asked(told: Schedule, expected: tuple[int, ...]) -> None:
    assert brokers_for(told) == expected


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_every_replica_of_the_catalogue_gets_a_broker(scenario: Any) -> None:  # noqa: ANN401
    assert set(scenario.schedule.replicas) <= set(brokers_for(scenario.schedule))


def test_each_trait_of_a_kind_of_cluster_reaches_its_spec() -> None:
    """One list: a trait that tells two schedules apart is one that their clusters have."""
    plain = schedule((1, 2), produce("m0"))
    others = {
        "timing": replace(plain, timing=Timing.LAG),
        "checkpointing": replace(plain, checkpointing=HighWatermarkCheckpoint.NEVER),
        "fetch_wait_max_ms": replace(plain, fetch_wait_max_ms=plain.fetch_wait_max_ms + 1),
        "fetch_sessions": replace(plain, fetch_sessions=not plain.fetch_sessions),
    }
    assert set(others) == set(cluster_kind(plain))
    release = find_release("4.3.1")

    def spec(schedule: Schedule) -> ClusterSpec:
        return ClusterSpec(release, MetadataMode.KRAFT, broker_ids=(1,), **spec_traits(schedule))

    assert len({repr(spec(one)) for one in (plain, *others.values())}) == 1 + len(others)


class _Backend:
    """A backend that starts nothing and knows whether it was closed."""

    name, host = "none", "127.0.0.1"
    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def cluster_pool(backend: _Backend, folder: Path) -> ClusterPool:
    """Return a pool whose cluster cannot be shut down properly."""
    jars = JarSet(folder, (), "0")
    one = ClusterPool(line=line_named("4.3.1"), jars=jars, backend=cast("Any", backend), progress=lambda _: None)
    one._directories.append(folder / "brokers")
    one._stack.callback(_fail)
    return one


@pytest.mark.parametrize("features", [{}, {"eligible.leader.replicas.version": 0}])
def test_a_schedules_cluster_is_formatted_with_the_features_that_are_asked_for(
    features: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ClusterSpec] = []
    pool = cluster_pool(_Backend(), tmp_path)
    monkeypatch.setattr(pool, "cluster_of", asked.append)
    pool.features = features
    pool.cluster_for(schedule((1, 2), produce("m0")))
    assert [dict(spec.features) for spec in asked] == [features]


def _fail() -> None:
    raise KeyError("an answer to another request")


def end(backend: _Backend, folder: Path, error: BaseException | None) -> None:
    (folder / "brokers" / "1").mkdir(parents=True)
    with cluster_pool(backend, folder):
        if error is not None:
            raise error


@pytest.mark.parametrize("error", [SystemExit(143), KeyboardInterrupt()])
def test_a_clean_up_that_fails_does_not_hide_why_it_was_needed(tmp_path: Path, error: BaseException) -> None:
    backend = _Backend()
    with pytest.raises(type(error)):
        end(backend, tmp_path, error)

    assert backend.is_closed
    assert not (tmp_path / "brokers").exists()


@pytest.mark.parametrize(
    ("error", "closed_first"), [(SystemExit(143), True), (KeyboardInterrupt(), True), (ValueError(), False)]
)
def test_who_interrupts_does_not_wait_for_brokers_to_end_in_good_order(
    tmp_path: Path, error: BaseException, *, closed_first: bool
) -> None:
    backend, seen = _Backend(), list[bool]()
    one = cluster_pool(backend, tmp_path)
    one._stack.callback(lambda: seen.append(backend.is_closed))
    with pytest.raises(type(error)), one:
        raise error

    assert seen == [closed_first]


def test_a_clean_up_that_fails_by_itself_is_said_and_the_backend_is_closed_all_the_same(tmp_path: Path) -> None:
    backend = _Backend()
    with pytest.raises(KeyError):
        end(backend, tmp_path, None)

    assert backend.is_closed
    assert not (tmp_path / "brokers").exists()
