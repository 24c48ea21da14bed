"""Are a client's settings understood by both families of names, and is no secret told?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.clients.client_settings import ClientSettings, client_settings
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from pathlib import Path

JAVA = r"""# as the Java clients have it
security.protocol=SASL_SSL
sasl.mechanism = SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
    username="auditor" \
    password="s\\"cret";
ssl.truststore.type=PEM
ssl.truststore.location=/etc/ca.pem
ssl.endpoint.identification.algorithm=
retries=3
"""
LIBRDKAFKA = """security.protocol=SASL_SSL
sasl.mechanisms=SCRAM-SHA-512
sasl.username=auditor
sasl.password=s"cret
ssl.ca.location=/etc/ca.pem
ssl.endpoint.identification.algorithm=none
"""
MEANT = ClientSettings("SASL_SSL", "SCRAM-SHA-512", "auditor", 's"cret', ca_file="/etc/ca.pem", checks_host=False)


def read(text: str, directory: Path) -> ClientSettings:
    for name in ("ca.pem", "trust.jks", "k.p12"):
        (directory / name).touch()
    path = directory / "client.properties"
    path.write_text(text.replace("/etc/", f"{directory}/"))
    return client_settings(path)


@pytest.mark.parametrize("text", [JAVA, LIBRDKAFKA])
def test_both_families_of_names_mean_the_same(text: str, tmp_path: Path) -> None:
    assert read(text, tmp_path) == replace(MEANT, ca_file=f"{tmp_path}/ca.pem")


def test_a_host_is_checked_unless_it_is_said_otherwise(tmp_path: Path) -> None:
    read_so = read("security.protocol: ssl\nssl.ca.location: /etc/ca.pem\n", tmp_path)
    assert read_so == ClientSettings("SSL", ca_file=f"{tmp_path}/ca.pem")
    assert read_so.options()["ssl_check_hostname"] is True
    assert read("security.protocol=SSL\nssl.endpoint.identification.algorithm=https\n", tmp_path).checks_host


def test_a_secret_is_not_shown(tmp_path: Path) -> None:
    assert 's"cret' not in repr(read(JAVA, tmp_path)).replace("\\", "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("security.protocol=TLS\n", "security.protocol must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\n", "sasl.mechanism must be one of PLAIN, SCRAM-SHA-256"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.password=hidden\n", "must say who asks"),
        ("security.protocol=SASL_SSL\nsasl.jaas.config=M required password='hidden';\n", "names no user"),
        ("sasl.username=u\nsasl.password=hidden\n", "has no effect with security.protocol=PLAINTEXT"),
        ("security.protocol=SSL\nssl.ca.pem=hidden\n", "ssl.ca.pem is not understood; known are"),
        ("security.protocol=SSL\nssl.ca.location=gone.pem\n", "names gone.pem, and there is no such file"),
        (
            "security.protocol=SSL\nssl.truststore.location=trust.jks\nssl.truststore.password=hidden\n",
            "is a JKS store",
        ),
        ("security.protocol=SSL\nssl.keystore.location=k.p12\nssl.keystore.type=PKCS12\n", "is a PKCS12 store"),
        ("enable.ssl.certificate.verification=false\n", "is refused: name the CA"),
        ("# one\nsecurity.protocol=\\\n  SSL\n\nhidden\n", r"client\.properties:5: this line is no name=value"),
        ("security.protocol=SSL\n=hidden\n", r"client\.properties:2: this line is no name=value"),
    ],
)
def test_what_is_not_supported_is_told_without_a_secret(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=told) as refused:
        read(text, tmp_path)
    assert "hidden" not in str(refused.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        client_settings(tmp_path / "none.properties")


def test_a_backslash_escapes_in_java_names_and_is_itself_in_librdkafkas(tmp_path: Path) -> None:
    java = tmp_path / "java.properties"
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    java.write_text(
        f'security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={module} required username="a" '
        r'password="q\\"uote\\\\b\u0041";'
    )
    assert client_settings(java).password == 'q"uote\\bA'
    librdkafka = tmp_path / "librdkafka.properties"
    librdkafka.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanisms=PLAIN\nsasl.username=a\n" + r"sasl.password=back\slash\n"
    )
    assert client_settings(librdkafka).password == r"back\slash\n"


def test_what_a_java_client_logs_in_with_is_read_back_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        'security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\nsasl.username=o"k\n' + r"sasl.password=p\w" + '"d\n'
    )
    login = client_settings(file).login
    assert login == (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        r'username="o\"k" password="p\\w\"d";'
    )
