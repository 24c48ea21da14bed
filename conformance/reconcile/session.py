"""How does the tester get a Spark session that is quiet, local and quick to start?

One session serves a whole tester process. A session whose JVM has died is replaced by the next call.
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from conformance.reconcile import jvm
from conformance.reconcile.jvm import SPARK_FAILURES, failing_as

_CONNECTOR_ARTIFACTS = (
    "spark-sql-kafka-0-10",
    "spark-token-provider-kafka-0-10",
    "kafka-clients",
    "commons-pool2",
)

_LOG4J2 = """status = error
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{ISO8601} %p %c: %m%n%ex
"""

# The first compiler tier alone and one garbage collecting thread: what is short-lived starts twice as fast.
# With one tier the JVM would set 48 MB aside for compiled code, and some 150 reconciliations fill them: there
# Spark exits with 50 (VirtualMachineError: out of space in CodeCache for adapters). 240 MB is what all tiers get.
_START_FAST = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"

# Records are garbage a moment after they are read: a collector that is made for throughput keeps less memory.
_WORK_LONG = "-XX:+UseParallelGC"

_SETTINGS = {
    "spark.app.name": "kafka-conformance",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.pyspark.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "32",
    "spark.hadoop.fs.defaultFS": "file:///",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "spark.hadoop.parquet.enable.summary-metadata": "false",
}


def spark_session(
    master: str = "local[2]",
    *,
    connector_jars: Sequence[Path],
    work_directory: Path,
    many_records: bool = False,
    overrides: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return the session of this process: the one there is while its JVM lives, else a new one.

    Args:
        master: a Spark master, e.g. ``local[2]`` or ``spark://host:7077``.
        connector_jars: the jars of Spark's Kafka source; those that pyspark has already are left out.
        work_directory: where Spark keeps its temporary files and ``spark.log``.
        many_records: start a JVM for runs of 10^6 records and more rather than one that starts quickly.
        overrides: Spark settings that win over the ones chosen here; lists are added to those.

    Raises:
        ReconcileError: there is no Java, or Spark did not start.
    """
    running = _running()
    if running is not None:
        return running
    work_directory.mkdir(parents=True, exist_ok=True)
    conf = SparkConf(loadDefaults=False)
    for name, value in _settings(master, connector_jars, work_directory, many_records=many_records).items():
        conf.set(name, value)
    _override(conf, overrides or {})
    return _started(conf, work_directory)


_JOINED = {"spark.jars": ",", "spark.driver.extraClassPath": ":", "spark.driver.extraJavaOptions": " "}
_GIVEN = "spark.conformance.given"
_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
"""A JVM has one garbage collector, and does not start with two."""


def _override(conf: SparkConf, given: Mapping[str, str]) -> None:
    for name, value in given.items():
        own = conf.get(name, "") if name in _JOINED else ""
        if _COLLECTOR.search(value):
            own = _COLLECTOR.sub("", own or "")
        conf.set(name, f"{own}{_JOINED[name]}{value}" if own else value)
    conf.set(_GIVEN, ",".join(given))


def stop_session(spark: SparkSession) -> None:
    """End the session and its JVM, also one that has died already; temporary files go with it."""
    _discard(spark.sparkContext)


def end_running_session() -> None:
    """End the session of this process and its JVM, whoever started it, if there is one."""
    if SparkContext._gateway is not None:  # noqa: SLF001
        _discard(SparkContext._active_spark_context)  # noqa: SLF001


def _running() -> SparkSession | None:
    """Return the session of this process, whichever thread started it; clear away one whose JVM has died."""
    gateway, session = SparkContext._gateway, SparkSession._instantiatedSession  # noqa: SLF001
    if gateway is None:
        return None
    if session is not None and not jvm.has_exited(gateway):
        return session
    _discard(SparkContext._active_spark_context)  # noqa: SLF001
    return None


def _started(conf: SparkConf, work_directory: Path) -> SparkSession:
    gateway = jvm.launch(conf, work_directory)
    try:
        with failing_as(f"starting Spark on {conf.get('spark.master')}"):
            return SparkSession(SparkContext(conf=conf, gateway=gateway))
    except BaseException:
        jvm.end(gateway)
        jvm.forget()
        raise


def _discard(context: SparkContext | None) -> None:
    gateway = SparkContext._gateway  # noqa: SLF001
    if context is not None:
        _stop(context)
    if gateway is not None:
        jvm.end(gateway)
    jvm.forget()


def _stop(context: SparkContext) -> None:
    """Stop a context whose JVM may be gone: then the first call fails, and the second ends what is in Python."""
    with warnings.catch_warnings():  # pyspark warns of a JVM that is gone; it is meant to go
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            context.stop()
        except SPARK_FAILURES:
            context.stop()


def _settings(
    master: str, connector_jars: Sequence[Path], work_directory: Path, *, many_records: bool
) -> dict[str, str]:
    log4j2 = work_directory / "log4j2.properties"
    log4j2.write_text(_LOG4J2)
    options = (
        f"-Dlog4j2.configurationFile={log4j2.as_uri()} -Dderby.system.home={work_directory} "
        f"-Djava.io.tmpdir={work_directory} -XX:-UsePerfData"  # nothing of a JVM that is killed stays elsewhere
    )
    return {
        **_SETTINGS,
        **FEW,
        "spark.master": master,
        "spark.local.dir": str(work_directory / "local"),
        "spark.sql.warehouse.dir": (work_directory / "warehouse").as_uri(),
        "spark.driver.extraJavaOptions": f"{_WORK_LONG if many_records else _START_FAST} {options}",
        "spark.driver.memory": "4g" if many_records else "1g",
        **_connector_settings(master, connector_jars),
    }


def _connector_settings(master: str, connector_jars: Sequence[Path]) -> dict[str, str]:
    """Put the connector on the class path; only a real cluster has executors to send it to."""
    jars = [str(jar) for jar in connector_jars if jar.name.startswith(_CONNECTOR_ARTIFACTS)]
    if not jars:
        return {}
    if master.startswith("local"):
        return {"spark.driver.extraClassPath": ":".join(jars)}
    return {"spark.jars": ",".join(jars)}


# Which settings of Spark suit few records, and which suit many?
#
# Few: no code is generated, since compiling it takes longer than the query. Many: everything that keeps a query
# of 10^7 records bounded; what is brought together is so in twice as many tasks as there are cores, since each task
# costs some tens of milliseconds, and one of two may be the larger. Both give the same answers.


#: From this many records on, a query counts as one over many.
MANY_RECORDS = 200_000

FEW = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
}
MANY = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}
_SHUFFLED_TASKS_A_CORE = 2


def _many(spark: SparkSession) -> dict[str, str]:
    tasks = _SHUFFLED_TASKS_A_CORE * spark.sparkContext.defaultParallelism
    return {**MANY, "spark.sql.shuffle.partitions": str(tasks)}


def tune(spark: SparkSession, records: int) -> bool:
    """Set the session up for queries over so many records, but for what it was given; say whether they are many."""
    is_many, given = records >= MANY_RECORDS, (spark.conf.get(_GIVEN, "") or "").split(",")
    for name, value in (_many(spark) if is_many else FEW).items():
        if name not in given:
            spark.conf.set(name, value)
    return is_many
