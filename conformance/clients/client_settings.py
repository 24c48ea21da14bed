"""How does a client get in? A file with the names of Kafka's own clients, or with librdkafka's: both are understood.

A backslash escapes what follows it, as in every file of Java properties; under librdkafka's own names it is itself.

Values are read for the connection and stand nowhere else: errors name settings, and never a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
JAAS = "sasl.jaas.config"
_JAAS_OPTION = re.compile(r"(\w+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s;]+))")
_LINE = re.compile(r"\s*([^\s=:#!]+)\s*[=:\s]\s*(.*?)\s*$")
_ALIKE = {
    "security.protocol": "protocol",
    "sasl.mechanism": "mechanism",
    "sasl.mechanisms": "mechanism",
    "sasl.username": "username",
    "sasl.password": "password",
    "ssl.ca.location": "ca_file",
    "ssl.truststore.location": "ca_file",
    "ssl.certificate.location": "certificate_file",
    "ssl.keystore.location": "certificate_file",
    "ssl.key.location": "key_file",
    "ssl.key.password": "key_password",
    "ssl.crl.location": "revoked_file",
}
"""The names of Kafka's clients and of librdkafka, with what they mean here; stores must be PEM files (KIP-651)."""
_CHECKS_HOST = "ssl.endpoint.identification.algorithm"
_PEM = ("ssl.truststore.location", "ssl.keystore.location")
_OF_LIBRDKAFKA = frozenset(
    {
        "sasl.mechanisms",
        "sasl.username",
        "sasl.password",
        "ssl.ca.location",
        "ssl.certificate.location",
        "ssl.key.location",
        "ssl.crl.location",
    }
)
"""Names that Kafka's own clients have not."""
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
UNDERSTOOD = frozenset(
    {
        *_ALIKE,
        JAAS,
        _CHECKS_HOST,
        "ssl.truststore.type",
        "ssl.truststore.password",
        "ssl.keystore.type",
        "ssl.keystore.password",
    }
)
_CHECKS_CERTIFICATE = "enable.ssl.certificate.verification"


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What protects a client's connection. A secret is not shown.

    Attributes:
        protocol: one of ``PROTOCOLS``.
        mechanism: of SASL, one of ``MECHANISMS``.
        ca_file: PEM of the authorities that are trusted.
        certificate_file: PEM of the client's own certificate; ``key_file`` has its key, if it is not in there.
        revoked_file: PEM of the certificates that are trusted no more.
        checks_host: whether the broker's certificate must name its host.
    """

    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None
    key_password: str | None = field(default=None, repr=False)
    revoked_file: str | None = None
    checks_host: bool = True

    @property
    def is_sasl(self) -> bool:
        """Return whether a user and a password are sent."""
        return self.protocol.startswith("SASL")

    @property
    def is_tls(self) -> bool:
        """Return whether the connection is TLS's."""
        return self.protocol.endswith("SSL")

    @property
    def login(self) -> str:
        """Return what a Java client logs in with (``sasl.jaas.config``), the password in it."""
        assert self.mechanism is not None, "checked when it was read"
        kind = "plain.PlainLoginModule" if self.mechanism == "PLAIN" else "scram.ScramLoginModule"
        user, password = (_quoted(one or "") for one in (self.username, self.password))
        return f"org.apache.kafka.common.security.{kind} required username={user} password={password};"

    def options(self) -> dict[str, str | bool | None]:
        """Return them by kafka-python's names."""
        return {
            "security_protocol": self.protocol,
            "sasl_mechanism": self.mechanism,
            "sasl_plain_username": self.username,
            "sasl_plain_password": self.password,
            "ssl_cafile": self.ca_file,
            "ssl_certfile": self.certificate_file,
            "ssl_keyfile": self.key_file,
            "ssl_password": self.key_password,
            "ssl_crlfile": self.revoked_file,
            "ssl_check_hostname": self.checks_host,
        }

    def librdkafka(self) -> dict[str, str]:
        """Return them by librdkafka's names, those that are set."""
        named = {
            "security.protocol": self.protocol,
            "sasl.mechanism": self.mechanism,
            "sasl.username": self.username,
            "sasl.password": self.password,
            "ssl.ca.location": self.ca_file,
            "ssl.certificate.location": self.certificate_file,
            "ssl.key.location": self.key_file or self.certificate_file,
            "ssl.key.password": self.key_password,
            "ssl.crl.location": self.revoked_file,
            "ssl.endpoint.identification.algorithm": ("https" if self.checks_host else "none") if self.is_tls else None,
        }
        return {name: value for name, value in named.items() if value is not None}


def _quoted(text: str) -> str:
    escaped = re.sub(r'(["\\])', r"\\\1", text)
    return f'"{escaped}"'


def client_settings(path: Path) -> ClientSettings:
    """Read a client's properties file.

    Raises:
        UsageError: the file cannot be read, or asks for what is not supported; never names a value of a secret.
    """
    given = {"security.protocol": "PLAINTEXT", **_properties(path)}
    given["security.protocol"] = given["security.protocol"].upper()
    _check(given, path)
    named = {_ALIKE[name]: value for name, value in given.items() if name in _ALIKE} | _from_jaas(given, path)
    settings = ClientSettings(**named, checks_host=given.get(_CHECKS_HOST) not in {"", "none"})
    if settings.protocol.startswith("SASL"):
        _known(settings.mechanism or "", MECHANISMS, "sasl.mechanism", path)
        if not settings.username or settings.password is None:
            raise UsageError(f"{path}: {JAAS}, or sasl.username and sasl.password, must say who asks.")
    return settings


def _properties(path: Path) -> dict[str, str]:
    """Return the settings of a properties file; a line that ends with a backslash goes on."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--command-config {path} cannot be read: {error}") from error
    given: dict[str, str] = {}
    for number, line in _whole_lines(text):
        match = _LINE.fullmatch(line)
        if match is None:
            raise UsageError(f"{path}:{number}: this line is no name=value.")
        given[match[1]] = match[2]
    return {name: value if name in _OF_LIBRDKAFKA else _ESCAPE.sub(_unescaped, value) for name, value in given.items()}


def _whole_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with a setting, and where it begins; one that ends with a backslash goes on in the next."""
    begun, whole = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        is_new = not whole
        if is_new and (not line.strip() or line.lstrip()[0] in "#!"):
            continue
        begun = number if is_new else begun
        whole += line if is_new else line.lstrip()
        if (len(whole) - len(whole.rstrip("\\"))) % 2:
            whole = whole[:-1]
            continue
        yield begun, whole
        whole = ""
    if whole:
        yield begun, whole


def _unescaped(escape: re.Match[str]) -> str:
    """Return what an escape of a properties file stands for (``java.util.Properties.load``)."""
    text = escape[1]
    return chr(int(text[1:], 16)) if len(text) > 1 else {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}.get(text, text)


def _check(given: Mapping[str, str], path: Path) -> None:
    protocol = _known(given["security.protocol"], PROTOCOLS, "security.protocol", path)
    for name in given:
        kind = name.partition(".")[0]
        if kind in {"sasl", "ssl"} and name not in UNDERSTOOD:
            raise UsageError(f"{path}: {name} is not understood; known are {', '.join(sorted(UNDERSTOOD))}.")
        if kind in {"sasl", "ssl"} and kind.upper() not in protocol:
            raise UsageError(f"{path}: {name} has no effect with security.protocol={protocol}: say which one is meant.")
    if given.get(_CHECKS_CERTIFICATE, "true").lower() == "false":
        raise UsageError(f"{path}: {_CHECKS_CERTIFICATE}=false is refused: name the CA with ssl.ca.location instead.")
    for name in _PEM:
        kind = given.get(name.replace("location", "type"), "PEM" if given.get(name, "").endswith(".pem") else "JKS")
        if name in given and kind.upper() != "PEM":
            message = (
                f"{path}: {name} is a {kind} store, and only PEM is read here: `keytool -exportcert -rfc` makes "
                f"one; set {name.replace('location', 'type')}=PEM"
            )
            raise UsageError(message)
    for name in (name for name in given if name.endswith(".location")):
        if not Path(given[name]).is_file():
            raise UsageError(f"{path}: {name} names {given[name]}, and there is no such file.")


def _known(value: str, known: tuple[str, ...], name: str, path: Path) -> str:
    if value not in known:
        raise UsageError(f"{path}: {name} must be one of {', '.join(known)}.")
    return value


def _from_jaas(given: Mapping[str, str], path: Path) -> dict[str, str]:
    """Return user and password of a JAAS line, such as ``….PlainLoginModule required username="a" password="b";``."""
    if JAAS not in given:
        return {}
    options = {name: next(filter(None, quoted), "") for name, *quoted in _JAAS_OPTION.findall(given[JAAS])}
    if not {"username", "password"} <= options.keys():
        raise UsageError(f"{path}: {JAAS} names no username and password.")
    plain = {name: re.sub(r"\\(.)", r"\1", value) for name, value in options.items()}
    return {"username": plain["username"], "password": plain["password"]}
