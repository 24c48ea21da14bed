"""Where do jars come from on this machine?

Choices: a repository that the user names wins, then a mirror of Maven Central in the user's Maven settings,
then Maven Central itself. Credentials in Maven settings are not read.
"""

import os
from pathlib import Path
from xml.etree import ElementTree as ET

MAVEN_CENTRAL = "https://repo1.maven.org/maven2/"
REPOSITORY_VARIABLE = "KAFKA_CONFORMANCE_MAVEN_REPOSITORY"
_MIRRORS_CENTRAL = frozenset({"*", "central", "external:*"})


def repository_url() -> str:
    """Give the URL of the Maven repository to resolve from, with a slash at its end."""
    named = os.environ.get(REPOSITORY_VARIABLE) or _mirror_of_central(Path.home() / ".m2" / "settings.xml")
    return (named or MAVEN_CENTRAL).rstrip("/") + "/"


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
