"""Are a release's own jars the ones that were released?

``pins.json`` has the SHA-256 of every jar that a release itself is made of, those of ``org.apache.kafka``, as Maven
Central served them when the release was taken into the table. What a release depends on is not pinned: a set is kept as
it was first resolved (``fault_injection.releases.cache``). A Kafka that the user brings is not pinned either.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fault_injection.releases.cache import MANIFEST, JarSet
from fault_injection.releases.release import ChangedJarError

PINS = Path(__file__).with_name("pins.json")


@cache
def pins() -> Mapping[str, Mapping[str, str]]:
    """Return SHA-256 in hexadecimal, by version and name of the jar."""
    read: dict[str, dict[str, str]] = json.loads(PINS.read_text())
    return read


def is_pinned(version: str) -> bool:
    """Return whether the jars of a version are known; patches that the table does not name may not be."""
    return version in pins()


def own_jars(version: str, jars: JarSet) -> dict[str, str]:
    """Return SHA-256 of the jars that a version itself is made of, from the manifest of a set."""
    lines = (line.split("  ", 1) for line in (jars.directory / MANIFEST).read_text().splitlines())
    return {name: sha256 for sha256, name in lines if name.startswith("kafka") and name.endswith(f"-{version}.jar")}


def check_pins(version: str, jars: JarSet) -> JarSet:
    """Return a set whose own jars are the released ones, and all of them.

    Raises:
        ChangedJarError: one is another, or missing, or there is one that was never released.
    """
    if not is_pinned(version):
        return jars
    wanted, found = pins()[version], own_jars(version, jars)
    for name in sorted({*wanted, *found}):
        if wanted.get(name) != found.get(name):
            raise ChangedJarError(
                f"{name} is not the one that Kafka {version} was released with: its SHA-256 is"
                f" {found.get(name, 'missing')} and must be {wanted.get(name, 'that of no jar')}. Remove"
                f" {jars.directory} to fetch it again, from a repository that you trust."
            )
    return jars


def write_pins(sets: Mapping[str, JarSet]) -> None:
    """Add the pins of versions whose jars were just fetched; those that are there stay as they are."""
    added = {version: own_jars(version, jars) for version, jars in sets.items()}
    everything = {**added, **pins()}
    order = sorted(everything, key=lambda version: [int(number) for number in version.split(".")])
    PINS.write_text(json.dumps({version: everything[version] for version in order}, indent=1) + "\n")
