"""What does reconciling a soak cost, next to merely reading its topic? ``python -m benchmarks.reconcile_soak``.

One broker of the newest release, as a child process, with a topic of twelve partitions that four producers filled; in
one warm session Spark reads the topic and counts it, and reconciles it, in turns. Printed are the medians of both, in
seconds and in seconds of the JVM's processor time (which other work on the machine changes less), their ratios, and the
peak memory of the JVM and of this process while it reconciles; for each size in a session of its own.
A reconciliation that finds anything but records that were kept fails: its figures are of something else.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from pyspark import SparkContext

from benchmarks.made_soaks import Size, made_soak, produce, write_soak
from conformance.clients.topics import create_spread_topic
from conformance.line import NEWEST, line_named
from conformance.reconcile.jvm import process_of
from conformance.reconcile.session import spark_session, stop_session
from conformance.reconcile.soak import READING, reconcile_soak, soak_records
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import jars_of, spark_connector_jars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from conformance.record.soak import Soak
    from conformance.record.soak_counted import SoakCounted

TICKS = os.sysconf("SC_CLK_TCK")
MIB = 1024
PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


def main() -> None:
    """Make topics of some sizes, and print what reading and reconciling each takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kafka", default=NEWEST, metavar="V")
    parser.add_argument("--records", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--rounds", type=int, default=3, help="after one that warms up")
    parser.add_argument("--master", default="local[2]", help="of Spark")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, one_broker(asked.kafka, Path(directory)) as cluster:
        for records in asked.records:
            size = Size.of(int(records))
            with session(asked.master, Path(directory) / f"spark-{size.batches}") as spark:
                soak, run = filled(spark, cluster, size, Path(directory))
                print(Compared.of(spark, run, soak, asked.rounds).words(soak))  # noqa: T201


@contextmanager
def one_broker(version: str, directory: Path) -> Iterator[Cluster]:
    """Start one broker of a release."""
    line = line_named(version)
    spec = ClusterSpec(line.release, line.metadata, broker_ids=(1,))
    with (
        closing(ProcessBackend()) as backend,
        closing(DirectRelay()) as relay,
        Cluster.start(spec, jars_of(line.release), backend, relay, directory / "brokers") as cluster,
    ):
        yield cluster


@contextmanager
def session(master: str, directory: Path) -> Iterator[SparkSession]:
    """Start a Spark session for many records."""
    jars = spark_connector_jars().files
    spark = spark_session(master, connector_jars=jars, work_directory=directory, many_records=True)
    try:
        yield spark
    finally:
        stop_session(spark)


def filled(spark: SparkSession, cluster: Cluster, size: Size, directory: Path) -> tuple[Soak, Path]:
    """Make a soak of a size on a cluster of one broker, and return it with its directory."""
    soak = made_soak(cluster.bootstrap, f"soak-{size.batches}", size)
    create_spread_topic([cluster.client_address(1)], soak.topic, [[1]] * size.partitions)
    began = time.monotonic()
    produce(spark, soak, size)
    print(f"{size.records:,} records produced in {time.monotonic() - began:.0f} s")  # noqa: T201
    return soak, write_soak(directory / soak.topic, soak, size).path


@dataclass(frozen=True, slots=True)
class Took:
    """What one thing took: seconds by the clock, and of the JVM's processor time."""

    seconds: float
    processor_s: float

    @classmethod
    def by(cls, work: Callable[[], object]) -> Took:
        """Do it, and return what it took."""
        began, used = time.monotonic(), processor_s(_jvm())
        work()
        return cls(time.monotonic() - began, processor_s(_jvm()) - used)

    @classmethod
    def median(cls, several: list[Took]) -> Took:
        """Return the median of each."""
        return cls(median(one.seconds for one in several), median(one.processor_s for one in several))


@dataclass(frozen=True, slots=True)
class Compared:
    """Reading, reading with large fetches, and reconciling, which reads with these; and peaks of memory in MiB."""

    plain: Took
    reading: Took
    reconciling: Took
    jvm_peak: int
    driver_peak: int

    @classmethod
    def of(cls, spark: SparkSession, run: Path, soak: Soak, rounds: int) -> Compared:
        """Do each some times in turns, after one round that warms up."""
        each: list[tuple[Took, Took, Took]] = []
        peaks = [(0, 0)]
        for _ in range(rounds + 1):
            plain = Took.by(lambda: _counted(spark, soak, large=False))
            reading = Took.by(lambda: _counted(spark, soak, large=True))
            _forget_peaks()
            reconciling = Took.by(lambda: _require_kept(reconcile_soak(spark, run, soak), soak))
            peaks.append((_peak(_jvm()), _peak("self")))
            each.append((plain, reading, reconciling))
        told = [Took.median(list(one)) for one in zip(*each[1:], strict=True)]
        return cls(told[0], told[1], told[2], *(max(one) for one in zip(*peaks, strict=True)))

    def words(self, soak: Soak) -> str:
        """Return it for a person to read."""
        lines = [f"{sum(soak.ends):,} records:"]
        for name, took in (
            ("count", self.plain),
            ("count, large fetches", self.reading),
            ("reconcile", self.reconciling),
        ):
            by_clock, by_processor = (
                self.reconciling.seconds / took.seconds,
                self.reconciling.processor_s / took.processor_s,
            )
            lines.append(
                f"  {name:22} {took.seconds:7.2f} s, {took.processor_s:7.2f} s of processor; "
                f"reconciling takes {by_clock:.2f} times as long, {by_processor:.2f} times the processor"
            )
        return "\n".join([*lines, f"  peak of memory: JVM {self.jvm_peak} MiB, driver {self.driver_peak} MiB"])


def _counted(spark: SparkSession, soak: Soak, *, large: bool) -> None:
    count = soak_records(spark, soak, READING if large else {}).count()
    if count != sum(soak.ends):
        raise AssertionError(f"{count} records were read")


def _require_kept(counted: SoakCounted, soak: Soak) -> None:
    kept = counted.total("kept").predicted
    if not counted.identity_holds or kept != sum(soak.ends) or kept != counted.attempted:
        raise AssertionError(f"{kept} records are kept")


def _jvm() -> str:
    return str(process_of(SparkContext._gateway).pid)  # noqa: SLF001 - where pyspark has it


def processor_s(process: object) -> float:
    """Return the processor time of a process, in seconds. Raises OSError if it has ended."""
    times = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(times[11]) + int(times[12])) / TICKS


def _forget_peaks() -> None:
    for process in (_jvm(), "self"):
        Path(f"/proc/{process}/clear_refs").write_text("5", encoding="utf-8")


def _peak(process: str) -> int:
    found = PEAK.search(Path(f"/proc/{process}/status").read_text(encoding="utf-8"))
    return int(found[1]) // MIB if found else 0


if __name__ == "__main__":
    main()
