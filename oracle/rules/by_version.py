"""Which release has which rules? The table from Kafka version and metadata mode to a rule set.

Sources: the module of each rule; Kafka's own source at the release tags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules import (
    epoch_entry,
    isr_join,
    kafka_5758,
    kip_101,
    kip_279,
    kip_320,
    kip_497,
    kip_966,
    kraft_controller,
    same_leader,
    strict_min_isr,
    truncate_to_high_watermark,
    truncation_on_fetch,
    zookeeper_controller,
)
from oracle.rules.rule_set import RuleSet
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from oracle.rules.election import ElectionRules
    from oracle.rules.rule import Rule
    from oracle.rules.rule_set import SkipsTruncation
    from oracle.rules.truncation import Truncation

Version = tuple[int, ...]
HIGH_WATERMARK_AFTER_UPDATE = {(1, 0, 0), (1, 0, 1), (1, 1, 0)}


def parse_version(text: str) -> Version:
    """Return a version's numbers, such as (0, 10, 2, 2).

    Raises:
        ValueError: if the text is not numbers joined by dots.
    """
    return tuple(int(part) for part in text.split("."))


def rules_for(version: str, metadata: MetadataMode, *, eligible_leader_replicas: bool | None = None) -> RuleSet:
    """Return the rules of one release; ``eligible_leader_replicas`` overrides the release's default."""
    numbers = parse_version(version)
    truncation = _truncation(numbers)
    election = _election(numbers, metadata, eligible_leader_replicas)
    return RuleSet(
        version=version,
        metadata=metadata,
        truncation=truncation,
        skips_truncation=_skips(numbers),
        writes_epoch_on_election=numbers >= (2, 0, 1),
        joins_isr=isr_join.at_epoch_start if numbers >= (2, 0, 1) else isr_join.at_high_watermark,
        serves_epoch=kip_320.is_served if numbers >= (2, 1) else kip_320.serves_any_epoch,
        high_watermark_may_advance=(
            strict_min_isr.may_advance if numbers >= (3, 7) else strict_min_isr.always_advances
        ),
        answers_new_high_watermark=numbers in HIGH_WATERMARK_AFTER_UPDATE,
        asks_controller_to_join=numbers >= (2, 7),
        exits_when_ahead=numbers < (2, 0, 1),
        election=election,
        rules=_named(numbers, truncation, election),
    )


def _truncation(numbers: Version) -> Truncation:
    if numbers < (0, 11):
        return truncate_to_high_watermark.TRUNCATION
    if numbers < (2, 0):
        return kip_101.TRUNCATION
    if numbers < (2, 8):
        return kip_279.TRUNCATION
    return truncation_on_fetch.TRUNCATION


def _election(numbers: Version, metadata: MetadataMode, elr: bool | None) -> ElectionRules:  # noqa: FBT001 - three-valued
    if metadata is MetadataMode.ZOOKEEPER:
        return zookeeper_controller.ELECTION
    if numbers < (3, 6):
        return kraft_controller.ELECTION_BUMPING
    has_elr = numbers >= (4, 1) if elr is None else elr
    return kip_966.ELECTION if has_elr else kraft_controller.ELECTION


def _skips(numbers: Version) -> SkipsTruncation:
    if numbers <= (2, 0, 0):
        return same_leader.skips
    return same_leader.skips_one_epoch if numbers < (2, 1) else same_leader.never_skips


def _skip_rule(numbers: Version) -> Rule | None:
    if numbers <= (2, 0, 0):
        return same_leader.SKIPS
    return same_leader.SKIPS_ONE_EPOCH if numbers < (2, 1) else None


def _named(numbers: Version, truncation: Truncation, election: ElectionRules) -> tuple[Rule, ...]:
    rows: list[tuple[Rule | None, bool]] = [
        (truncation.rule, True),
        (_skip_rule(numbers), True),
        (epoch_entry.ON_ELECTION, numbers >= (2, 0, 1)),
        (isr_join.AT_HIGH_WATERMARK, numbers < (2, 0, 1)),
        (isr_join.AT_EPOCH_START, numbers >= (2, 0, 1)),
        (kip_320.RULE, numbers >= (2, 1)),
        (kafka_5758.AFTER_UPDATE, numbers in HIGH_WATERMARK_AFTER_UPDATE),
        (kip_497.RULE, numbers >= (2, 7)),
        (strict_min_isr.RULE, numbers >= (3, 7)),
        (election.rule, True),
    ]
    return tuple(rule for rule, applies in rows if applies and rule is not None)
