"""Does a process that could not be seen to stand still go on?"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_injection.cluster.backends import process
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.spec import Node, ProcessRole
from fault_injection.cluster.supervision import is_stopped
from fault_injection.waiting import DeadlineExceededError, until

NODE = Node(ProcessRole.BROKER, 1)


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[ProcessBackend]:
    backend = ProcessBackend()
    backend._pids[NODE] = backend._supervision.start(["sleep", "60"], tmp_path, tmp_path / "output")
    yield backend
    backend.close()


def test_a_process_that_did_not_stop_in_time_is_resumed(
    backend: ProcessBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as unseen:
        unseen.setattr(process, "is_stopped", lambda _: False)
        unseen.setattr(process, "_STAND_STILL_S", 0.1)
        with pytest.raises(DeadlineExceededError, match="stop of"):
            backend.pause(NODE)
    until(lambda: not is_stopped(backend._pids[NODE]), deadline_s=10, what="it to go on")


def test_a_paused_process_stands_still_until_it_is_resumed(backend: ProcessBackend) -> None:
    backend.pause(NODE)
    state = backend.process_state(NODE)
    assert state is not None
    assert state.is_paused
    backend.resume(NODE)
    until(lambda: not is_stopped(backend._pids[NODE]), deadline_s=10, what="it to go on")
