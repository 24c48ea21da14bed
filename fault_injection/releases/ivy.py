"""How are the jars of a coordinate and of everything it depends on fetched?

With the Ivy that is bundled in pyspark, so that nothing but Python packages and a Java is needed. Ivy keeps
its own download cache; the finished directories are kept by ``fault_injection.releases.jars``.
"""

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import Request, urlopen
from xml.etree import ElementTree as ET
from xml.sax.saxutils import quoteattr

from fault_injection.releases.release import Coordinate, JarsUnavailableError, UsageError, find_java

# Where do jars come from on this machine?
#
# Choices: a repository that the user names wins, then a mirror of Maven Central in the user's Maven settings,
# then Maven Central itself. Credentials in Maven settings are not read; those in a URL go to Ivy alone, and are shown
# and kept nowhere. A repository that is not on this machine is asked over https, unless plain http is asked for.


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


def repository() -> Repository:
    """Return the Maven repository to resolve from.

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


_TIMEOUT_S = 900
_REALM_TIMEOUT_S = 20

_SETTINGS = """<ivysettings>
  <settings defaultResolver="repository"/>
  <caches defaultCacheDir={cache}/>{credentials}
  <resolvers><ibiblio name="repository" m2compatible="true" root={root}/></resolvers>
</ivysettings>
"""
_CREDENTIALS = """
  <credentials realm={realm} host={host} username={user} passwd={password}/>"""

_MODULE = """<ivy-module version="2.0">
  <info organisation="kafka-conformance" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


def resolve(coordinates: Iterable[Coordinate], into: Path, ivy_cache: Path, work: Path) -> None:
    """Fetch coordinates with all their runtime dependencies, as files of one directory.

    Raises:
        JarsUnavailableError: something cannot be obtained.
    """
    wanted, source = tuple(coordinates), repository()
    settings, module = work / "ivysettings.xml", work / "ivy.xml"
    settings.touch(mode=0o600)
    settings.write_text(_settings(source, wanted[0], ivy_cache))
    module.write_text(_MODULE.format(dependencies="\n".join(map(_dependency, wanted))))
    command = [
        *(str(find_java().executable), "-cp", str(_ivy_jar()), "org.apache.ivy.Main"),
        *("-settings", str(settings), "-ivy", str(module)),
        *("-retrieve", f"{into}/[artifact]-[revision](-[classifier]).[ext]"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    if done.returncode != 0:
        raise JarsUnavailableError(_why(wanted[0], source, done.stdout + done.stderr))


def _settings(source: Repository, wanted: Coordinate, ivy_cache: Path) -> str:
    credentials = ""
    if source.user:
        said = {"realm": _realm(source, wanted), "host": source.host, "user": source.user, "password": source.password}
        credentials = _CREDENTIALS.format(**{name: quoteattr(text) for name, text in said.items()})
    root, kept = quoteattr(source.url), quoteattr(str(ivy_cache))
    return _SETTINGS.format(cache=kept, root=root, credentials=credentials)


def _realm(source: Repository, wanted: Coordinate) -> str:
    """Ask a repository for the realm of its passwords, without which Ivy sends none (RFC 7617)."""
    place = f"{wanted.group.replace('.', '/')}/{wanted.artifact}/{wanted.version}"
    pom = f"{source.url}{place}/{wanted.artifact}-{wanted.version}.pom"
    try:
        urlopen(Request(pom, method="HEAD"), timeout=_REALM_TIMEOUT_S).close()  # noqa: S310 - http or https: checked
    except HTTPError as refused:
        realm = re.search(r'realm="([^"]*)"', refused.headers.get("WWW-Authenticate", ""))
        return realm[1] if realm else ""
    except OSError:
        pass  # Ivy says that nobody answers
    return ""


def _dependency(coordinate: Coordinate) -> str:
    attributes = f'org="{coordinate.group}" name="{coordinate.artifact}" rev="{coordinate.version}"'
    return f'    <dependency {attributes} force="true" conf="default->runtime,master"/>'


def _ivy_jar() -> Path:
    pyspark = importlib.util.find_spec("pyspark")
    if pyspark is None or pyspark.origin is None:
        raise JarsUnavailableError("The Python package pyspark, whose Ivy resolves jars, is not installed.")
    found = sorted(Path(pyspark.origin).parent.glob("jars/ivy-*.jar"))
    if not found:
        raise JarsUnavailableError("The installed pyspark has no jars/ivy-*.jar to resolve jars with.")
    return found[-1]


_UNREACHABLE = (
    r"Host \S+ not found",
    r"(?:UnknownHost|Connect|SocketTimeout|NoRouteToHost|SSL\w*)Exception[^\n)]*",
    r"Server access error[^\n]*",
)
"""How Ivy says that nobody answered; after it, it also says of everything that it was not found."""
_REFUSED = r"CLIENT ERROR: ([^\n]*?) url="


def _why(wanted: Coordinate, source: Repository, log: str) -> str:
    """Return why the jars of a coordinate are not there: nobody answers, who answers refuses, or there are none."""
    unreachable = re.search("|".join(_UNREACHABLE), log)
    if unreachable:
        return f"{wanted.text} is not cached and {source.url} cannot be reached ({unreachable[0].strip()})."
    refused = re.search(_REFUSED, log)
    if refused and refused[1] != "Not Found":
        return f"{wanted.text} is not cached and {source.url} refuses it ({refused[1]})."
    if f"{wanted.group}#{wanted.artifact};{wanted.version}: not found" in log:
        return f"{wanted.text} does not exist: {source.url} does not have it."
    missing = re.findall(r":: ([\w.\-]+#[\w.\-]+;[\w.\-]+): not found", log)
    named = ", ".join(dict.fromkeys(missing)) or log.strip().splitlines()[-1][:200]
    return f"{wanted.text} is not cached and {source.url} does not have all of it ({named})."
