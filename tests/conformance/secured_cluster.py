"""A cluster with a second listener, on which clients need TLS, their own certificate and a password (SASL_SSL)."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.client_links import relayed_bootstrap
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, find_release, jars_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

STORE_PASSWORD = "of-the-store"
PASSWORD = 'p4ss"w\\rd of-alice, 100% $ecret'
"""Of the user alice."""
PLAIN_PASSWORD = "pl4in-of-alice"
"""Of the same user with PLAIN, whose passwords stand in a broker's own settings."""


@dataclass(frozen=True, slots=True)
class Secured:
    """A running cluster and how to get in.

    Attributes:
        bootstrap: of the listener that needs it.
        files: directory with ``ca.pem``, ``client.pem``, ``client.key``, ``other-ca.pem``.
        protocol: of that listener.
    """

    cluster: Cluster
    bootstrap: str
    files: Path
    protocol: str = "SASL_SSL"

    def client_file(self, **changes: str | None) -> Path:
        """Write a Java client's file that gets in by SCRAM; a setting that is None is left out."""
        login = PASSWORD.replace("\\", "\\\\").replace('"', '\\"').replace("\\", "\\\\")
        module = "org.apache.kafka.common.security.scram.ScramLoginModule"
        given = {
            "security.protocol": self.protocol,
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": f'{module} required username="alice" password="{login}";',
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": f"{self.files}/ca.pem",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": f"{self.files}/client-both.pem",
        } | {name.replace("_", "."): value for name, value in changes.items()}
        path = self.files / "client.properties"
        fitting = {name: value for name, value in given.items() if value is not None and _fits(name, self.protocol)}
        path.write_text("".join(f"{name}={value}\n" for name, value in fitting.items()))
        return path

    def librdkafka_file(self) -> Path:
        """Write a file with librdkafka's names that gets in by PLAIN."""
        path = self.files / "librdkafka.properties"
        path.write_text(
            f"security.protocol=sasl_ssl\nsasl.mechanisms=PLAIN\nsasl.username=alice\nsasl.password={PLAIN_PASSWORD}\n"
            f"ssl.ca.location={self.files}/ca.pem\nssl.certificate.location={self.files}/client.pem\n"
            f"ssl.key.location={self.files}/client.key\n"
        )
        return path


@contextmanager
def secured_cluster(
    version: str,
    directory: Path,
    overrides: Mapping[str, str] | None = None,
    protocol: str = "SASL_SSL",
    features: Mapping[str, int] | None = None,
) -> Iterator[Secured]:
    """Start three brokers of a release; alice may do everything on the secured listener."""
    files = directory / "certificates"
    files.mkdir()
    _make_certificates(files)
    release = find_release(version)
    settings = {**_listener(files, protocol), **(overrides or {})}
    mode = release.default_metadata_mode
    controller = 100 if mode is MetadataMode.KRAFT else None
    spec = ClusterSpec(
        release, mode, controller_id=controller, overrides=settings, client_links=True, features=features or {}
    )
    backend, relay = ProcessBackend(), DirectRelay()
    try:
        with Cluster.start(spec, jars_of(release), backend, relay, directory) as cluster:
            _add_scram_user(cluster.bootstrap)
            yield Secured(cluster, relayed_bootstrap(cluster), files, protocol)
    finally:
        relay.close()
        backend.close()


def _listener(files: Path, protocol: str) -> dict[str, str]:
    plain = "org.apache.kafka.common.security.plain.PlainLoginModule"
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule"
    own = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "plain.sasl.jaas.config": f'{plain} required user_alice="{PLAIN_PASSWORD}";',
        "scram-sha-512.sasl.jaas.config": f"{scram} required;",
        "ssl.client.auth": "required",
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": f"{files}/broker.p12",
        "ssl.keystore.password": STORE_PASSWORD,
        "ssl.key.password": STORE_PASSWORD,
        "ssl.truststore.type": "PKCS12",
        "ssl.truststore.location": f"{files}/trusted.p12",
        "ssl.truststore.password": STORE_PASSWORD,
    }
    kinds = f"CLIENT:PLAINTEXT,REPLICATION:PLAINTEXT,CONTROLLER:PLAINTEXT,RELAYED:{protocol}"
    fitting = {f"listener.name.relayed.{name}": own[name] for name in own if _fits(name, protocol)}
    return {"listener.security.protocol.map": kinds} | fitting


def _fits(setting: str, protocol: str) -> bool:
    """Return whether a setting has an effect with a protocol."""
    return not ("sasl" in setting and "SASL" not in protocol) and not (
        setting.startswith("ssl") and "SSL" not in protocol
    )


def _make_certificates(files: Path) -> None:
    for name in ("ca", "other-ca"):
        _openssl(files, "req", "-x509", *_NEW_KEY, f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")
    (files / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in ("broker", "client"):
        _openssl(files, "req", *_NEW_KEY, f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        signer = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
        _openssl(files, "x509", "-req", "-in", f"{name}.csr", *signer, "-out", f"{name}.pem", "-days", "2")
    (files / "client-both.pem").write_text((files / "client.key").read_text() + (files / "client.pem").read_text())
    whole = ("-export", "-in", "broker.pem", "-inkey", "broker.key", "-certfile", "ca.pem", "-out", "broker.p12")
    _openssl(files, "pkcs12", *whole, "-passout", f"pass:{STORE_PASSWORD}")
    trusted = ("-storetype", "PKCS12", "-keystore", "trusted.p12", "-storepass", STORE_PASSWORD)
    _run(files, "keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", "ca.pem", *trusted)


_NEW_KEY = ("-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout")


def _openssl(files: Path, *arguments: str) -> None:
    _run(files, "openssl", *arguments)


def _run(files: Path, *command: str) -> None:
    subprocess.run(command, cwd=files, check=True, capture_output=True)


def _add_scram_user(bootstrap: str) -> None:
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    answered = admin.alter_user_scram_credentials([UserScramCredentialUpsertion("alice", info, PASSWORD.encode())])
    answered["alice"].result(30)
