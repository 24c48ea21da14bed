"""A standalone Spark cluster on the loopback: a master and workers, started from the classes that pyspark brings."""

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
    """

    url: str
    web: str
    workers: list[subprocess.Popen[bytes]]

    def alive(self) -> int:
        """Return how many workers the master knows to be alive."""
        try:
            with urllib.request.urlopen(f"{self.web}/json/", timeout=5) as answer:
                return int(json.load(answer)["aliveworkers"])
        except (OSError, ValueError):  # it does not listen yet, or answers with a page that says so
            return 0


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as server:
        return int(server.getsockname()[1])


def _started(directory: Path, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    directory.mkdir(parents=True)
    environment = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_LOCAL_DIRS": str(directory / "local"),
        "SPARK_DAEMON_JAVA_OPTS": f"-XX:-UsePerfData -Djava.io.tmpdir={directory}",
    }
    command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", HOST, *arguments]
    with (directory / "log").open("wb") as log:
        return subprocess.Popen(command, env=environment, cwd=directory, stdout=log, stderr=log)


@contextmanager
def standalone(directory: Path, workers: int = 2) -> Iterator[Standalone]:
    """Start a master, and workers of a core each; end all that is left of them."""
    port, web = _free_port(), _free_port()
    url = f"spark://{HOST}:{port}"
    started = [_started(directory / "master", "master.Master", "--port", str(port), "--webui-port", str(web))]
    cluster = Standalone(url, f"http://{HOST}:{web}", [])
    try:
        until(lambda: _answers(web), deadline_s=READY_S, what="the Spark master to answer")
        for number in range(workers):
            place = directory / f"worker-{number}"
            options = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(place / "work"), url)
            cluster.workers.append(_started(place, "worker.Worker", *options))
        started += cluster.workers
        until(lambda: cluster.alive() == workers, deadline_s=READY_S, what="the workers to register")
        yield cluster
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(END_S)


def _answers(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True
