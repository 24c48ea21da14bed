"""How are the jars of a coordinate and of everything it depends on fetched?

With the Ivy that is bundled in pyspark, so that nothing but Python packages and a Java is needed. Ivy keeps
its own download cache; the finished directories are kept by ``fault_injection.releases.cache``.
"""

import importlib.util
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import quoteattr

from fault_injection.releases.errors import JarsUnavailableError
from fault_injection.releases.java import find_java
from fault_injection.releases.release import Coordinate
from fault_injection.releases.repository import repository_url

_TIMEOUT_S = 900

_SETTINGS = """<ivysettings>
  <settings defaultResolver="repository"/>
  <caches defaultCacheDir={cache}/>
  <resolvers><ibiblio name="repository" m2compatible="true" root={root}/></resolvers>
</ivysettings>
"""

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
    wanted = tuple(coordinates)
    settings, module = work / "ivysettings.xml", work / "ivy.xml"
    settings.write_text(_SETTINGS.format(cache=quoteattr(str(ivy_cache)), root=quoteattr(repository_url())))
    module.write_text(_MODULE.format(dependencies="\n".join(map(_dependency, wanted))))
    command = [
        *(str(find_java().executable), "-cp", str(_ivy_jar()), "org.apache.ivy.Main"),
        *("-settings", str(settings), "-ivy", str(module)),
        *("-retrieve", f"{into}/[artifact]-[revision](-[classifier]).[ext]"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    if done.returncode != 0:
        raise JarsUnavailableError(_why(wanted[0], done.stdout + done.stderr))


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


def _why(wanted: Coordinate, log: str) -> str:
    unreachable = re.search(r"(UnknownHost|Connect|SocketTimeout|NoRouteToHost|SSL\w*)Exception[^\n]*", log)
    if unreachable:
        reason = unreachable[0].strip()
        return f"{wanted.text} is not cached and {repository_url()} cannot be reached ({reason})."
    if f"{wanted.group}#{wanted.artifact};{wanted.version}: not found" in log:
        return f"{wanted.text} does not exist: {repository_url()} does not have it."
    missing = re.findall(r":: ([\w.\-]+#[\w.\-]+;[\w.\-]+): not found", log)
    named = ", ".join(dict.fromkeys(missing)) or log.strip().splitlines()[-1][:200]
    return f"{wanted.text} is not cached and {repository_url()} does not have all of it ({named})."
