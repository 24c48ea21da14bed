"""Does every place that names the newest release name it, and does docs/new-release.md list them all?

Each place is a file and a pattern whose first group is the release, or its line, that stands there. The release table
itself is what all others are held against.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from zipfile import ZipFile

import pytest

from conformance.catalogue.ladder import LADDER
from conformance.line import line_named
from fault_injection.releases import RELEASES, jars_of, schema_jar
from fault_injection.wire.codec_schemas import CONTROLLER_APIS, MESSAGE_FOLDER, api_name, load_schemas
from tests.oracle.measured_versions import measure, measured
from tests.project.documents import ROOT

PAGE = (ROOT / "docs" / "new-release.md").read_text(encoding="utf-8")
VERSION = r"(\d+\.\d+\.\d+)"
LINE = r"(\d+\.\d+)"


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere that the newest release is named.

    Attributes:
        path: the file.
        pattern: finds what stands there; each of its matches must be the newest.
        says: how the place writes the newest release's version or line.
    """

    path: str
    pattern: str
    says: str = "{version}"

    def named(self, text: str) -> list[str]:
        """Return what stands in the place, however often."""
        return re.findall(self.pattern, text, re.MULTILINE)

    def wanted(self, version: str) -> str:
        """Return what must stand there if a release is the newest."""
        line = version.rpartition(".")[0]
        return self.says.format(version=version, line=line)

    def is_right(self, text: str, version: str) -> bool:
        """Return whether the place names a release, and no other."""
        found = self.named(text)
        return bool(found) and set(found) == {self.wanted(version)}


NEWER = r"(4\.\d+\.\d+)"
"""The examples name an older release beside the newest; none of those is a 4."""
TYPED = rf"^(?:\$ )?kafka-conformance .*\b{NEWER}"
EXEMPLIFIED = ("guarantee_arguments", "listing", "explaining", "matrix", "judgement")
"""Commands with the newest release in the examples of their help."""
PLACES = (
    Place("fault_injection/releases/table.py", rf'^    "{VERSION}",\n\)'),
    Place("fault_injection/releases/pins.json", rf'^ "{VERSION}": \{{(?![\s\S]*^ ")'),
    Place("conformance/catalogue/ladder.py", rf'^    "{VERSION}/kraft",\n\)'),
    Place(".github/workflows/nightly.yml", rf"^ +- {VERSION}/kraft\n    (?:steps|env):"),
    Place("oracle/rules/request_versions.py", rf'^NEWEST_KNOWN = "{LINE}"$', "{line}"),
    Place("tests/oracle/measured_versions.json", rf'^ "{VERSION}/kraft": .*\n\}}'),
    Place("conformance/audit/api_versions.json", rf'^ "{VERSION}/kraft": .*\n\}}'),
    Place("tests/oracle/golden/rule_releases.json", rf'"metadata-log": \[\s+"3\.3\.0 to {VERSION}"'),
    Place("oracle/brokers/guarantee_table.json", rf'"{VERSION} kraft"\], "cells"(?![\s\S]*"releases")'),
    Place("compose/kraft/docker-compose.yaml", rf"(?:Kafka |composed |/jars/){VERSION}\b"),
    Place("compose/README.md", rf"(?:\(kraft\) \| |--kafka ){VERSION}\b"),
    Place("README.md", rf"on every release line from 0\.10\.2 to {LINE}\.$", "{line}"),
    Place("README.md", TYPED),
    Place("docs/guarantees.md", rf"^\| \d\.\d to {LINE} \| none found, RF 2 [a-z ]+ \| lost as allowed", "{line}"),
    Place("docs/catalogue.md", rf"`NOT_RUN` and says why: \d+ entries on {VERSION}"),
    *(Place(f"docs/{name}.md", TYPED) for name in ("catalogue", "commands", "guarantees", "schedules", "installation")),
    Place("CHANGELOG.md", rf"of any release line from 0\.10\.2 to {LINE},", "{line}"),
    *(
        Place(f"conformance/{name}.py", rf"^  kafka-conformance .*\b{NEWER}")
        for name in ("cli", *(f"commands/{name}" for name in EXEMPLIFIED))
    ),
    Place("Makefile", rf"KAFKA={VERSION}\]"),
    *(Place(f"examples/{name}.yaml", rf"--kafka {NEWER}") for name in ("acks-1", "high-watermark-by-hand")),
    Place("examples/restarted-follower.yaml", rf"--kafka {NEWER}"),
)
NEWEST, NEXT = RELEASES[-1].version, "4.9.0"


def newest_version(jar: ZipFile, name: str) -> int | None:
    """Return the newest version that a release has of a request; None if it has none any more."""
    schema = jar.read(f"{MESSAGE_FOLDER}{name}Request.json").decode()
    (versions,) = re.findall(r'"validVersions": "([^"]*)"', schema)
    return None if versions == "none" else int(versions.rpartition("-")[2])


def text_of(place: Place) -> str:
    return (ROOT / place.path).read_text(encoding="utf-8")


def named(place: Place) -> str:
    return f"{place.path} {place.says}"


@pytest.mark.parametrize("place", PLACES, ids=named)
def test_a_place_names_the_newest_release(place: Place) -> None:
    assert place.is_right(text_of(place), NEWEST), f"{place.named(text_of(place))}; see docs/new-release.md"


@pytest.mark.parametrize("place", PLACES, ids=named)
def test_a_place_that_is_forgotten_is_noticed(place: Place) -> None:
    assert not place.is_right(text_of(place), NEXT), "a newer release is in the table, and this place is as it was"
    text = text_of(place)
    assert place.is_right(text.replace(place.wanted(NEWEST), place.wanted(NEXT)), NEXT)
    (*_, last) = re.finditer(place.pattern, text, re.MULTILINE)
    doctored = text[: last.start(1)] + place.wanted("4.1.0") + text[last.end(1) :]
    assert not place.is_right(doctored, NEWEST), "one of its mentions is older"


def test_the_page_lists_every_place_and_no_other() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)
    assert listed == list(dict.fromkeys(place.path for place in PLACES))


def test_the_ladder_has_the_last_patch_of_each_of_its_lines_or_a_patch_with_a_rule_of_its_own() -> None:
    last = {release.version for release in RELEASES}
    older = {line.release.version for line in LADDER} - last
    assert older == {"1.1.0", "4.0.1"}


def test_the_guarantee_table_has_the_last_patch_of_every_line() -> None:
    text = (ROOT / "oracle/brokers/guarantee_table.json").read_text(encoding="utf-8")
    missing = [release.version for release in RELEASES if f'"{release.version} ' not in text]
    assert missing == []


@pytest.mark.broker
def test_the_gate_reads_what_brokers_of_the_newest_release_say_to_each_other() -> None:
    messages = load_schemas(schema_jar())
    with ZipFile(jars_of(RELEASES[-1]).directory / f"kafka-clients-{NEWEST}.jar") as jar:
        spoken = {name: newest_version(jar, name) for name in (*CONTROLLER_APIS, "Fetch", "OffsetForLeaderEpoch")}
    read = {api_name(key): message for key, message in messages.items()}
    assert spoken["Fetch"] is not None
    for name, version in spoken.items():
        assert version is None or read[name].known_version(version) is not None, (name, version)


@pytest.mark.broker
def test_brokers_of_the_newest_release_send_and_take_what_was_measured() -> None:
    newest = line_named(NEWEST)
    assert measure(newest) == measured()[newest.text]
