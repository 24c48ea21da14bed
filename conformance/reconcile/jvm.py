"""How is the Spark JVM started, known to be alive, and ended for certain?

The JVM is a child whose standard input is a pipe from the tester: Spark's gateway exits when that pipe
closes, so it cannot outlive the tester, however the tester ends. What the JVM prints goes to ``spark.log``.
"""

import contextlib
import logging
import os
import re
import shutil
import subprocess
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from conformance.reconcile.errors import ReconcileError

LOG = "spark.log"
_EXIT_S = 10
_TAIL_CHARACTERS = 300


def launch(conf: SparkConf, work_directory: Path) -> JavaGateway:
    """Start a Spark JVM and return the gateway to it.

    Raises:
        ReconcileError: there is no Java, or the JVM did not come up.
    """
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # a lost JVM is reported once, by ReconcileError
    require_java()
    log_path = work_directory / LOG
    with log_path.open("ab") as log:
        begins = log.tell()
        try:
            gateway = launch_gateway(conf, popen_kwargs={"stdout": log, "stderr": log})
        except (PySparkException, OSError) as error:
            _release_process(error)
            said = _refusal(log_path.read_bytes()[begins:].decode(errors="replace"))
            raise ReconcileError(f"The Spark JVM did not start: {said or error} (see {log_path})") from error
    gateway.spark_log = (log_path, begins)
    return gateway


def _refusal(log: str) -> str:
    """Return why Spark gave up, by what it printed: the error that ended it, or its last words."""
    errors = _MAIN.findall(log)
    return errors[0].strip() if errors else log[-_TAIL_CHARACTERS:].strip()


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


# How does whatever Spark, its JVM or the connection to it throw become one error?
#
# All of it is a ``ReconcileError``: a failure of the tester, never a statement about the brokers, never a pass.


#: What a call into Spark can throw, a lost connection to its JVM included.
SPARK_FAILURES = (Py4JError, PySparkException, OSError, EOFError)

_REASON_LENGTH_MAX = 800
_CIRCULAR = "[CIRCULAR REFERENCE: "
_EXIT_SEEN_S = 1
_MAIN = re.compile(r'Exception in thread "main" (.*)')
_UNCAUGHT = re.compile(r"Uncaught exception in thread .*\n(.*)")


@contextmanager
def failing_as(activity: str) -> Iterator[None]:
    """Turn every failure of Spark inside the block into a ``ReconcileError``.

    Args:
        activity: what the block does, e.g. ``reading topic t``.

    Raises:
        ReconcileError: the block failed; the text names the activity and the cause.
    """
    try:
        yield
    except SPARK_FAILURES as error:
        raise ReconcileError(f"Failed while {activity}: {_lost_jvm() or _reason(error)}") from error


def _lost_jvm() -> str | None:
    gateway = SparkContext._gateway  # noqa: SLF001
    if gateway is None or not has_exited(gateway, within_s=_EXIT_SEEN_S):
        return None
    ended = f"the Spark JVM ended by itself or was killed (exit code {process_of(gateway).returncode})"
    return ": ".join([ended, *_uncaught(gateway)]) + "."


def _uncaught(gateway: JavaGateway) -> list[str]:
    """Return what a JVM exited of, by its log: Spark ends where nobody has caught an error; a kill leaves nothing."""
    with contextlib.suppress(OSError, AttributeError):  # its directory is gone, or it is not one of ours
        log_path, begins = gateway.spark_log  # one that ended before it may have had the file, too
        return _UNCAUGHT.findall(log_path.read_bytes()[begins:].decode(errors="replace"))[:1]
    return []


def _reason(error: Exception) -> str:
    """Return the lines of an error that say something: the first, and the deepest cause Java names.

    A cause that Java has printed already it calls a circular reference; the one before it then stands beside it.
    """
    try:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    except (Py4JError, OSError):  # the text of a Java exception is asked from a JVM that may be gone
        lines = []
    first = lines[0] if lines else type(error).__name__
    causes = [line for line in lines[1:] if line.startswith("Caused by:")]
    deepest = causes[-2:] if causes and _CIRCULAR in causes[-1] else causes[-1:]
    return " ".join([first, *deepest]).replace(_CIRCULAR, "[")[:_REASON_LENGTH_MAX]
