"""Which release has which rules? One table: each row names a rule, its releases and what it changes.

A rule set starts as ``BASE`` and takes every row that matches its release; a later row may replace an earlier one's.
Sources: the module of each rule; Kafka's own source at the release tags.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from oracle.rules import (
    ahead_of_leader,
    broker_epoch,
    caught_up,
    controlled_shutdown,
    controller_epoch,
    delivery,
    diverging_fetch,
    eligible_index,
    epoch_entry,
    fetch_beyond_end,
    fetch_session,
    full_truncation,
    high_watermark_checks,
    isr_eligibility,
    isr_join,
    isr_shrink,
    kafka_5758,
    kip_101,
    kip_207,
    kip_279,
    kip_320,
    kip_392,
    kip_497,
    kip_966,
    kraft_controller,
    last_fetched_epoch,
    message_format,
    reassignment,
    recovery,
    request_versions,
    requested_election,
    same_leader,
    settings_change,
    stale_answer,
    stop_replica,
    strict_min_isr,
    timestamp_lookup,
    truncate_to_high_watermark,
    truncation_on_fetch,
    unclean_setting,
    zookeeper_controller,
)
from oracle.rules.base import BASE
from oracle.rules.release import (
    RuleKey,
    before,
    every_release,
    has_mode,
    in_kraft_mode,
    in_zookeeper_mode,
    parse_version,
    since,
    unless,
    with_elr,
    within,
)
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.release import Version
    from oracle.rules.rule import Rule
    from oracle.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One change of the protocol.

    Attributes:
        rule: the rule that a matching release has.
        applies: which releases have it.
        change: what it makes of the rule set so far.
    """

    rule: Rule
    applies: Callable[[RuleKey], bool]
    change: Callable[[RuleSet], RuleSet]


counts_eligible_only = within(in_kraft_mode, since("3.6.0"))
knows_starts = within(in_kraft_mode, since("3.5.0"))
has_feature = within(in_kraft_mode, since("4.0.0"))
has_feature_by_default = within(in_kraft_mode, since("4.1.0"))
tells_end_without_epochs = within(since("0.11.0.0"), before("2.0.0", "0.11.0.3", "1.0.2", "1.1.1"))


def having(**fields: Any) -> Callable[[RuleSet], RuleSet]:  # noqa: ANN401 - as dataclasses.replace
    """Return the change that sets fields of the rule set."""
    return lambda rules: replace(rules, **fields)


def same(rules: RuleSet) -> RuleSet:
    """Change nothing: what the row's releases do is what the rule set has already."""
    return rules


TABLE: tuple[RuleRow, ...] = (
    RuleRow(truncate_to_high_watermark.RULE, before("0.11.0.0"), same),
    RuleRow(kip_101.RULE, within(since("0.11.0.0"), before("2.0.0")), having(truncation=kip_101.TRUNCATION)),
    RuleRow(kip_279.RULE, within(since("2.0.0"), before("2.8.0")), having(truncation=kip_279.TRUNCATION)),
    RuleRow(
        kip_279.WITHIN_CACHE,
        within(since("2.0.0"), before("2.0.1")),
        having(truncation=kip_279.TRUNCATION_BEFORE_KAFKA_7415),
    ),
    RuleRow(
        kip_101.ASKS_WITHOUT_EPOCHS,
        within(since("0.11.0.0"), before("2.1.0")),
        lambda rules: replace(rules, truncation=replace(rules.truncation, asks_without_epochs=True)),
    ),
    RuleRow(message_format.TELLS_END_WITHOUT_EPOCHS, tells_end_without_epochs, message_format.telling_end),
    RuleRow(truncation_on_fetch.RULE, since("2.8.0"), having(truncation=truncation_on_fetch.TRUNCATION)),
    RuleRow(
        message_format.RULE, within(within(since("0.11.0.0"), before("3.0.0")), unless(tells_end_without_epochs)), same
    ),
    RuleRow(
        message_format.NOTES_EPOCH, within(since("0.11.0.0"), before("2.1.1")), having(notes_epoch_in_any_format=True)
    ),
    RuleRow(message_format.IGNORED, since("3.0.0"), having(heeds_message_format=False)),
    RuleRow(same_leader.SKIPS, before("2.0.1"), having(skips_truncation=same_leader.skips)),
    RuleRow(
        same_leader.SKIPS_ONE_EPOCH,
        within(since("2.0.1"), before("2.1.0")),
        having(skips_truncation=same_leader.skips_one_epoch),
    ),
    RuleRow(ahead_of_leader.GIVES_UP, before("2.0.1"), having(when_ahead=ahead_of_leader.WhenAhead.BROKER_ENDS)),
    RuleRow(ahead_of_leader.HANGS, before("0.11.0.0"), having(when_ahead=ahead_of_leader.WhenAhead.BROKER_HANGS)),
    RuleRow(epoch_entry.ON_ELECTION, since("2.0.1"), having(writes_epoch_on_election=True)),
    RuleRow(
        epoch_entry.KEPT_WITHOUT_CUT, within(since("0.11.0.0"), before("2.6.1")), having(keeps_epoch_without_cut=True)
    ),
    RuleRow(stale_answer.CONNECTION_CLOSED, since("1.1.0"), having(closes_former_fetch=True)),
    RuleRow(isr_join.AT_HIGH_WATERMARK, before("2.0.1"), same),
    RuleRow(isr_join.AT_EPOCH_START, since("2.0.1"), having(joins_isr=isr_join.at_epoch_start)),
    RuleRow(isr_eligibility.ANY, before("3.3.0"), same),
    RuleRow(
        isr_eligibility.UNFENCED,
        within(since("3.3.0"), unless(knows_starts)),
        having(may_join=isr_eligibility.unfenced),
    ),
    RuleRow(isr_eligibility.THIS_START, knows_starts, having(may_join=isr_eligibility.of_this_start)),
    RuleRow(kip_320.RULE, since("2.1.0"), having(serves_epoch=kip_320.is_served)),
    RuleRow(stale_answer.LOOKUP_DROPPED, within(since("2.1.1"), before("2.8.0")), having(drops_stale_lookups=True)),
    RuleRow(stale_answer.FETCH_DROPPED, since("4.0.1", "3.9.1"), having(drops_stale_fetches=True)),
    RuleRow(
        last_fetched_epoch.FORGOTTEN,
        within(since("3.5.1"), before("3.7.0")),
        having(last_epoch_after_empty_answer=last_fetched_epoch.forgotten),
    ),
    RuleRow(
        full_truncation.LEFT_BELOW,
        within(since("2.4.0"), before("2.4.1")),
        having(high_watermark_at_new_start=full_truncation.left_below),
    ),
    RuleRow(diverging_fetch.COUNTED, within(since("2.8.0"), before("2.8.1")), having(counts_diverging_fetch=True)),
    RuleRow(
        diverging_fetch.HIGH_WATERMARK_FIRST,
        within(since("2.8.0"), before("3.4.1")),
        having(takes_high_watermark_before_cut=True),
    ),
    RuleRow(
        kafka_5758.AFTER_UPDATE,
        within(since("1.0.0"), before("2.0.0", "1.0.2", "1.1.1")),
        having(answers_new_high_watermark=True),
    ),
    RuleRow(kip_497.RULE, since("2.7.0"), having(asks_controller_to_join=True)),
    RuleRow(isr_shrink.SILENT, before("2.1.0"), having(leaves_isr=isr_shrink.silent)),
    RuleRow(isr_shrink.BEHIND, since("2.1.0"), same),
    RuleRow(
        high_watermark_checks.NOT_ON_SHRINK,
        within(since("2.7.0"), before("3.1.0")),
        having(raises_high_watermark_on_shrink=False),
    ),
    RuleRow(high_watermark_checks.ON_EVERY_FETCH, before("2.4.0"), having(checks_every_fetch=True)),
    RuleRow(kip_207.RULE, since("2.2.0"), having(tells_latest_offset=kip_207.from_epoch_start)),
    RuleRow(kip_392.RULE, since("2.4.0"), having(followers_serve_consumers=True)),
    RuleRow(
        kip_392.PUSHED, within(since("2.4.0"), before("2.6.0")), having(wakes_waiting_fetch=kip_392.wakes_for_news)
    ),
    RuleRow(timestamp_lookup.RULE, before("0.11.0.0"), having(finds_time_at_high_watermark=True)),
    RuleRow(
        strict_min_isr.RULE,
        since("3.7.0"),
        having(high_watermark_needs_min_isr=True, effective_min_isr=strict_min_isr.at_most_all),
    ),
    RuleRow(caught_up.TRUSTED_ON_RE_ELECTION, before("3.3.0"), having(trusts_last_fetch_on_re_election=True)),
    RuleRow(caught_up.EVERY, before("3.6.0"), same),
    RuleRow(
        caught_up.REGISTERED,
        within(in_zookeeper_mode, since("3.6.0")),
        having(waits_for_caught_up=caught_up.registered),
    ),
    RuleRow(caught_up.ELIGIBLE, counts_eligible_only, having(waits_for_caught_up=caught_up.eligible)),
    RuleRow(
        zookeeper_controller.RULE_EMPTYING_ISR,
        before("1.1.0"),
        having(election=zookeeper_controller.ELECTION_EMPTYING_ISR),
    ),
    RuleRow(zookeeper_controller.RULE, within(in_zookeeper_mode, since("1.1.0")), same),
    RuleRow(
        kraft_controller.RULE_BUMPING,
        within(in_kraft_mode, before("3.6.0")),
        having(election=kraft_controller.ELECTION_BUMPING),
    ),
    RuleRow(
        kraft_controller.RULE,
        within(counts_eligible_only, unless(with_elr)),
        having(election=kraft_controller.ELECTION),
    ),
    RuleRow(delivery.LEADER_AND_ISR.rule, in_zookeeper_mode, same),
    RuleRow(delivery.METADATA_LOG.rule, in_kraft_mode, having(delivery=delivery.METADATA_LOG)),
    RuleRow(controlled_shutdown.CUTS, before("0.11.0.0"), having(stopping_leader_cuts=True)),
    RuleRow(controlled_shutdown.KEEPS, since("0.11.0.0"), same),
    RuleRow(controller_epoch.RULE, in_zookeeper_mode, same),
    RuleRow(
        stop_replica.NEWER_EPOCH,
        within(in_zookeeper_mode, within(since("2.6.0"), before("3.4.1"))),
        having(stops_replica=stop_replica.in_a_newer_epoch),
    ),
    RuleRow(
        stop_replica.SAME_EPOCH,
        within(in_zookeeper_mode, since("3.4.1")),
        having(stops_replica=stop_replica.in_the_same_epoch),
    ),
    RuleRow(recovery.RULE, since("3.2.0"), having(marks_recovery=recovery.marked)),
    RuleRow(reassignment.IN_STEPS.rule, in_zookeeper_mode, same),
    RuleRow(
        reassignment.ADDED_ONLY.rule,
        within(in_kraft_mode, before("3.8.0")),
        having(reassignment=reassignment.ADDED_ONLY),
    ),
    RuleRow(
        reassignment.IN_ONE_RECORD.rule,
        within(in_kraft_mode, since("3.8.0")),
        having(reassignment=reassignment.IN_ONE_RECORD),
    ),
    RuleRow(requested_election.PREFERRED, every_release, same),
    RuleRow(requested_election.UNCLEAN, since("2.4.0"), having(elects_uncleanly_on_request=True)),
    RuleRow(settings_change.WAITS, unless(settings_change.elects_once_allowed), same),
    RuleRow(
        settings_change.AT_ONCE, settings_change.elects_once_allowed, having(settings_changed=settings_change.elects)
    ),
    RuleRow(settings_change.CLEARS_ELIGIBLE, with_elr, same),
    RuleRow(eligible_index.KEPT, with_elr, eligible_index.keeping_index),
    RuleRow(kip_966.RULE, with_elr, having(election=kip_966.ELECTION)),
    RuleRow(
        kip_966.ELECTS_THE_ABSENT, within(with_elr, before("4.1.0")), having(election=kip_966.ELECTION_OF_THE_ABSENT)
    ),
    RuleRow(
        unclean_setting.RULE,
        within(in_kraft_mode, before("3.9.0")),
        lambda rules: replace(rules, election=unclean_setting.unheeded(rules.election)),
    ),
    RuleRow(kip_966.LAST_REPLICA_STANDING, unless(with_elr), same),
    RuleRow(kip_966.OFF_BY_DEFAULT, within(has_feature, unless(has_feature_by_default)), same),
    RuleRow(kip_966.ON_BY_DEFAULT, has_feature_by_default, having(has_eligible_by_default=True)),
    RuleRow(
        unclean_setting.ALLOWED_UNLESS_SET,
        before("0.11.0.0"),
        having(allows_unclean_election=unclean_setting.allowed_unless_set),
    ),
    RuleRow(unclean_setting.FORBIDDEN_UNLESS_SET, since("0.11.0.0"), same),
    RuleRow(
        broker_epoch.RULE,
        within(in_zookeeper_mode, since("2.2.0")),
        having(takes_request_of_start=broker_epoch.for_this_start),
    ),
    RuleRow(fetch_beyond_end.RULE, since("3.8.0"), having(answers_fetch_at_once=fetch_beyond_end.answered_at_once)),
    RuleRow(
        fetch_session.EVERY_ANSWERED,
        within(since("1.1.0"), before("3.0.0")),
        having(moves_in_session=fetch_session.every_answered),
    ),
    RuleRow(fetch_session.GAVE_RECORDS, since("3.0.0"), same),
    *(RuleRow(*change) for change in request_versions.CHANGES),
)


def rules_for(version: str, metadata: MetadataMode, *, eligible_leader_replicas: bool | None = None) -> RuleSet:
    """Return the rules of one release; ``eligible_leader_replicas`` overrides the release's default.

    Raises:
        ValueError: if the release has no such metadata mode.
    """
    _check_mode(version, metadata)
    release = _release(parse_version(version), metadata, eligible_leader_replicas)
    rules = replace(BASE, version=version, metadata=metadata)
    rows = [row for row in TABLE if row.applies(release)]
    for row in rows:
        rules = row.change(rules)
    return replace(rules, rules=tuple(row.rule for row in rows))


def _release(numbers: Version, metadata: MetadataMode, elr: bool | None) -> RuleKey:  # noqa: FBT001 - three-valued
    """Return the release as its cluster runs it, with the feature that it has by default or is formatted with."""
    plain = RuleKey(numbers, metadata, has_elr=False)
    return replace(plain, has_elr=has_feature(plain) and (has_feature_by_default(plain) if elr is None else elr))


def _check_mode(version: str, metadata: MetadataMode) -> None:
    if has_mode(version, metadata):
        return
    if metadata is MetadataMode.ZOOKEEPER:
        raise ValueError(f"Kafka {version} has no ZooKeeper mode: 3.9 is the last release with it")
    raise ValueError(f"Kafka {version} has no KRaft mode fit for use: 3.3 is the first release with it")
