"""Spark's thread is left at once, whatever it is doing, and nothing of it stays."""

from __future__ import annotations

import gc
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from conformance import spark_thread
from conformance.reconcile.session import end_running_session
from conformance.spark_thread import SparkThread
from fault_injection.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.spark, pytest.mark.alone, pytest.mark.timeout(120)]

PROMPTLY_S = 5.0


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory of the room's own, whose path is on the command line of everything it starts.

    A session that other tests have left running would be used instead of a new one.
    """
    end_running_session()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path
    assert not commands(tmp_path)


def commands(folder: Path) -> list[bytes]:
    """Return the command lines that name a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return [line for line in found if str(folder).encode() in line]


def is_starting(context: SparkThread, temporary: Path) -> bool:
    assert context._started is not None
    return any(b"SparkSubmit" in line for line in commands(temporary)) and not context._started.done()


def is_at_work(context: SparkThread, _temporary: Path) -> bool:
    """Return whether a job runs that would take hours; the first call begins it."""
    if context._current is None:
        return False
    if context._latest is context._started:
        context._latest = context._thread.submit(context._current.range(10**14).selectExpr("max(id * 7 % 13)").collect)
    return bool(context._current.sparkContext.statusTracker().getActiveStageIds())


@pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("has_come", [is_starting, is_at_work])
def test_a_room_that_is_left_while_spark_is_busy_ends_at_once(
    temporary: Path, has_come: Callable[[SparkThread, Path], bool]
) -> None:
    context = SparkThread()
    context.start()
    until(lambda: has_come(context, temporary), deadline_s=60, what="Spark to be busy")
    began = time.monotonic()
    context.close()

    assert time.monotonic() - began < PROMPTLY_S
    assert list(temporary.iterdir()) == []
    gc.collect()  # pyspark drops the pipe of a JVM that does not come up; let it be this test's


def test_a_room_in_which_nothing_happened_is_left(temporary: Path) -> None:
    SparkThread().close()

    assert list(temporary.iterdir()) == []


def test_a_spark_that_does_not_stop_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(spark_thread, "STOP_DEADLINE_S", 0.1)
    monkeypatch.setattr(spark_thread, "jvm", SimpleNamespace(send_signal=lambda _work, _number: ended.set()))
    context = SparkThread()
    monkeypatch.setattr(context, "_stop", ended.wait)
    context.close()
    assert ended.is_set()
