"""Does every row of the table of releases matter, and every value of every field? Found by search, not by a list.

With a row left out, or a field as another release has it, some story or question must be answered differently.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from oracle.rules import by_version
from oracle.rules.by_version import TABLE, rules_for
from oracle.rules.rule_set import RuleSet
from oracle.vocabulary import MetadataMode
from tests.oracle.mutants.killers import TRANSCRIPTS, Answer, Killer, Story
from tests.oracle.mutants.mutant import same
from tests.oracle.mutants.test_mutants import MUTANTS
from tests.oracle.walks import RULE_SETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A search reaches much by chance; each branch has a test that names what it does
pytestmark = [pytest.mark.no_cover, pytest.mark.slow]

Release = tuple[str, MetadataMode, bool | None]


def has_elr(rules: RuleSet) -> bool | None:
    is_on = rules.election.rule.name == "eligible-leader-replicas"
    return is_on if rules.metadata is MetadataMode.KRAFT else None


def rules_of(release: Release) -> RuleSet:
    version, metadata, elr = release
    return rules_for(version, metadata, eligible_leader_replicas=elr)


def releases_told(text: str) -> frozenset[Release]:
    """Return the releases of a transcript's partitions."""
    lines = (yaml.safe_load(line)["partition"] for line in text.splitlines() if line.startswith("partition: "))
    return frozenset((str(told["kafka"]), MetadataMode(told["metadata"]), told.get("elr")) for told in lines)


IDENTITY = {"version", "metadata", "rules"}
"""Fields that say what a rule set is, not what it does."""
WALKED = {(rules.version, rules.metadata, has_elr(rules)) for rules in RULE_SETS}
TELLING = {path.stem: releases_told(path.read_text()) for path in sorted(TRANSCRIPTS.glob("*.txt"))}
"""The releases that each story is about: only a change of theirs can change the story."""
NEWER: Release = ("99.0.0", MetadataMode.KRAFT, None)
"""A release that is newer than every one that is known."""
RULES = {release: rules_of(release) for release in sorted(WALKED.union({NEWER}, *TELLING.values()), key=str)}
PLAIN = replace(RULE_SETS[0], version="none")


WITHOUT_EFFECT = {("tells_once", True)}
"""Where 1.0 and before cannot show it: a follower drops no answer of a leader that it keeps (SAME_LEADER_SKIPS)."""


def distinct_values() -> Iterator[tuple[str, Any]]:
    """Return every value that some release has in a field of its rule set."""
    for field in fields(RuleSet):
        seen: list[object] = []
        for rules in RULES.values() if field.name not in IDENTITY else ():
            value = getattr(rules, field.name)
            if value not in seen:
                seen.append(value)
                yield field.name, value


def killers(
    changed: Callable[[Release, RuleSet], RuleSet], first: Callable[[Killer], bool] = lambda _killer: False
) -> list[Killer]:
    """Return everything that can notice a change: questions are cheap, and so is a good guess."""
    asked = [mutant.killed_by for mutant in MUTANTS if isinstance(mutant.killed_by, Answer)]
    others = {release for release, rules in RULES.items() if changed(release, rules) != rules}
    told: list[Killer] = [Story(stem) for stem, releases in TELLING.items() if releases & others]
    return [*asked, *sorted(told, key=lambda killer: not first(killer))]


def kills_it(field: str, value: object) -> Callable[[Killer], bool]:
    """Guess the killers of a value: those of mutants that set it."""
    others = (replace(PLAIN, **{field: other}) for name, other in distinct_values() if name == field and other != value)
    wrong = next(others, PLAIN)
    found = [m.killed_by for m in MUTANTS if getattr(m.change(wrong), field) == value]
    return lambda killer: killer in found


def notices(killer: Killer, change: Callable[[RuleSet], RuleSet]) -> bool:
    return not killer.passes(change) and killer.passes(same)


@pytest.mark.parametrize(
    ("field", "value"), list(distinct_values()), ids=lambda value: getattr(value, "__name__", None)
)
def test_a_field_as_another_release_has_it_is_noticed(field: str, value: object) -> None:
    def change(rules: RuleSet) -> RuleSet:
        return replace(rules, **{field: value})  # type: ignore[arg-type]

    is_noticed = any(
        notices(killer, change) for killer in killers(lambda _, rules: change(rules), kills_it(field, value))
    )
    assert is_noticed != ((field, value) in WITHOUT_EFFECT), (field, value)


@pytest.mark.parametrize("index", range(len(TABLE)))
def test_a_row_that_is_left_out_is_noticed(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    row = TABLE[index]
    monkeypatch.setattr(by_version, "TABLE", tuple(other for other in TABLE if other is not row))
    assert any(rules_of(release) != rules for release, rules in RULES.items()), "no release has it"
    names_only = all(row.change(rules) == rules for rules in (RULE_SETS[0], RULE_SETS[-1]))
    assert names_only or any(not killer.passes(same) for killer in killers(lambda release, _: rules_of(release)))
