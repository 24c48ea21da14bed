"""How does a broker's JVM show its gauges to the tester?

On one port, for the registry and for the objects alike, as the official images do it (``KAFKA_JMX_PORT``): a
container publishes it under its own number, so the address that the registry names is the one that is reached.
There is neither a password nor encryption: the port is bound to, or published on, the loopback address.
"""

from fault_injection.cluster.relay import Address

_PROPERTY = "-Dcom.sun.management.jmxremote"


def jmx_options(bind_host: str, address: Address) -> tuple[str, ...]:
    """Give the JVM's options.

    Args:
        bind_host: the address that the node listens on.
        address: where the tester reaches it.
    """
    host, port = address
    return (
        f"{_PROPERTY}.port={port}",
        f"{_PROPERTY}.rmi.port={port}",
        f"{_PROPERTY}.host={bind_host}",
        f"{_PROPERTY}.authenticate=false",
        f"{_PROPERTY}.ssl=false",
        f"-Djava.rmi.server.hostname={host}",
    )


def jmx_service(address: Address) -> str:
    """Give the address of the JVM's gauges as JMX writes it."""
    host, port = address
    return f"service:jmx:rmi:///jndi/rmi://{host}:{port}/jmxrmi"
