"""Where do jars come from on this machine?

Choices: a repository that the user names wins, then a mirror of Maven Central in the user's Maven settings,
then Maven Central itself. Credentials in Maven settings are not read; those in a URL go to Ivy alone, and are shown and
kept nowhere. A repository that is not on this machine is asked over https, unless plain http is asked for.
"""

import os
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit
from xml.etree import ElementTree as ET

from fault_injection.releases.errors import UsageError

MAVEN_CENTRAL = "https://repo1.maven.org/maven2/"
REPOSITORY_VARIABLE = "KAFKA_CONFORMANCE_MAVEN_REPOSITORY"
PLAIN_HTTP_VARIABLE = "KAFKA_CONFORMANCE_ALLOW_HTTP"
_MIRRORS_CENTRAL = frozenset({"*", "central", "external:*"})


@dataclass(frozen=True, slots=True)
class Repository:
    """A Maven repository.

    Attributes:
        url: with a slash at its end, without a user and a password: it may be shown.
        host: its host.
        user: who asks; empty where nobody is named.
        password: likewise.
    """

    url: str
    host: str
    user: str = ""
    password: str = field(default="", repr=False)


def repository_url() -> str:
    """Give the URL of the repository to resolve from, with a slash at its end and without a password."""
    return repository().url


def repository() -> Repository:
    """Give the Maven repository to resolve from.

    Raises:
        UsageError: it is asked over plain http, which nobody asked for.
    """
    named = os.environ.get(REPOSITORY_VARIABLE) or _mirror_of_central(Path.home() / ".m2" / "settings.xml")
    parts = urlsplit((named or MAVEN_CENTRAL).rstrip("/") + "/")
    url = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    if parts.scheme not in {"http", "https", "file"}:
        shown = url.rpartition("@")[2]  # without // a password is no part of what is known as the host
        raise UsageError(f"{shown} is no URL of a Maven repository: it must begin with https:// or file://.")
    if parts.scheme == "http" and not _is_this_machine(parts) and os.environ.get(PLAIN_HTTP_VARIABLE) != "1":
        raise UsageError(
            f"{url} is plain http: whoever is on the way could give other jars. Name it as https, or set"
            f" {PLAIN_HTTP_VARIABLE}=1 if you trust the way."
        )
    return Repository(url, parts.hostname or "", unquote(parts.username or ""), unquote(parts.password or ""))


def _is_this_machine(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _mirror_of_central(settings: Path) -> str | None:
    try:
        root = ET.parse(settings).getroot()  # noqa: S314 - the user's own file
    except (OSError, ET.ParseError):
        return None
    for mirror in root.iterfind(".//{*}mirrors/{*}mirror"):
        covers = (mirror.findtext("{*}mirrorOf") or "").split(",")
        if _MIRRORS_CENTRAL.intersection(name.strip() for name in covers):
            return (mirror.findtext("{*}url") or "").strip() or None
    return None
