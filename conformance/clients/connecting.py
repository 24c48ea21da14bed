"""How is a cluster connected to? By kafka-python's network, which swallows why a server cannot be reached."""

from __future__ import annotations

import os
import re
import socket
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
_LOOK_S = 1.0
"""So long it may take to learn that a port is closed, before a client tries again and again."""
_TLS_MEANS = {
    r"(Hostname|IP address) mismatch|doesn't match": "its certificate is for another host: name it as that does",
    r"certificate has expired|not yet valid": "is the clock right here, and at the broker?",
    r"CERTIFICATE_VERIFY_FAILED": "ssl.ca.location (ssl.truststore.location) has nobody who signed its certificate",
    r"WRONG_VERSION_NUMBER|RECORD_LAYER|HTTP_REQUEST|EOF occurred": "is TLS spoken at this port? It may be another "
    "listener's",
    r"ALERT_CERTIFICATE_REQUIRED|ALERT_BAD_CERTIFICATE|ALERT_UNKNOWN_CA|ALERT_HANDSHAKE_FAILURE": "it wants a "
    "certificate of yours that it trusts: ssl.certificate.location (ssl.keystore.location)",
    r"PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL": "it speaks no TLS 1.2 or newer",
}
"""What a failed TLS handshake comes from, by what OpenSSL says of it."""


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
    _check_open(bootstrap)
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


def _check_open(bootstrap: Sequence[str]) -> None:
    """Make sure that some server's port is open, or that it is not known to be closed.

    Raises:
        UnreadableClusterError: each refuses a connection, or has a name that nobody knows.
    """
    told: list[str] = []
    for server in bootstrap:
        host, _, port = server.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_LOOK_S).close()
        except (ConnectionRefusedError, socket.gaierror) as error:
            told.append(error.strerror or str(error))
        except OSError:
            return
        else:
            return
    why = told[:1] if len(set(told)) == 1 else [f"{one}: {why}" for one, why in zip(bootstrap, told, strict=True)]
    raise UnreadableClusterError(_no_answer(", ".join(bootstrap), why, ""))


def _no_answer(where: str, why: Sequence[str], doubt: str) -> str:
    return f"no broker answers at {where} ({'; '.join(why)}): is the address that of a client listener{doubt}?"


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
        raise UnreadableClusterError(_no_answer(_where(options), why, _doubt(why, options))) from error


def _doubt(why: Sequence[str], options: dict[str, Any]) -> str:
    """Return what else may be wrong, unless the reasons say it."""
    if any(means in one for one in why for means in _TLS_MEANS.values()):
        return ""
    if options["security_protocol"] != "PLAINTEXT":
        return ", and are user, password and certificates right"
    return ", and does it need --command-config (SASL or TLS)"


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
    """Return an error in words, one of the system's (such as ``111 ECONNREFUSED``) in the system's.

    What a failed TLS handshake may come from is said, too.
    """
    text = str(error).removeprefix(f"{type(error).__name__}: ").strip() or type(error).__name__
    number = _ERRNO.match(text)
    if number is not None:
        return os.strerror(int(number[1]))
    means = (words for pattern, words in _TLS_MEANS.items() if "andshake" in text and re.search(pattern, text))
    return "; ".join((text, *list(means)[:1]))


def _where(options: dict[str, Any]) -> str:
    return ", ".join(options["bootstrap_servers"])
