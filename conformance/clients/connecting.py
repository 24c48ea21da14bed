"""How is a cluster connected to? By kafka-python's network, which swallows why a server cannot be reached."""

from __future__ import annotations

import socket
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError, KafkaError, SaslAuthenticationFailedError
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.clients.client_settings import ClientSettings

CLIENT = "kafka-conformance"
PORT_MAX = 65_535


class UnreadableClusterError(UsageError):
    """No broker answered, or none let this user in; the message says who, why, and what to try."""


def servers_of(text: str | None) -> list[str]:
    """Return the brokers of ``--bootstrap-server``.

    Raises:
        UsageError: one of them is no ``host:port``, or none is named.
    """
    servers = [one.strip() for one in (text or "").split(",") if one.strip()]
    for one in servers:
        host, colon, port = one.rpartition(":")
        if not (colon and host and port.isdigit() and int(port) <= PORT_MAX) or "://" in one:
            raise UsageError(f"--bootstrap-server {one!r} is no HOST:PORT, such as broker:9092.")
    if not servers:
        raise UsageError("--bootstrap-server must name a broker of the cluster, such as broker:9092.")
    return servers


@contextmanager
def connected(bootstrap: Sequence[str], client: ClientSettings, patience_s: float) -> Iterator[KafkaConnectionManager]:
    """Connect to a cluster, and disconnect at the end.

    Args:
        bootstrap: ``host:port`` of some brokers.
        client: what protects the connection.
        patience_s: how long a broker may take for an answer.

    Raises:
        UnreadableClusterError: none of them answers, or lets this user in.
    """
    patience_ms = int(patience_s * 1000)
    options = {
        **client.options(),
        "bootstrap_servers": list(bootstrap),
        "client_id": CLIENT,
        "request_timeout_ms": patience_ms,
        "socket_connection_setup_timeout_ms": patience_ms,
        "socket_connection_setup_timeout_max_ms": patience_ms,
        "receive_message_max_bytes": 100_000_000,
    }
    with closing(NetworkSelector(**options)) as network:
        network.start()
        with closing(_manager(network, options)) as manager:
            _bootstrap(manager, options, patience_ms)
            yield manager


def _manager(network: NetworkSelector, options: dict[str, Any]) -> KafkaConnectionManager:
    try:
        return KafkaConnectionManager(network, **options)
    except (KafkaConfigurationError, ValueError, OSError) as error:
        raise UnreadableClusterError(f"the connection to {_where(options)} cannot be set up: {error}") from error


def _bootstrap(manager: KafkaConnectionManager, options: dict[str, Any], patience_ms: int) -> None:
    try:
        manager.bootstrap(2 * patience_ms)
    except SaslAuthenticationFailedError as error:
        raise UnreadableClusterError(f"{_where(options)} does not let this user in: {error}") from error
    except (OSError, ValueError) as error:
        raise UnreadableClusterError(f"the connection to {_where(options)} cannot be set up: {error}") from error
    except KafkaError as error:
        message = (
            f"no broker answers at {_where(options)} ({_cause(options)}): is the address that of a client listener, "
            f"and does its protocol need --command-config (SASL or TLS)?"
        )
        raise UnreadableClusterError(message) from error


def _cause(options: dict[str, Any]) -> str:
    """Return what keeps the first server from answering: the client has swallowed it."""
    host, _, port = options["bootstrap_servers"][0].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=options["request_timeout_ms"] / 1000).close()
    except (OSError, OverflowError) as error:
        return str(error)
    return "it takes connections, and answers no question in time, or not in this protocol"


def _where(options: dict[str, Any]) -> str:
    return ", ".join(options["bootstrap_servers"])
