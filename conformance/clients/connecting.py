"""How is a cluster connected to? By kafka-python's network, which swallows why a server cannot be reached."""

from __future__ import annotations

import os
import re
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaConfigurationError, KafkaError
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from conformance.clients import CLIENT
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.clients.client_settings import ClientSettings

Connection = KafkaConnectionManager
"""Of a client that is connected to a cluster: whatever asks it something takes it."""
PORT_MAX = 65_535
_ERRNO = re.compile(r"(?:\[Errno )?(\d+)\]? E[A-Z]+")


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
            _bootstrap(manager, network, options)
            yield manager


def _manager(network: NetworkSelector, options: dict[str, Any]) -> KafkaConnectionManager:
    try:
        return KafkaConnectionManager(network, **options)
    except (KafkaConfigurationError, ValueError, OSError) as error:
        raise UnreadableClusterError(f"the connection to {_where(options)} cannot be set up: {error}") from error


def _bootstrap(manager: KafkaConnectionManager, network: NetworkSelector, options: dict[str, Any]) -> None:
    try:
        manager.bootstrap(2 * options["request_timeout_ms"])
    except (OSError, ValueError) as error:
        raise UnreadableClusterError(f"the connection to {_where(options)} cannot be set up: {error}") from error
    except KafkaError as error:
        why = _refusals(network, options)
        if any("AuthenticationFailed" in one for one in why):
            raise UnreadableClusterError(f"{_where(options)} does not let this user in: {'; '.join(why)}") from error
        secured = options["security_protocol"] != "PLAINTEXT"
        doubt = (
            "are user, password and certificates right" if secured else "does it need --command-config (SASL or TLS)"
        )
        message = (
            f"no broker answers at {_where(options)} ({'; '.join(why)}): is the address that of a client listener, "
            f"and {doubt}?"
        )
        raise UnreadableClusterError(message) from error


def _refusals(network: NetworkSelector, options: dict[str, Any]) -> list[str]:
    """Return what keeps each server from answering, if it is the same once: the bootstrap has swallowed it."""
    with closing(_manager(network, options)) as manager:
        servers = manager.cluster.bootstrap_brokers()
        told = {f"{one.host}:{one.port}": _refusal(manager, one.node_id) for one in servers}
    reasons = list(dict.fromkeys(told.values()))
    return reasons if len(reasons) == 1 else [f"{server}: {why}" for server, why in told.items()]


def _refusal(manager: KafkaConnectionManager, server: str) -> str:
    async def connect() -> None:
        await manager.get_connection(server, pop_on_close=False, refresh_metadata_on_err=False)

    try:
        manager.run(connect)
    except (KafkaError, OSError) as error:
        return _reason(error)
    return "it takes connections, and answers no question in time"


def _reason(error: BaseException) -> str:
    """Return an error in words, one of the system's (such as ``111 ECONNREFUSED``) in the system's."""
    text = str(error).removeprefix(f"{type(error).__name__}: ").strip() or type(error).__name__
    number = _ERRNO.match(text)
    return text if number is None else os.strerror(int(number[1]))


def _where(options: dict[str, Any]) -> str:
    return ", ".join(options["bootstrap_servers"])
