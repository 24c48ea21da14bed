"""Does every rule hold on the releases that it held on before? The whole table, written down release by release.

``test_by_version.py`` says of single borders why they are where they are; here none can move unseen.
``REWRITE_GOLDEN=1`` writes today's table: read the difference, and Kafka's source, before you keep it.
"""

from __future__ import annotations

import json
import os
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from fault_injection.releases import RELEASES
from oracle.rules.by_version import TABLE, rules_for
from oracle.rules.release import has_mode, is_older
from oracle.rules.request_versions import NEWER_THAN_KNOWN
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = Path(__file__).parent / "golden" / "rule_releases.json"
PUBLISHED = tuple(
    f"{release.version.rpartition('.')[0]}.{patch}"
    for release in RELEASES
    for patch in range(int(release.version.rpartition(".")[2]) + 1)
)
"""Every release from 0.10.2.0 on, patch by patch, as Kafka publishes them without a gap."""


def spans(rule: str, having: dict[str, frozenset[str]]) -> Iterator[str]:
    """Yield from which to which release a rule holds."""
    for holds, group in groupby(having, lambda version: rule in having[version]):
        first, *others = group
        if holds:
            yield f"{first} to {others[-1] if others else first}"


SETTINGS: dict[str, tuple[MetadataMode, bool | None]] = {
    "zookeeper": (MetadataMode.ZOOKEEPER, None),
    "kraft": (MetadataMode.KRAFT, None),
    "kraft with eligible leader replicas": (MetadataMode.KRAFT, True),
    "kraft without eligible leader replicas": (MetadataMode.KRAFT, False),
}


def by_rule(mode: MetadataMode, eligible_leader_replicas: bool | None) -> dict[str, list[str]]:
    """Return the spans of every rule; where the feature is chosen, on the releases that know it."""
    known = [one for one in PUBLISHED if has_mode(one, mode)]
    chosen = known if eligible_leader_replicas is None else [one for one in known if not is_older(one, "4.0.0")]
    having = {
        one: frozenset(rules_for(one, mode, eligible_leader_replicas=eligible_leader_replicas).names())
        for one in chosen
    }
    return {rule: list(spans(rule, having)) for rule in sorted(frozenset[str]().union(*having.values()))}


def test_every_rule_holds_where_it_held() -> None:
    today = {words: by_rule(*setting) for words, setting in SETTINGS.items()}
    if "REWRITE_GOLDEN" in os.environ:
        GOLDEN.write_text(json.dumps(today, indent=1) + "\n", encoding="utf-8")

    assert today == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_the_table_has_every_rule() -> None:
    """One that no published release has would be missing in it, unseen: requests of a release that is still to come."""
    told = json.loads(GOLDEN.read_text(encoding="utf-8"))

    assert {row.rule.name for row in TABLE} - frozenset[str]().union(*told.values()) == {NEWER_THAN_KNOWN.name}
