"""What does a Spark cluster cost, next to one process? ``python -m benchmarks.soak_on_a_cluster``.

One broker of the newest release, as a child process, with a topic of twelve partitions that four producers filled; a
standalone cluster of two workers with a core each, and ``local[2]``, each with a warm session in a process of its own.
Both reconcile the same soak in turns. Printed are the medians, in seconds and in seconds of processor time of drivers
and executors (which other work on the machine changes less), and their ratio. Counts that differ fail.
"""

from __future__ import annotations

import argparse
import signal
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import monotonic
from typing import TYPE_CHECKING

from benchmarks.made_soaks import Size, made_soak, produce, write_soak
from benchmarks.reconcile_soak import one_broker, processor_s
from benchmarks.standalone import standalone
from conformance.clients.topics import create_spread_topic
from conformance.line import NEWEST
from conformance.reconcile.session import spark_session, stop_session
from conformance.reconcile.soak import reconcile_soak
from fault_injection.releases import spark_connector_jars

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from conformance.record.soak import Soak
    from conformance.record.soak_counted import SoakCounted

LOCAL = "local[2]"
BAR = 1.2
EXECUTOR_MEMORY = "2g"
END_S = 30.0


def main() -> None:
    """Make topics of some sizes, and print what reconciling each takes in both ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kafka", default=NEWEST, metavar="V")
    parser.add_argument("--records", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--rounds", type=int, default=3, help="after one that warms up")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, one_broker(asked.kafka, Path(place)) as cluster:
        for number, records in enumerate(asked.records):
            size, directory = Size.of(int(records)), Path(place) / str(number)
            soak = made_soak(cluster.bootstrap, f"soak-{size.batches}", size)
            create_spread_topic([cluster.client_address(1)], soak.topic, [[1]] * size.partitions)
            run = write_soak(directory / "run", soak, size).path
            with (
                standalone(directory / "standalone", memory=EXECUTOR_MEMORY) as engine,
                _session(LOCAL, directory / "local") as local,
                _session(engine.url, directory / "driver", directory / "standalone") as elsewhere,
            ):
                local.fill(_Filling(soak, size))
                print(_compared(local, elsewhere, _Counting(run, soak), asked.rounds).words(soak))  # noqa: T201


@dataclass(frozen=True)
class _Filling:
    """Produce the records of a soak."""

    soak: Soak
    size: Size


@dataclass(frozen=True)
class _Counting:
    """Reconcile a soak."""

    run: Path
    soak: Soak


@dataclass(frozen=True)
class Took:
    """What reconciling took: seconds by the clock, and of processor time; and what was counted."""

    seconds: float
    processor_s: float
    counted: SoakCounted


@dataclass(frozen=True)
class Compared:
    """The medians of both ways, seconds by the clock and of processor time."""

    local: tuple[float, float]
    cluster: tuple[float, float]

    def words(self, soak: Soak) -> str:
        """Return it for a person to read."""
        ratio, of_processor = (there / here for there, here in zip(self.cluster, self.local, strict=True))
        (here_s, here_cpu), (there_s, there_cpu) = self.local, self.cluster
        return (
            f"{sum(soak.ends):,} records:\n"
            f"  {LOCAL:24} {here_s:7.2f} s, {here_cpu:7.2f} s of processor\n"
            f"  two workers of a core    {there_s:7.2f} s, {there_cpu:7.2f} s of processor\n"
            f"  the cluster takes {ratio:.2f} times as long, {of_processor:.2f} times the processor; the bar is {BAR}"
        )


def _compared(local: _Session, cluster: _Session, what: _Counting, rounds: int) -> Compared:
    """Let both do it in turns, after one round that warms up."""
    each = [(local.takes(what), cluster.takes(what)) for _ in range(rounds + 1)]
    for here, there in each:
        if here.counted != there.counted or not here.counted.identity_holds:
            raise AssertionError("the cluster counts otherwise")
    both = zip(*each[1:], strict=True)
    return Compared(*((median(one.seconds for one in some), median(one.processor_s for one in some)) for some in both))


class _Session:
    """A warm session in a process of its own, which does one thing at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def fill(self, what: _Filling) -> None:
        """Have records produced."""
        self._connection.send(what)
        self._connection.recv()

    def takes(self, what: _Counting) -> Took:
        """Have a soak reconciled, and return what it took."""
        self._connection.send(what)
        took: Took = self._connection.recv()
        return took


@contextmanager
def _session(master: str, directory: Path, executors: Path | None = None) -> Iterator[_Session]:
    """Start a process with a session, and end both; its executors, if it has some, run below a directory."""
    spawning = get_context("spawn")
    ours, its = spawning.Pipe()
    process = spawning.Process(target=_serve, args=(its, master, directory, executors))
    process.start()
    its.close()
    try:
        yield _Session(ours)
    finally:
        ours.close()
        process.join(END_S)
        process.kill()  # its JVM ends with it
        process.join()


def _serve(connection: Connection, master: str, directory: Path, executors: Path | None) -> None:
    """Do what is asked until nobody asks any more."""
    spark = spark_session(
        master,
        connector_jars=spark_connector_jars().files,
        work_directory=directory,
        many_records=True,
        overrides={"spark.executor.memory": EXECUTOR_MEMORY},
    )
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asks
    with suppress(EOFError, BrokenPipeError):
        while True:
            what = connection.recv()
            if isinstance(what, _Filling):
                produce(spark, what.soak, what.size)
                connection.send(None)
                continue
            began, used = monotonic(), _processor_s(directory, executors)
            counted = reconcile_soak(spark, what.run, what.soak)
            connection.send(Took(monotonic() - began, _processor_s(directory, executors) - used, counted))
    stop_session(spark)


def _processor_s(directory: Path, executors: Path | None) -> float:
    """Return the processor time of a session's driver, and of its executors."""
    return sum(_used(path) for path in Path("/proc").glob("[0-9]*") if _is_of(path, directory, executors))


def _is_of(process: Path, directory: Path, executors: Path | None) -> bool:
    """Return whether a process is a session's driver, or one of its executors."""
    try:
        words = (process / "cmdline").read_bytes().decode(errors="replace")
        if "CoarseGrainedExecutorBackend" in words:
            return executors is not None and (process / "cwd").readlink().is_relative_to(executors)
    except OSError:  # it has ended
        return False
    return "SparkSubmit" in words and str(directory) in words


def _used(process: Path) -> float:
    try:
        return processor_s(process.name)
    except OSError:  # it has ended
        return 0.0


if __name__ == "__main__":
    main()
