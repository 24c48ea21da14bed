"""A standalone Spark cluster on this machine: a master and workers, started from the classes that pyspark brings."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from fault_injection.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"
READY_S = 60.0
END_S = 20.0
HOME = Path(pyspark.__file__).parent


@dataclass
class Standalone:
    """A master and its workers.

    Attributes:
        url: as ``--spark-master`` takes it.
        web: where the master says who is registered.
        master, workers: their processes.
    """

    url: str
    web: str
    master: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    def alive(self) -> int:
        """Return how many workers the master knows to be alive."""
        try:
            with urllib.request.urlopen(f"{self.web}/json/", timeout=5) as answer:  # noqa: S310 - of our own master
                return int(json.load(answer)["aliveworkers"])
        except (OSError, ValueError):  # it does not listen yet, or answers with a page that says so
            return 0


@dataclass(frozen=True)
class Place:
    """Where workers run.

    Attributes:
        host: the address at which they are known; the master's own without one.
        command: what their command begins with, such as ``ip netns exec``.
    """

    host: str | None = None
    command: tuple[str, ...] = ()


def _free_port(host: str) -> int:
    with socket.create_server((host, 0)) as server:
        return int(server.getsockname()[1])


def _started(directory: Path, place: Place, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    directory.mkdir(parents=True)
    host = place.host or HOST
    environment = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": host,
        "SPARK_LOCAL_DIRS": str(directory / "local"),
        "SPARK_DAEMON_JAVA_OPTS": f"-XX:-UsePerfData -Djava.io.tmpdir={directory}",
    }
    program = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", host, *arguments]
    with (directory / "log").open("wb") as log:
        return subprocess.Popen([*place.command, *program], env=environment, cwd=directory, stdout=log, stderr=log)


@contextmanager
def standalone(
    directory: Path, workers: int = 2, host: str = HOST, place: Place = Place(), memory: str = "1g"
) -> Iterator[Standalone]:
    """Start a master, and workers of a core each; end all that is left of them.

    Args:
        directory: a new one, for all they write.
        workers: how many.
        host: the address of the master.
        place: where workers run.
        memory: of each worker.
    """
    port, web = _free_port(host), _free_port(host)
    url, at = f"spark://{host}:{port}", Place(host)
    master = _started(directory / "master", at, "master.Master", "--port", str(port), "--webui-port", str(web))
    cluster = Standalone(url, f"http://{host}:{web}", master, [])
    try:
        until(lambda: _answers(host, web), deadline_s=READY_S, what="the Spark master to answer")
        for number in range(workers):
            own = directory / f"worker-{number}"
            options = ("--cores", "1", "--memory", memory, "--webui-port", "0", "--work-dir", str(own / "work"), url)
            there = Place(place.host or host, place.command)
            cluster.workers.append(_started(own, there, "worker.Worker", *options))
        until(lambda: cluster.alive() == workers, deadline_s=READY_S, what="the workers to register")
        yield cluster
    finally:
        for process in (master, *cluster.workers):
            process.terminate()
        for process in (master, *cluster.workers):
            process.wait(END_S)


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
