"""What is special about nodes that are child processes: who survives whom, and what a second start reuses?"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.launches import ClassArchive
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.supervision import MARKER, records_directory
from fault_injection.releases import JarSet, find_java, find_release, jars_of
from fault_injection.waiting import until
from tests.fault_injection.cluster.conftest import spec_of

pytestmark = pytest.mark.broker
REPOSITORY = Path(__file__).parents[3]
TESTER = f"""
import sys, threading
sys.path.insert(0, {str(REPOSITORY)!r})
from pathlib import Path
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.releases import jars_of
from tests.fault_injection.cluster.conftest import spec_of
spec = spec_of("0.10.2", (1,))
cluster = Cluster.start(spec, jars_of(spec.release), ProcessBackend(), DirectRelay(), Path.cwd())
print("up", flush=True)
threading.Event().wait()
"""


def command_lines_in(directory: Path) -> list[str]:
    """Return the command lines of the living nodes whose files are in a directory."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if MARKER in line and str(directory) in line:
            found.append(line)
    return found


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JarSet:
    """Return jars from the usual cache, with a cache of the test's own for everything else."""
    jars = jars_of(find_release("0.10.2"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return jars


@pytest.fixture
def run(jars: JarSet, tmp_path: Path) -> Iterator[Callable[[str], Cluster]]:
    backends = []

    def start(name: str) -> Cluster:
        backends.append(ProcessBackend())
        return Cluster.start(spec_of("0.10.2", (1,)), jars, backends[-1], DirectRelay(), tmp_path / name)

    yield start
    for backend in backends:
        backend.close()


def test_no_broker_survives_a_killed_tester(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", TESTER], cwd=tmp_path, stdout=subprocess.PIPE) as tester:
        assert tester.stdout is not None
        assert tester.stdout.readline() == b"up\n"
        assert len(command_lines_in(tmp_path)) == 3
        tester.kill()
    until(lambda: not command_lines_in(tmp_path), deadline_s=20, what="end of all nodes")


def test_no_record_is_left_of_a_backend_that_was_closed(tmp_path: Path, run: Callable[[str], Cluster]) -> None:
    cluster = run("only")
    assert len(list(records_directory().iterdir())) == 1
    cluster.shutdown()
    cluster.backend.close()
    assert list(records_directory().iterdir()) == []
    assert command_lines_in(tmp_path) == []


def test_the_second_cluster_of_a_release_uses_archived_classes(
    tmp_path: Path, jars: JarSet, run: Callable[[str], Cluster]
) -> None:
    archive = ClassArchive(jars, find_java())
    with run("first"):
        assert any("ArchiveClassesAtExit" in line for line in command_lines_in(tmp_path / "first"))
    assert archive.path.stat().st_size > 1_000_000
    assert archive.path.is_relative_to(tmp_path / "cache")
    with run("second"):
        lines = command_lines_in(tmp_path / "second")
        assert len(lines) == 3
        assert all(f"-XX:SharedArchiveFile={archive.path}" in line for line in lines)


def test_a_writer_that_is_killed_archives_nothing(jars: JarSet, run: Callable[[str], Cluster]) -> None:
    archive = ClassArchive(jars, find_java())
    with run("only") as cluster:
        cluster.kill(100)
    assert not archive.path.exists()


def test_a_kafka_directory_can_stand_in_for_the_jars(tmp_path: Path, jars: JarSet) -> None:
    libs = tmp_path / "kafka" / "libs"
    libs.mkdir(parents=True)
    for jar in jars.files:
        (libs / jar.name).symlink_to(jar)
    spec = spec_of("0.10.2", (1,))
    own = jars_of(spec.release, kafka_home=tmp_path / "kafka")
    backend = ProcessBackend()
    with Cluster.start(spec, own, backend, DirectRelay(), tmp_path / "brokers") as cluster:
        assert all(str(libs) in line for line in command_lines_in(tmp_path / "brokers"))
        assert own.digest == jars.digest
        started = "[Kafka Server 1], started"  # which a broker logs a little after it answers
        until(lambda: started in cluster.log_text(1), deadline_s=30, what=f"{started!r} in its log")
    backend.close()
