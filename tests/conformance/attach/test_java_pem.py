"""Is a key or a certificate that Java cannot read refused before a record is sent, and none that it can?"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from conformance.attach.beginning import LedgerOptions, NewTopicAsked, begin
from conformance.attach.java_pem import refuse_what_java_does_not_read
from conformance.clients.client_settings import ClientSettings
from conformance.clients.connecting import UnreadableClusterError
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one key in the forms that openssl has, and its certificate."""
    directory = tmp_path_factory.mktemp("pem")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)

    openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "pkcs8.key", "-out", "cert.pem", "-subj", "/CN=c"
    )
    openssl("rsa", "-in", "pkcs8.key", "-traditional", "-out", "pkcs1.key")
    openssl(
        "pkcs8", "-topk8", "-v1", "PBE-SHA1-3DES", "-in", "pkcs8.key", "-passout", "pass:p", "-out", "encrypted.key"
    )
    openssl("pkcs8", "-topk8", "-in", "pkcs8.key", "-passout", "pass:p", "-out", "pbes2.key")
    openssl("genpkey", "-algorithm", "ed25519", "-out", "ed25519.key")
    openssl("ecparam", "-genkey", "-name", "prime256v1", "-out", "sec1.key")
    openssl("x509", "-in", "cert.pem", "-outform", "DER", "-out", "cert.der")
    openssl("x509", "-in", "cert.pem", "-trustout", "-out", "trusted.pem")
    openssl("rsa", "-in", "pkcs8.key", "-traditional", "-aes128", "-passout", "pass:p", "-out", "pkcs1-encrypted.key")
    lines = (directory / "pkcs8.key").read_text().splitlines()
    (directory / "cut.key").write_text("\n".join((*lines[:5], lines[5][:30], lines[-1], "")))
    both = (directory / "pkcs8.key").read_text() + (directory / "cert.pem").read_text()
    (directory / "both.pem").write_text(both)
    return directory


def client(files: Path, certificate: str = "cert.pem", key: str | None = "pkcs8.key", **others: str) -> ClientSettings:
    return ClientSettings(
        protocol="SSL",
        ca_file=str(files / others.pop("ca", "cert.pem")),
        certificate_file=str(files / certificate),
        key_file=None if key is None else str(files / key),
        **others,
    )


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"key": "pkcs1.key"}, "is of the kind RSA PRIVATE KEY, and Java reads PKCS#8 alone: `openssl pkcs8 -topk8"),
        ({"key": "pkcs1-encrypted.key", "key_password": "p"}, "is of the kind RSA PRIVATE KEY"),
        ({"key": "cut.key"}, "is cut or spoilt"),
        ({"key": "sec1.key"}, "is of the kind EC PRIVATE KEY"),
        ({"key": "encrypted.key"}, "is encrypted: set ssl.key.password"),
        ({"key_password": "p"}, "is not encrypted, and Java takes it for encrypted"),
        ({"key": "pbes2.key", "key_password": "p"}, "is encrypted by PBES2"),
        ({"key": "ed25519.key"}, "is an Edwards curve's"),
        ({"key": None}, "is missing"),
        ({"key": "cert.pem"}, "is missing"),
        ({"certificate": "pkcs8.key"}, "has no certificate as Java reads it"),
        ({"ca": "cert.der"}, "is no PEM file"),
        ({"ca": "pkcs8.key"}, "has no certificate as Java reads it"),
    ],
)
def test_what_java_does_not_read_is_refused_before_anything_is_done(
    files: Path, changes: dict[str, str], why: str, tmp_path: Path
) -> None:
    options = LedgerOptions(("127.0.0.1:1",), "t", client=client(files, **changes), creates=NewTopicAsked())
    with pytest.raises(UsageError) as refused:
        begin(options, tmp_path)
    assert not isinstance(refused.value, UnreadableClusterError), "the cluster was not asked"
    assert why in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"certificate": "both.pem", "key": None},
        {"key": "encrypted.key", "key_password": "p"},
        {"certificate": "trusted.pem"},
    ],
    ids=["pkcs8", "both in one file", "encrypted, with its password", "a certificate with trust"],
)
def test_what_java_reads_is_not_refused(files: Path, changes: dict[str, str]) -> None:
    refuse_what_java_does_not_read(client(files, **changes))
