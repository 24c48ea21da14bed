"""Is a broker that never comes waited for as long as somebody needs it, and no longer?"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered
from fault_injection.cluster.relay import DirectRelay
from fault_injection.releases import NO_JARS
from fault_injection.waiting import DeadlineExceededError
from tests.fault_injection.cluster.conftest import spec_of

PROMPTLY_S = 2.0


@pytest.fixture
def never_started(tmp_path: Path) -> Iterator[Cluster]:
    with closing(ProcessBackend()) as backend, closing(DirectRelay()) as relay:
        cluster = Cluster(spec_of("4.3"), NO_JARS, backend, relay, tmp_path)
        yield cluster
        cluster.shutdown()


def test_a_broker_that_never_comes_is_missed(never_started: Cluster) -> None:
    with pytest.raises(DeadlineExceededError, match="brokers \\[2\\] to be registered"):
        await_registered(never_started, 2, deadline_s=0.2)


def test_it_is_waited_for_no_longer_once_nobody_needs_it(never_started: Cluster) -> None:
    needless = Event()
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(await_registered, never_started, 2, deadline_s=60, is_needless=needless.is_set)
        with pytest.raises(TimeoutError):
            waiting.result(0.3)
        needless.set()
        assert waiting.result(PROMPTLY_S) is None
