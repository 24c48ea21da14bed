"""Does the Spark master answer? Asked before the first broker starts; Spark itself gives up after two minutes.

A standalone master is knocked at. Whether YARN or Kubernetes can be had is left to Spark.

Sources: "Master URLs" in Spark's documentation on submitting applications.
"""

from __future__ import annotations

import re
import socket
import time

from conformance.run_options import DEFAULT_MASTER
from fault_injection.releases import UsageError

STANDALONE = "spark://"
KNOWN = re.compile(r"local(\[(\d+|\*)(,\s*\d+)?\])?|local-cluster\[.*\]|spark://.+|yarn|k8s://.+")
DEADLINE_S = 3.0


class SparkMasterError(UsageError):
    """The Spark master is none, or cannot be reached."""


def check_master(master: str, deadline_s: float = DEADLINE_S) -> None:
    """Make sure that a Spark master has a form that Spark knows and, if it is a standalone one, that it listens.

    Args:
        master: such as ``local[2]``, ``spark://host:7077`` or ``spark://one:7077,two:7077``.
        deadline_s: seconds to wait for a connection, for all addresses together.

    Raises:
        SparkMasterError: it is no master, or nothing listens at any of its addresses.
    """
    if not KNOWN.fullmatch(master):
        raise SparkMasterError(
            f"--spark-master {master}: Spark knows local[N], spark://HOST:PORT, yarn and k8s://URL, but no such master."
        )
    if master.startswith(STANDALONE):
        _knock(master, deadline_s)


def is_local(master: str) -> bool:
    """Return whether Spark runs in its own JVM on this machine alone."""
    return master.startswith("local")


def _knock(master: str, deadline_s: float) -> None:
    """Connect to the first of a master's addresses that answers."""
    end = time.monotonic() + deadline_s
    problems: list[str] = []
    for address in _addresses(master):
        try:
            socket.create_connection(address, timeout=max(0.1, end - time.monotonic())).close()
        except OSError as error:
            problems.append(f"{address[0]}:{address[1]}: {error.strerror or error}")
        else:
            return
    raise SparkMasterError(
        f"--spark-master {master}: no Spark master can be reached ({'; '.join(problems)}). "
        f"Start it, correct the address, or leave the option out: {DEFAULT_MASTER} needs no cluster."
    )


def _addresses(master: str) -> list[tuple[str, int]]:
    """Return host and port of each address; Spark takes several, separated by commas, of masters that stand by."""
    addresses = []
    for text in master.removeprefix(STANDALONE).split(","):
        host, _, port = text.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
            raise SparkMasterError(f"--spark-master {master}: {text} is not HOST:PORT, such as spark://localhost:7077.")
        addresses.append((host.strip("[]"), int(port)))
    return addresses
