"""Is a child process, root or not, stopped by a full or read-only directory, and is no mount left behind?"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

from fault_injection.cluster.backends.process_storage import ProcessStorage
from fault_injection.cluster.owner import start_time
from fault_injection.cluster.supervision import Supervision
from fault_injection.waiting import until

REPOSITORY = Path(__file__).parents[3]
BLOCK = 4096
WRITER = "import sys; stream = open(sys.argv[1], 'wb'); stream.write(bytes([7]) * int(sys.argv[2])); stream.close()"
TESTER = f"""
import sys, threading
sys.path.insert(0, {str(REPOSITORY)!r})
from pathlib import Path
from fault_injection.cluster.backends.process_storage import ProcessStorage
from fault_injection.cluster.supervision import Supervision
supervision = Supervision()
ProcessStorage(supervision).limit(Path.cwd() / "data", 4096)
print(supervision.pid, flush=True)
threading.Event().wait()
"""


@pytest.fixture
def supervision() -> Iterator[Supervision]:
    supervision = Supervision()
    yield supervision
    supervision.close()


@pytest.fixture
def storage(supervision: Supervision) -> ProcessStorage:
    storage = ProcessStorage(supervision)
    obstacle = storage.obstacle()
    if obstacle is not None:
        pytest.skip(obstacle)
    return storage


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "t-0").mkdir(parents=True)
    (tmp_path / "data" / "t-0" / "0.log").write_bytes(b"x" * 2 * BLOCK)
    with (tmp_path / "data" / "t-0" / "0.index").open("wb") as index:
        index.truncate(100 * BLOCK)
    return tmp_path / "data"


def writes(supervision: Supervision, path: Path, size: int) -> str:
    """Let a child write a file; give what it complained about."""
    with NamedTemporaryFile() as output:
        argv = [sys.executable, "-c", WRITER, str(path), str(size)]
        pid = supervision.start(argv, Path.cwd(), Path(output.name))
        until(lambda: supervision.exit_code(pid) is not None, deadline_s=20, what="end of the child")
        return output.read().decode()


def mounted(path: Path) -> bool:
    return str(path) in Path("/proc/mounts").read_text()


def test_a_directory_that_could_not_be_limited_is_as_it_was(
    supervision: Supervision, storage: ProcessStorage, data: Path
) -> None:
    (data / "a.log").symlink_to("nowhere")
    with pytest.raises(shutil.Error, match=r"a\.log"):
        storage.limit(data, 0)
    assert storage.proof(data) is None
    assert not storage.restore(data)
    assert writes(supervision, data / "b", BLOCK) == ""
    assert (data / "b").stat().st_size == BLOCK
    assert (data / "t-0" / "0.log").read_bytes() == b"x" * 2 * BLOCK


def test_a_full_directory_takes_what_it_has_room_for_and_no_more(
    supervision: Supervision, storage: ProcessStorage, data: Path
) -> None:
    assert storage.proof(data) is None
    storage.limit(data, 2 * BLOCK)
    assert f"size={4 * BLOCK // 1024}k" in (storage.proof(data) or "")
    assert writes(supervision, data / "a", 2 * BLOCK) == ""
    assert "No space left on device" in writes(supervision, data / "b", 1)
    assert (storage.seen(data) / "a").read_bytes() == b"\x07" * 2 * BLOCK
    assert not mounted(data)


def test_what_was_written_stays_when_the_directory_gets_its_storage_back(
    supervision: Supervision, storage: ProcessStorage, data: Path
) -> None:
    storage.limit(data, BLOCK)
    writes(supervision, data / "t-0" / "a", BLOCK)
    (storage.seen(data) / "t-0" / "0.log").unlink()
    assert storage.restore(data)
    assert not storage.restore(data)
    assert storage.proof(data) is None
    assert sorted(path.name for path in (data / "t-0").iterdir()) == ["0.index", "a"]
    assert (data / "t-0" / "0.index").stat().st_size == 100 * BLOCK
    assert writes(supervision, data / "b", 100 * BLOCK) == ""


def test_a_read_only_directory_can_be_read_and_not_written(
    supervision: Supervision, storage: ProcessStorage, data: Path
) -> None:
    storage.protect(data)
    assert " ro," in (storage.proof(data) or "")
    assert "Read-only file system" in writes(supervision, data / "a", 1)
    assert storage.restore(data)
    assert writes(supervision, data / "a", 1) == ""
    assert not mounted(data)


@pytest.mark.parametrize("victim", ["tester", "supervisor"])
def test_no_mount_survives_a_killed_tester_or_supervisor(
    storage: ProcessStorage, victim: str, data: Path, tmp_path: Path
) -> None:
    assert storage.proof(data) is None
    with subprocess.Popen([sys.executable, "-c", TESTER], cwd=tmp_path, stdout=subprocess.PIPE) as tester:
        assert tester.stdout is not None
        supervisor = int(tester.stdout.readline())
        assert str(data) in Path(f"/proc/{supervisor}/mounts").read_text()
        assert not mounted(data)
        os.kill(supervisor if victim == "supervisor" else tester.pid, signal.SIGKILL)
        until(lambda: start_time(supervisor) is None, deadline_s=20, what="end of the supervisor")
        tester.kill()
    assert not mounted(data)
    assert (data / "t-0" / "0.log").read_bytes() == b"x" * 2 * BLOCK
