"""Do process faults do the same to real brokers on every backend, prove it, and heal?"""

from collections.abc import Iterator

import pytest

from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, registered_brokers
from fault_injection.faults.fault import Fault, FaultError, Proven
from fault_injection.faults.process import KillProcess, KillProcesses, PauseProcess, StopProcess
from tests.fault_injection.cluster.conftest import (
    BACKENDS,
    NewBackend,
    made_healthy,
    running_cluster,
    spec_of,
)

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module", params=BACKENDS)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    new_backend: NewBackend = request.param
    spec = spec_of("4.3.1", broker_ids=(1, 2))
    with running_cluster(spec, new_backend, tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared: Cluster) -> Cluster:
    return made_healthy(shared)


FAULTS: list[tuple[Fault, str, str, list[tuple[int, int | None, int | None, bool]], str]] = [
    (
        StopProcess(1),
        "broker 1 stopped (SIGTERM)",
        "broker 1 ended with exit code 143",
        [(1, 143, 15, False)],
        "broker 1 started",
    ),
    (
        KillProcess(1),
        "broker 1 killed (SIGKILL)",
        "broker 1 ended by SIGKILL",
        [(1, 137, 9, False)],
        "broker 1 started",
    ),
    (PauseProcess(2), "broker 2 paused", "broker 2 stands still", [(2, None, None, True)], "broker 2 resumed"),
    (
        KillProcesses((1, 2), (2, 1)),
        "brokers 1, 2 killed at once (SIGKILL)",
        "brokers 1, 2 ended by SIGKILL",
        [(1, 137, 9, False), (2, 137, 9, False)],
        "brokers 2, 1 started",
    ),
]


@pytest.mark.parametrize(
    ("fault", "done", "proof", "processes", "healed"), FAULTS, ids=lambda it: getattr(it, "name", "")
)
def test_a_process_fault_is_proved_and_healed(
    cluster: Cluster,
    fault: Fault,
    done: str,
    proof: str,
    processes: list[tuple[int, int | None, int | None, bool]],
    healed: str,
) -> None:
    assert isinstance(fault, Proven)
    assert fault.proof(cluster) is None
    assert fault.inject(cluster) == done
    shown = fault.proof(cluster)
    assert shown is not None
    assert shown.text == proof
    assert [(one.broker, one.exit_code, one.signal, one.is_paused) for one in shown.processes] == processes
    assert fault.available(cluster).obstacle
    with pytest.raises(FaultError, match=r"does not run|is paused"):
        fault.inject(cluster)
    assert fault.heal(cluster) == healed
    assert fault.heal(cluster) is None
    await_registered(cluster, 1, 2)
    assert {1, 2} <= registered_brokers(cluster)
