"""The Kafka clients of the tester: the record format, a producer that sends one record per request, topics.

Clients talk to the brokers' client listeners only, never through the gate, and report what they were told
without interpreting it; what an answer means for a record is decided in ``conformance.clients.outcomes``.
All share the settings of librdkafka that stand here.
"""

from collections.abc import Mapping
from typing import Final

CLIENT = "kafka-conformance"
"""How clients of the tester call themselves."""
BACKOFF_MS = 20
BACKOFF_MS_MAX = 200
QUIET: Final[Mapping[str, str | int | bool]] = {
    "client.id": CLIENT,
    "log_level": 0,
    "allow.auto.create.topics": False,
    "reconnect.backoff.ms": BACKOFF_MS,
    "reconnect.backoff.max.ms": BACKOFF_MS_MAX,
    "enable.metrics.push": False,
}
"""Settings of a client of librdkafka that logs nothing, creates no topics, and connects again soon."""


def quiet_configuration(address: str) -> dict[str, str | int | bool]:
    """Return the settings of a client that logs nothing, creates no topics, and tries again soon.

    Args:
        address: ``host:port`` of the broker to start from.
    """
    return {
        **QUIET,
        "bootstrap.servers": address,
        "api.version.request": True,
        "broker.address.family": "v4",
        "socket.nagle.disable": True,
        "topic.metadata.refresh.fast.interval.ms": BACKOFF_MS,
    }
