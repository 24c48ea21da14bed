"""How does Spark's Kafka client get in? By the settings of a Java client, with secrets that no plan, log or list shows.

Secrets are in memory that has no name on any disk (``memfd_create``), which the JVM of this machine reads by way of
``/proc``; the settings have a reference to it (KIP-297), and Kafka's client resolves it when it connects.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.attach.java_pem import read_pem
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.clients.client_settings import ClientSettings

_PROVIDER = "login"


@contextmanager
def java_connection(client: ClientSettings) -> Iterator[Mapping[str, str]]:
    """Yield the settings of a Java client that reach the cluster; their secrets are there as long as the block runs.

    Raises:
        UsageError: the system has no memory of that kind, or a certificate cannot be read.
    """
    plain = {"security.protocol": client.protocol}
    if client.mechanism is not None:
        plain["sasl.mechanism"] = client.mechanism
    if client.is_tls:
        plain["ssl.endpoint.identification.algorithm"] = "https" if client.checks_host else ""
    if client.ca_file is not None:
        plain |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": client.ca_file}
    secrets = dict(_secrets(client))
    if not secrets:
        yield plain
        return
    with _in_memory(secrets) as path:
        yield plain | _provided(path) | {name: f"${{{_PROVIDER}:{path}:{name}}}" for name in secrets}


def _secrets(client: ClientSettings) -> Iterator[tuple[str, str]]:
    if client.is_sasl:
        yield "sasl.jaas.config", client.login
    if client.certificate_file is not None:
        yield "ssl.keystore.type", "PEM"
        yield "ssl.keystore.certificate.chain", read_pem(client.certificate_file)
        yield "ssl.keystore.key", read_pem(client.key_file or client.certificate_file)
    if client.key_password is not None:
        yield "ssl.key.password", client.key_password


def _provided(path: str) -> dict[str, str]:
    assert path.startswith("/proc/")
    provider = "org.apache.kafka.common.config.provider.FileConfigProvider"
    return {"config.providers": _PROVIDER, f"config.providers.{_PROVIDER}.class": provider}


@contextmanager
def _in_memory(secrets: Mapping[str, str]) -> Iterator[str]:
    """Yield the path under which processes of this user read the secrets, as Java properties."""
    if not hasattr(os, "memfd_create"):
        raise UsageError("reading back with a password or a client certificate needs Linux: they stay in memory.")
    file = os.memfd_create("login")
    try:
        os.write(file, "".join(f"{name}={_escaped(value)}\n" for name, value in secrets.items()).encode())
        yield f"/proc/{os.getpid()}/fd/{file}"
    finally:
        os.close(file)


def _escaped(value: str) -> str:
    """Return a value as Java's properties have it."""
    escaped = value.replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")
    return f"\\{escaped}" if escaped.startswith(" ") else escaped
