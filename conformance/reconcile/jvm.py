"""How is the Spark JVM started, known to be alive, and ended for certain?

The JVM is a child whose standard input is a pipe from the tester: Spark's gateway exits when that pipe
closes, so it cannot outlive the tester, however the tester ends. What the JVM prints goes to ``spark.log``.
"""

import contextlib
import logging
import os
import shutil
import subprocess
import traceback
from pathlib import Path

from py4j.java_gateway import JavaGateway
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from conformance.reconcile.errors import ReconcileError

LOG = "spark.log"
_EXIT_S = 10
_TAIL_CHARACTERS = 300


def launch(conf: SparkConf, work_directory: Path) -> JavaGateway:
    """Start a Spark JVM and give the gateway to it.

    Raises:
        ReconcileError: there is no Java, or the JVM did not come up.
    """
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # a lost JVM is reported once, by ReconcileError
    require_java()
    log_path = work_directory / LOG
    with log_path.open("ab") as log:
        try:
            return launch_gateway(conf, popen_kwargs={"stdout": log, "stderr": log})
        except (PySparkException, OSError) as error:
            _release_process(error)
            tail = log_path.read_text(errors="replace")[-_TAIL_CHARACTERS:].strip()
            raise ReconcileError(f"The Spark JVM did not start: {tail or error} (see {log_path})") from error


def _release_process(error: BaseException) -> None:
    """Close the pipe to a JVM that did not come up, and see it off; pyspark leaves both to the garbage collector."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        process = frame.f_locals.get("proc")
        if isinstance(process, subprocess.Popen):
            if process.stdin:
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_EXIT_S)


def require_java() -> None:
    """Check that a Java is there, where Spark's start script looks for it.

    Raises:
        ReconcileError: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    if home and not os.access(Path(home) / "bin" / "java", os.X_OK):
        raise ReconcileError(f"Spark needs Java 17 or later: JAVA_HOME is {home}, which has no bin/java.")
    if not home and shutil.which("java") is None:
        raise ReconcileError("Spark needs Java 17 or later: no java on PATH, and JAVA_HOME is not set.")


def process_of(gateway: JavaGateway) -> subprocess.Popen[bytes]:
    """Return the process of the JVM behind a gateway."""
    process: subprocess.Popen[bytes] = gateway.proc
    return process


def has_exited(gateway: JavaGateway, within_s: float = 0) -> bool:
    """Return whether the JVM behind a gateway has exited, or does so within a moment."""
    try:
        process_of(gateway).wait(within_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def end(gateway: JavaGateway) -> None:
    """End the JVM and wait until it is gone; kill it when it does not go by itself."""
    process = process_of(gateway)
    gateway.shutdown()
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(_EXIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def send_signal(work_directory: Path, number: int) -> None:
    """Send a signal to the JVM of a work directory, also to one that is still starting and has no gateway yet.

    On SIGTERM Spark cancels its jobs and takes leave of its master. The JVM, and the scripts that start it, are
    found by the work directory on their command lines, so this needs ``/proc``.
    """
    mark = os.fsencode(work_directory)
    for command_line in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            if mark in command_line.read_bytes():
                os.kill(int(command_line.parent.name), number)


def forget() -> None:
    """Make pyspark forget its JVM, so that the next session starts a new one.

    pyspark keeps the gateway of a dead JVM for ever and offers no call to drop it.
    """
    SparkContext._gateway = None  # noqa: SLF001
    SparkContext._jvm = None  # noqa: SLF001
    SparkContext._active_spark_context = None  # noqa: SLF001
    SparkSession._instantiatedSession = None  # noqa: SLF001
    SparkSession._activeSession = None  # noqa: SLF001
