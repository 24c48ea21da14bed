"""The Kafka clients of the tester: the record format, a producer that sends one record per request, topics.

Clients talk to the brokers' client listeners only, never through the gate, and report what they were told
without interpreting it; what an answer means for a record is decided in ``conformance.clients.outcomes``.
All share the settings of librdkafka that stand here.
"""

BACKOFF_MS = 20
BACKOFF_MS_MAX = 200


def quiet_configuration(address: str) -> dict[str, str | int | bool]:
    """Return the settings of a client that logs nothing, creates no topics, and tries again soon.

    Args:
        address: ``host:port`` of the broker to start from.
    """
    return {
        "bootstrap.servers": address,
        "client.id": "kafka-conformance",
        "log_level": 0,
        "api.version.request": True,
        "allow.auto.create.topics": False,
        "broker.address.family": "v4",
        "socket.nagle.disable": True,
        "reconnect.backoff.ms": BACKOFF_MS,
        "reconnect.backoff.max.ms": BACKOFF_MS_MAX,
        "topic.metadata.refresh.fast.interval.ms": BACKOFF_MS,
        "enable.metrics.push": False,
    }
