"""How are the jars of a coordinate and of everything it depends on fetched?

With the Ivy that is bundled in pyspark, so that nothing but Python packages and a Java is needed. Ivy keeps
its own download cache; the finished directories are kept by ``fault_injection.releases.cache``.
"""

import importlib.util
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from xml.sax.saxutils import quoteattr

from fault_injection.releases.errors import JarsUnavailableError
from fault_injection.releases.java import find_java
from fault_injection.releases.release import Coordinate
from fault_injection.releases.repository import Repository, repository

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
    """Say why the jars of a coordinate are not there: nobody answers, who answers refuses, or there are none."""
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
