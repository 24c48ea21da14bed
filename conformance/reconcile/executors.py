"""Does a Spark cluster give executors, and can they do what reconciling a soak asks of them?

Spark waits without end for executors that a cluster does not give, or no longer has: who has none for long is starved.
What they can do is tried before any record is sent. They have to read ledgers and write tables in the soak's directory,
under the path that it has here, and to reach each broker where it is advertised. What they would miss they would miss
after hours of load, when brokers are all that has the records. A topic of its own, with a partition led by each broker,
is written and read by them.
"""

import shutil
import time
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.jvm import failing_as

_TRIED = "executors"
_ROUNDS = 4
"""So many tasks for each core, so that every executor is likely to have some."""


class Hunger:
    """For how long has a session had no executor, on a cluster that has to give some?

    Args:
        master: of Spark.
        patience_s: for so long it may have none.
    """

    def __init__(self, master: str, patience_s: float) -> None:
        self._master, self._patience_s = master, patience_s
        self._fed_s = time.monotonic()
        self._had = 0

    def look(self, context: SparkContext) -> None:
        """Look once.

        Raises:
            ReconcileError: it has had none for too long; says what may be the matter.
        """
        now_s = time.monotonic()
        executors = len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1  # noqa: SLF001 - one is the driver
        if executors > 0:
            self._fed_s, self._had = now_s, max(self._had, executors)
        elif now_s - self._fed_s > self._patience_s:
            raise ReconcileError(self._words(context))

    def _words(self, context: SparkContext) -> str:
        conf = context.getConf()
        if self._had:
            why = f"all it had ({self._had}) are gone, and no worker is left that gives another"
        else:
            driver, memory = conf.get("spark.driver.host"), conf.get("spark.executor.memory", "1g")
            why = (
                f"no worker has a core and {memory} of memory to spare (spark.executor.memory), "
                f"or executors do not reach the driver at {driver} (--advertise, or spark.driver.host)"
            )
        return f"Spark on {self._master} has had no executor for {self._patience_s:g} s: {why}."


def try_sharing(spark: SparkSession, runs: Path) -> None:
    """Have executors write and read in the directory in which soaks have theirs.

    Raises:
        ReconcileError: they have another directory at that path, or none; says what is to be changed.
    """
    directory, tasks = runs / _TRIED, _ROUNDS * spark.sparkContext.defaultParallelism
    advice = (
        f"--runs-dir must be on a file system that executors of {spark.sparkContext.master} share with this machine, "
        "under the same path, and may write to"
    )
    try:
        with failing_as(f"executors tried to write and read in {runs}: {advice}"):
            spark.range(0, tasks, numPartitions=tasks).write.mode("overwrite").parquet(str(directory))
            there = sum(1 for _ in directory.glob("*.parquet"))
            read = spark.read.schema("id long").parquet(str(directory)).count() if there else 0
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if (there, read) != (tasks, tasks):
        raise ReconcileError(f"Executors wrote {tasks} files in {runs}, and {there} are there: {advice}.")


def try_reaching(spark: SparkSession, bootstrap: str, topic: str, brokers: int) -> None:
    """Have executors write and read a topic that has a partition on each broker.

    Raises:
        ReconcileError: they do not reach one.
    """
    master, tasks = spark.sparkContext.master, max(brokers, _ROUNDS * spark.sparkContext.defaultParallelism)
    partition = (F.col("id") % brokers).cast("int").alias("partition")
    rows = spark.range(0, tasks, numPartitions=tasks).select(F.col("id").cast("string").alias("value"), partition)
    to = {"kafka.bootstrap.servers": bootstrap, "kafka.enable.idempotence": "false", "kafka.max.block.ms": "20000"}
    with failing_as(f"executors of {master} tried to reach the brokers at {bootstrap} (--advertise)"):
        rows.write.format("kafka").options(**to, topic=topic).save()
        there = spark.read.format("kafka").options(**to, subscribe=topic, startingOffsets="earliest").load().count()
    if there < tasks:
        raise ReconcileError(f"Executors of {master} wrote {tasks} records to {topic}, and {there} are there.")
