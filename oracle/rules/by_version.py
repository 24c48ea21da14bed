"""Which release has which rules? The table from Kafka version and metadata mode to a rule set.

Sources: the module of each rule; Kafka's own source at the release tags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules import (
    caught_up,
    diverging_fetch,
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
    stale_answer,
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
    """Return the rules of one release; ``eligible_leader_replicas`` overrides the release's default.

    Raises:
        ValueError: if the release has no such metadata mode.
    """
    numbers = parse_version(version)
    _check_mode(numbers, version, metadata)
    truncation = _truncation(numbers)
    election = _election(numbers, metadata, eligible_leader_replicas)
    counts_eligible_only = _counts_eligible_only(numbers, metadata)
    return RuleSet(
        version=version,
        metadata=metadata,
        truncation=truncation,
        skips_truncation=_skips(numbers),
        writes_epoch_on_election=numbers >= (2, 0, 1),
        joins_isr=isr_join.at_epoch_start if numbers >= (2, 0, 1) else isr_join.at_high_watermark,
        serves_epoch=kip_320.is_served if numbers >= (2, 1) else kip_320.serves_any_epoch,
        effective_min_isr=strict_min_isr.at_most_all if numbers >= (3, 7) else strict_min_isr.as_configured,
        high_watermark_needs_min_isr=numbers >= (3, 7),
        waits_for_caught_up=caught_up.eligible if counts_eligible_only else caught_up.every,
        trusts_last_fetch_on_re_election=numbers < (3, 3),
        counts_diverging_fetch=numbers == (2, 8, 0),
        takes_high_watermark_before_cut=_takes_high_watermark_before_cut(numbers),
        drops_stale_lookups=numbers >= (2, 1, 1),
        drops_stale_fetches=_drops_stale_fetches(numbers),
        answers_new_high_watermark=numbers in HIGH_WATERMARK_AFTER_UPDATE,
        asks_controller_to_join=numbers >= (2, 7),
        exits_when_ahead=numbers < (2, 0, 1),
        election=election,
        rules=_named(numbers, metadata, truncation, election),
    )


def _check_mode(numbers: Version, version: str, metadata: MetadataMode) -> None:
    if metadata is MetadataMode.ZOOKEEPER and numbers >= (4, 0):
        raise ValueError(f"Kafka {version} has no ZooKeeper mode: 3.9 is the last release with it")
    if metadata is MetadataMode.KRAFT and numbers < (3, 3):
        raise ValueError(f"Kafka {version} has no KRaft mode fit for use: 3.3 is the first release with it")


def _truncation(numbers: Version) -> Truncation:
    if numbers < (0, 11):
        return truncate_to_high_watermark.TRUNCATION
    if numbers < (1, 0, 2) or numbers == (1, 1, 0):
        return kip_101.TRUNCATION_BEFORE_KAFKA_6857
    if numbers < (2, 0):
        return kip_101.TRUNCATION
    if numbers < (2, 0, 1):
        return kip_279.TRUNCATION_BEFORE_KAFKA_7415
    return kip_279.TRUNCATION if numbers < (2, 8) else truncation_on_fetch.TRUNCATION


def _election(numbers: Version, metadata: MetadataMode, elr: bool | None) -> ElectionRules:  # noqa: FBT001 - three-valued
    if metadata is MetadataMode.ZOOKEEPER:
        return zookeeper_controller.ELECTION_EMPTYING_ISR if numbers < (1, 1) else zookeeper_controller.ELECTION
    if numbers < (3, 6):
        return kraft_controller.ELECTION_BUMPING
    has_elr = numbers >= (4, 1) if elr is None else elr
    return kip_966.ELECTION if has_elr else kraft_controller.ELECTION


def _skips(numbers: Version) -> SkipsTruncation:
    if numbers <= (2, 0, 0):
        return same_leader.skips
    return same_leader.skips_one_epoch if numbers < (2, 1) else same_leader.never_skips


def _counts_eligible_only(numbers: Version, metadata: MetadataMode) -> bool:
    return metadata is MetadataMode.KRAFT and numbers >= (3, 6)


def _takes_high_watermark_before_cut(numbers: Version) -> bool:
    return (2, 8) <= numbers < (3, 4, 1)


def _drops_stale_fetches(numbers: Version) -> bool:
    return (3, 9, 1) <= numbers < (4, 0) or numbers >= (4, 0, 1)


def _named(
    numbers: Version, metadata: MetadataMode, truncation: Truncation, election: ElectionRules
) -> tuple[Rule, ...]:
    eligible_only = _counts_eligible_only(numbers, metadata)
    rows: list[tuple[Rule, bool]] = [
        (truncation.rule, True),
        (same_leader.SKIPS, numbers <= (2, 0, 0)),
        (same_leader.SKIPS_ONE_EPOCH, (2, 0, 1) <= numbers < (2, 1)),
        (epoch_entry.ON_ELECTION, numbers >= (2, 0, 1)),
        (isr_join.AT_HIGH_WATERMARK, numbers < (2, 0, 1)),
        (isr_join.AT_EPOCH_START, numbers >= (2, 0, 1)),
        (kip_320.RULE, numbers >= (2, 1)),
        (stale_answer.LOOKUP_DROPPED, (2, 1, 1) <= numbers < (2, 8)),
        (stale_answer.FETCH_DROPPED, _drops_stale_fetches(numbers)),
        (diverging_fetch.COUNTED, numbers == (2, 8, 0)),
        (diverging_fetch.HIGH_WATERMARK_FIRST, _takes_high_watermark_before_cut(numbers)),
        (kafka_5758.AFTER_UPDATE, numbers in HIGH_WATERMARK_AFTER_UPDATE),
        (kip_497.RULE, numbers >= (2, 7)),
        (strict_min_isr.RULE, numbers >= (3, 7)),
        (caught_up.EVERY, not eligible_only),
        (caught_up.ELIGIBLE, eligible_only),
        (election.rule, True),
    ]
    return tuple(rule for rule, applies in rows if applies)
