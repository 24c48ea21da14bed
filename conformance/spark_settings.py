"""Which settings of Spark may a user give with ``--spark-conf``, and what becomes of them beside the tester's own?

A user's win, but for those that the tester needs to be what they are: they are refused with the reason. What is a list
is added to the tester's (``conformance.reconcile.session``). Executors on other machines have to reach the driver, that
is the tester: where brokers are advertised, so is it, and it listens at that address alone.

Sources: "Configuration" and "Submitting Applications" in Spark's documentation.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from conformance.spark_master import is_local
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fault_injection.cluster.hosts import AdvertisedHost

_COUNTS = "counts depend on it"
_READ = "how Kafka is read is the tester's"
_REMOVED = "the tester removes what Spark leaves there; TMPDIR says in which directory"
REFUSED: Mapping[str, str] = {
    "spark.master": "--spark-master says it",
    "spark.remote": "--spark-master says which engine it is, and the tester is its driver",
    "spark.submit.deployMode": "the tester is the driver, so that it is always client",
    "spark.local.dir": _REMOVED,
    "spark.sql.warehouse.dir": _REMOVED,
    "spark.sql.ansi.enabled": _COUNTS,
    "spark.sql.caseSensitive": _COUNTS,
    "spark.sql.mapKeyDedupPolicy": _COUNTS,
    "spark.sql.session.timeZone": _COUNTS,
    "spark.sql.sources.useV1SourceList": _READ,
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": _READ,
}
"""What is refused, and why."""


def spark_setting(text: str) -> tuple[str, str]:
    """Return one setting of Spark's, given as ``KEY=VALUE``.

    Raises:
        ArgumentTypeError: it has another form, is none of Spark's, or the tester needs it to be what it is.
    """
    name, is_set, value = text.partition("=")
    if not is_set or not name.startswith("spark.") or any(one.isspace() for one in name):
        raise ArgumentTypeError(f"{text!r} is no setting of Spark, such as spark.executor.memory=4g")
    if name in REFUSED:
        raise ArgumentTypeError(f"{name} cannot be set: {REFUSED[name]}")
    return name, value


def spark_settings(
    given: Iterable[tuple[str, str]], master: str, advertised: AdvertisedHost | None = None
) -> dict[str, str]:
    """Return the settings of a session: a user's, and where executors reach the driver.

    Args:
        given: what the user gave.
        master: of Spark; where it runs on this machine alone its driver is reached by nobody else.
        advertised: where brokers are, if executors elsewhere are to reach them.

    Raises:
        UsageError: a setting is given twice.
    """
    settings: dict[str, str] = {}
    if advertised is not None and not is_local(master):
        settings = {"spark.driver.host": advertised.name, "spark.driver.bindAddress": advertised.address}
    seen: set[str] = set()
    for name, value in given:
        if name in seen:
            raise UsageError(f"--spark-conf {name} is given twice: which one is meant?")
        seen.add(name)
        settings[name] = value
    return settings
