"""Sessions of their own, each in its own process: what happens when a JVM or its tester dies?"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fault_injection.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.alone]

_DEADLINE_S = 120

_START = """
import os, sys
from pathlib import Path
from pyspark import SparkContext
from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.jvm import failing_as
from conformance.reconcile.jvm import process_of
from conformance.reconcile.session import spark_session, stop_session

def session():
    return spark_session(connector_jars=(), work_directory=Path(sys.argv[1]))
"""

_LOSES_ITS_JVM = """
import threading
spark = session()
jvm = process_of(SparkContext._gateway)
threading.Timer(1, jvm.kill).start()
try:
    with failing_as("counting"):
        spark.range(10**14).selectExpr("max(id * 7 % 13)").first()
except ReconcileError as error:
    print(error)
second = session()
print(second is not spark, second.range(3).count())
print(session() is second)
stop_session(second)
"""

_RUNS_OUT_OF_MEMORY = """
spark = session()
try:
    with failing_as("counting"):
        spark.range(1).selectExpr("length(repeat(cast(id as string), 2000000000))").first()
except ReconcileError as error:
    print(error)
spark = session()
process_of(SparkContext._gateway).kill()
try:
    with failing_as("counting"):
        spark.range(1).count()
except ReconcileError as error:
    print(error)
stop_session(spark)
"""

_IS_KILLED = """
import time
spark = session()
print(process_of(SparkContext._gateway).pid, flush=True)
sys.stdin.read()
"""

_HAS_NO_JAVA = """
os.environ.pop("JAVA_HOME", None)
os.environ["PATH"] = "/nonexistent"
try:
    session()
except ReconcileError as error:
    print(error)
"""

_IS_GIVEN_SETTINGS = """
from conformance.reconcile.session import MANY_RECORDS, tune
given = {
    "spark.sql.shuffle.partitions": "7",
    "spark.driver.extraJavaOptions": "-Dof.the.user=1 -XX:+UseG1GC",
    "spark.driver.extraClassPath": "/mine.jar",
}
jars = [Path("/spark-sql-kafka-0-10.jar")]
spark = spark_session(connector_jars=jars, work_directory=Path(sys.argv[1]), overrides=given)
for records in (1, MANY_RECORDS):
    tune(spark, records)
    print(spark.conf.get("spark.sql.shuffle.partitions"), spark.conf.get("spark.sql.codegen.wholeStage"))
print(spark.conf.get("spark.driver.extraClassPath"))
options = spark.conf.get("spark.driver.extraJavaOptions")
print(spark.sparkContext._jvm.System.getProperty("of.the.user"), "-XX:T" in options, "Serial" in options)
stop_session(spark)
"""

_HAS_NO_YARN = """
for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
    os.environ.pop(name, None)
try:
    spark_session("yarn", connector_jars=(), work_directory=Path(sys.argv[1]))
except ReconcileError as error:
    print(error)
"""


def _tester(script: str, directory: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _START + script, str(directory)]
    root = str(Path(__file__).parents[3])
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=os.environ | {"PYTHONPATH": root})


def _output(script: str, directory: Path) -> list[str]:
    with _tester(script, directory) as tester:
        return tester.communicate(timeout=_DEADLINE_S)[0].splitlines()


def test_a_lost_jvm_is_one_error_and_the_next_session_is_new(tmp_path: Path) -> None:
    assert _output(_LOSES_ITS_JVM, tmp_path) == [
        "Failed while counting: the Spark JVM ended by itself or was killed (exit code -9).",
        "True 3",
        "True",
    ]


def test_a_jvm_that_ended_of_an_error_is_quoted(tmp_path: Path) -> None:
    error, next_error = _output(_RUNS_OUT_OF_MEMORY, tmp_path)
    ended = "the Spark JVM ended by itself or was killed (exit code 52)"
    assert error == f"Failed while counting: {ended}: java.lang.OutOfMemoryError: Java heap space."
    assert next_error == "Failed while counting: the Spark JVM ended by itself or was killed (exit code -9)."


def test_the_jvm_dies_with_its_tester(tmp_path: Path) -> None:
    with _tester(_IS_KILLED, tmp_path) as tester:
        assert tester.stdout is not None
        jvm = int(tester.stdout.readline())
        assert _is_running(jvm)
        tester.send_signal(signal.SIGKILL)
    until(lambda: not _is_running(jvm), deadline_s=20, what="the JVM to end")


def test_without_java_the_error_says_so(tmp_path: Path) -> None:
    assert _output(_HAS_NO_JAVA, tmp_path) == [
        "Spark needs Java 17 or later: no java on PATH, and JAVA_HOME is not set."
    ]


def test_settings_that_are_given_win_and_lists_are_added(tmp_path: Path) -> None:
    assert _output(_IS_GIVEN_SETTINGS, tmp_path) == [
        "7 false",
        "7 true",
        "/spark-sql-kafka-0-10.jar:/mine.jar",
        "1 True False",
    ]


def test_yarn_without_a_configuration_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (said,) = _output(_HAS_NO_YARN, tmp_path)
    assert said.startswith("The Spark JVM did not start: org.apache.spark.SparkException: ")
    assert "either HADOOP_CONF_DIR or YARN_CONF_DIR must be set" in said


def _is_running(process: int) -> bool:
    """Return whether a process runs: a zombie that nobody waits for does not."""
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
