"""What of a client's PEM files can Java not read? Spark's Kafka client reads the topic back, and is Java's (KIP-651).

Python and librdkafka take keys in forms that Kafka's PEM store does not (``DefaultSslEngineFactory.PemStore``): it is
told before a record is sent.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING

from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from conformance.clients.client_settings import ClientSettings

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----")
_KEY = re.compile(r"-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----(.*?)-----END", re.DOTALL)
_PKCS8 = (
    "`openssl pkcs8 -topk8 -in OLD -out NEW -nocrypt` makes one of it, or with `-v1 PBE-SHA1-3DES` an encrypted one"
)
_PBES2 = bytes.fromhex("06092a864886f70d01050d")
"""The object identifier 1.2.840.113549.1.5.13, of how openssl encrypts unless it is told otherwise."""
_EDWARDS = bytes.fromhex("06032b65")
"""How the identifiers 1.3.101.112 (Ed25519) and 1.3.101.113 (Ed448) begin; Kafka's store reads RSA, DSA and EC."""


def refuse_what_java_does_not_read(client: ClientSettings) -> None:
    """Look into the files of a client before anything is done with them.

    Raises:
        UsageError: one cannot be read, or is of a form that Java does not read; says how to make one that it does.
    """
    for file in (client.ca_file, client.certificate_file):
        if file is not None and not any(one.endswith("CERTIFICATE") for one in _BLOCK.findall(read_pem(file))):
            raise UsageError(f"{file} has no certificate as Java reads it: a PEM block that begins BEGIN CERTIFICATE.")
    if client.certificate_file is not None:
        file = client.key_file or client.certificate_file
        why = _why_not_read(read_pem(file), has_password=client.key_password is not None)
        if why is not None:
            raise UsageError(f"the private key in {file} {why}.")


def _why_not_read(text: str, *, has_password: bool) -> str | None:
    """Return why Java cannot read the first private key of a file; None if it can."""
    found = _KEY.search(text)
    if found is None:
        return "is missing: ssl.key.location names it, or it is beside the certificate"
    kind = found[1]
    if kind not in {"PRIVATE KEY", "ENCRYPTED PRIVATE KEY"}:
        return f"is of the kind {kind}, and Java reads PKCS#8 alone: {_PKCS8}"
    if kind == "PRIVATE KEY" and has_password:
        return "is not encrypted, and Java takes it for encrypted where ssl.key.password is set: leave that out"
    if kind == "ENCRYPTED PRIVATE KEY" and not has_password:
        return "is encrypted: set ssl.key.password"
    try:
        key = base64.b64decode(found[2])
    except ValueError:
        return "is cut or spoilt: it is no base64"
    if _PBES2 in key:
        return f"is encrypted by PBES2, which Kafka's Java client does not read up to Java 17: {_PKCS8}"
    return (
        "is an Edwards curve's, and Kafka's Java client reads RSA, DSA and EC alone" if _EDWARDS in key[:16] else None
    )


def read_pem(file: str) -> str:
    """Return what is in a file of certificates and keys.

    Raises:
        UsageError: it cannot be read, or is no text.
    """
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the certificate or key {file} cannot be read: {error}") from error
    except ValueError as error:
        raise UsageError(f"the certificate or key {file} is no PEM file: it is not text alone.") from error
