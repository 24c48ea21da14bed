"""Is the backend chosen by what the machine has, and is the reason told?"""

from pathlib import Path

import pytest

from fault_injection.cluster.backends.choice import choose_backend
from fault_injection.cluster.backends.docker import problem_with_docker
from fault_injection.releases import UsageError

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def no_daemon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/absent.sock")


@pytest.mark.usefixtures("no_daemon")
def test_without_a_daemon_child_processes_are_used() -> None:
    backend, reason = choose_backend("auto")
    backend.close()
    assert backend.name == "process"
    assert reason.startswith("Child processes, because no Docker daemon answers")


@pytest.mark.usefixtures("no_daemon")
def test_containers_that_cannot_be_had_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^Containers cannot be used: no Docker daemon answers .*container_image"):
        choose_backend("docker")
    with pytest.raises(UsageError, match="Containers cannot be used"):
        choose_backend("auto", kafka_image="apache/kafka:4.3.1")


def test_child_processes_can_be_asked_for() -> None:
    backend, reason = choose_backend("process")
    backend.close()
    assert (backend.name, reason) == ("process", "Child processes were asked for.")


def test_an_image_cannot_run_as_child_processes() -> None:
    with pytest.raises(UsageError, match="An image needs the docker backend"):
        choose_backend("process", kafka_image="apache/kafka:4.3.1")


@pytest.mark.docker
def test_containers_are_preferred_where_they_can_be_had() -> None:
    problem = problem_with_docker(None)
    if problem is not None:
        pytest.skip(problem)
    backend, reason = choose_backend("auto")
    backend.close()
    assert (backend.name, reason) == ("docker", "A Docker daemon answers.")


@pytest.mark.docker
def test_an_image_that_is_nowhere_is_a_problem() -> None:
    problem = problem_with_docker("kafka-conformance.invalid/absent:1")
    if problem is not None and problem.startswith("no Docker daemon"):
        pytest.skip(problem)
    assert problem is not None
    assert problem.startswith("the image kafka-conformance.invalid/absent:1 is neither present nor")
