"""Which release has which rules? One table: each row names a rule, its releases and what it changes.

A rule set starts as ``BASE`` and takes every row that matches its release; a later row may replace an earlier one's.
Sources: the module of each rule; Kafka's own source at the release tags.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from oracle.rules import (
    consumers,
    delivery,
    diverging_log,
    election,
    eligible_leaders,
    fencing,
    fetch_sessions,
    high_watermark,
    isr,
    leader_epoch,
    message_format,
    reassignment,
    request_versions,
    transactions,
    truncation,
    unclean_election,
)
from oracle.rules.release import (
    WITH,
    WITHOUT,
    RuleKey,
    before,
    between,
    every_release,
    has_mode,
    in_kraft_mode,
    in_zookeeper_mode,
    parse_version,
    plain_version,
    since,
    swap_text,
    swapped_rules,
    unless,
    with_elr,
    within,
)
from oracle.rules.rule_set import RuleSet
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.release import Version
    from oracle.rules.rule import Rule


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
tells_end_without_epochs = between("0.11.0.0", "2.0.0", "0.11.0.3", "1.0.2", "1.1.1")


def having(**fields: Any) -> Callable[[RuleSet], RuleSet]:  # noqa: ANN401 - as dataclasses.replace
    """Return the change that sets fields of the rule set."""
    return lambda rules: replace(rules, **fields)


def same(rules: RuleSet) -> RuleSet:
    """Change nothing: what the row's releases do is what the rule set has already."""
    return rules


BASE = RuleSet(
    version="",
    metadata=MetadataMode.ZOOKEEPER,
    truncation=truncation.TO_HIGH_WATERMARK,
    skips_truncation=leader_epoch.never_skips,
    writes_epoch_on_election=False,
    keeps_epoch_without_cut=False,
    closes_former_fetch=False,
    joins_isr=isr.joins_at_high_watermark,
    may_join=isr.any_replica,
    serves_epoch=fencing.serves_any_epoch,
    leaves_isr=isr.behind_leaves,
    effective_min_isr=high_watermark.min_isr_as_configured,
    high_watermark_needs_min_isr=False,
    raises_high_watermark_on_shrink=True,
    checks_every_fetch=False,
    waits_for_caught_up=high_watermark.every_caught_up,
    trusts_last_fetch_on_re_election=False,
    counts_diverging_fetch=False,
    takes_high_watermark_before_cut=False,
    tells_once=False,
    session_names_epoch=True,
    counts_fetch_of_earlier_start=True,
    drops_stale_lookups=False,
    drops_stale_fetches=False,
    answers_new_high_watermark=False,
    wakes_waiting_fetch=consumers.waits_for_records,
    last_epoch_after_empty_answer=leader_epoch.last_epoch_remembered,
    high_watermark_at_new_start=diverging_log.moved_to_start,
    answers_when_stopped=False,
    stops_replica=fencing.stops_in_any_epoch,
    tells_latest_offset=consumers.latest_offset_at_once,
    followers_serve_consumers=False,
    finds_time_at_high_watermark=False,
    asks_controller_to_join=False,
    when_ahead=diverging_log.WhenAhead.CUTS,
    election=election.ZOOKEEPER,
    delivery=delivery.LEADER_AND_ISR,
    marks_recovery=unclean_election.unmarked,
    stopping_leader_cuts=False,
    reassignment=reassignment.IN_STEPS,
    unknown_replica=reassignment.UnknownReplica.FAILS_FETCH,
    elects_uncleanly_on_request=False,
    settings_changed=unclean_election.waits_for_broker,
    allows_unclean_election=unclean_election.forbidden_unless_set,
    has_eligible_by_default=False,
    heeds_message_format=True,
    notes_epoch_in_any_format=False,
    takes_request_of_start=fencing.for_any_start,
    answers_fetch_at_once=consumers.beyond_end_waits,
    moves_in_session=consumers.gave_records_moves,
    requests=request_versions.RequestVersions(),
    rules=(),
)
"""What a release does that no row of the table changes. It is no release's own: most of it is what Kafka did before
leader epochs, with the ZooKeeper controller of 1.1."""

TABLE: tuple[RuleRow, ...] = (
    RuleRow(truncation.TRUNCATE_TO_HIGH_WATERMARK, before("0.11.0.0"), same),
    RuleRow(truncation.TRUNCATE_BY_LEADER_EPOCH, between("0.11.0.0", "2.0.0"), having(truncation=truncation.KIP_101)),
    RuleRow(truncation.TRUNCATE_TO_COMMON_EPOCH, between("2.0.0", "2.8.0"), having(truncation=truncation.KIP_279)),
    RuleRow(
        truncation.EPOCH_BELOW_CACHE_UNKNOWN,
        between("2.0.0", "2.0.1"),
        having(truncation=truncation.KIP_279_BEFORE_KAFKA_7415),
    ),
    RuleRow(
        truncation.ASKS_WITHOUT_EPOCHS,
        between("0.11.0.0", "2.1.0"),
        lambda rules: replace(rules, truncation=replace(rules.truncation, asks_without_epochs=True)),
    ),
    RuleRow(message_format.TELLS_END_WITHOUT_EPOCHS, tells_end_without_epochs, message_format.telling_end),
    RuleRow(truncation.TRUNCATE_ON_FETCH, since("2.8.0"), having(truncation=truncation.ON_FETCH)),
    RuleRow(message_format.RULE, within(between("0.11.0.0", "3.0.0"), unless(tells_end_without_epochs)), same),
    RuleRow(message_format.NOTES_EPOCH, between("0.11.0.0", "2.1.1"), having(notes_epoch_in_any_format=True)),
    RuleRow(message_format.IGNORED, since("3.0.0"), having(heeds_message_format=False)),
    RuleRow(leader_epoch.SAME_LEADER_SKIPS, before("2.0.1"), having(skips_truncation=leader_epoch.skips)),
    RuleRow(
        leader_epoch.SAME_LEADER_SKIPS_ONE_EPOCH,
        between("2.0.1", "2.1.0"),
        having(skips_truncation=leader_epoch.skips_one_epoch),
    ),
    RuleRow(diverging_log.AHEAD_GIVES_UP, before("2.0.1"), having(when_ahead=diverging_log.WhenAhead.BROKER_ENDS)),
    RuleRow(diverging_log.AHEAD_HANGS, before("0.11.0.0"), having(when_ahead=diverging_log.WhenAhead.BROKER_HANGS)),
    RuleRow(leader_epoch.ENTRY_ON_ELECTION, since("2.0.1"), having(writes_epoch_on_election=True)),
    RuleRow(leader_epoch.ENTRY_KEPT_WITHOUT_CUT, between("0.11.0.0", "2.6.1"), having(keeps_epoch_without_cut=True)),
    RuleRow(fencing.FORMER_CONNECTION_CLOSED, since("1.1.0"), having(closes_former_fetch=True)),
    RuleRow(isr.JOIN_AT_HIGH_WATERMARK, before("2.0.1"), same),
    RuleRow(isr.JOIN_AT_EPOCH_START, since("2.0.1"), having(joins_isr=isr.joins_at_epoch_start)),
    RuleRow(isr.ANY_JOINS, before("3.3.0"), same),
    RuleRow(isr.UNFENCED_JOINS, within(since("3.3.0"), unless(knows_starts)), having(may_join=isr.unfenced)),
    RuleRow(isr.THIS_START_JOINS, knows_starts, having(may_join=isr.of_this_start)),
    RuleRow(fencing.KIP_320, since("2.1.0"), having(serves_epoch=fencing.is_served)),
    RuleRow(
        fencing.FETCH_OF_EARLIER_START_REFUSED,
        within(in_kraft_mode, since("3.7.0")),
        having(counts_fetch_of_earlier_start=False),
    ),
    RuleRow(fencing.STALE_LOOKUP_DROPPED, between("2.1.1", "2.8.0"), having(drops_stale_lookups=True)),
    RuleRow(fencing.STALE_FETCH_DROPPED, since("4.0.1", "3.9.1"), having(drops_stale_fetches=True)),
    RuleRow(
        leader_epoch.LAST_EPOCH_FORGOTTEN,
        between("3.5.1", "3.7.0"),
        having(last_epoch_after_empty_answer=leader_epoch.last_epoch_forgotten),
    ),
    RuleRow(
        diverging_log.HIGH_WATERMARK_LEFT_BELOW,
        between("2.4.0", "2.4.1"),
        having(high_watermark_at_new_start=diverging_log.left_below),
    ),
    RuleRow(diverging_log.DIVERGING_FETCH_COUNTED, between("2.8.0", "2.8.1"), having(counts_diverging_fetch=True)),
    RuleRow(
        diverging_log.HIGH_WATERMARK_BEFORE_CUT, between("2.8.0", "3.4.1"), having(takes_high_watermark_before_cut=True)
    ),
    RuleRow(fetch_sessions.TOLD_ONCE, since("1.1.0"), having(tells_once=True)),
    RuleRow(fetch_sessions.NAMES_NO_EPOCH, between("2.1.0", "2.5.0"), having(session_names_epoch=False)),
    RuleRow(
        high_watermark.ANSWERED_AFTER_UPDATE,
        between("1.0.0", "2.0.0", "1.0.2", "1.1.1"),
        having(answers_new_high_watermark=True),
    ),
    RuleRow(isr.KIP_497, since("2.7.0"), having(asks_controller_to_join=True)),
    RuleRow(isr.SILENT_LEAVES, before("2.1.0"), having(leaves_isr=isr.silent_leaves)),
    RuleRow(isr.BEHIND_LEAVES, since("2.1.0"), same),
    RuleRow(
        high_watermark.NOT_CHECKED_ON_SHRINK, between("2.7.0", "3.1.0"), having(raises_high_watermark_on_shrink=False)
    ),
    RuleRow(high_watermark.CHECKED_ON_EVERY_FETCH, before("2.4.0"), having(checks_every_fetch=True)),
    RuleRow(consumers.KIP_207, since("2.2.0"), having(tells_latest_offset=consumers.latest_offset_from_epoch_start)),
    RuleRow(consumers.KIP_392, since("2.4.0"), having(followers_serve_consumers=True)),
    RuleRow(
        consumers.HIGH_WATERMARK_PUSHED, between("2.4.0", "2.6.0"), having(wakes_waiting_fetch=consumers.wakes_for_news)
    ),
    RuleRow(consumers.LOOKUP_ENDS_AT_HIGH_WATERMARK, before("0.11.0.0"), having(finds_time_at_high_watermark=True)),
    RuleRow(
        high_watermark.NEEDS_MIN_ISR,
        since("3.7.0"),
        having(high_watermark_needs_min_isr=True, effective_min_isr=high_watermark.min_isr_at_most_all),
    ),
    RuleRow(high_watermark.TRUSTED_ON_RE_ELECTION, before("3.3.0"), having(trusts_last_fetch_on_re_election=True)),
    RuleRow(high_watermark.EVERY_CAUGHT_UP, before("3.6.0"), same),
    RuleRow(
        high_watermark.REGISTERED_CAUGHT_UP,
        within(in_zookeeper_mode, since("3.6.0")),
        having(waits_for_caught_up=high_watermark.registered_caught_up),
    ),
    RuleRow(
        high_watermark.ELIGIBLE_CAUGHT_UP,
        counts_eligible_only,
        having(waits_for_caught_up=high_watermark.eligible_caught_up),
    ),
    RuleRow(
        election.ZOOKEEPER_CONTROLLER_EMPTYING_ISR, before("1.1.0"), having(election=election.ZOOKEEPER_EMPTYING_ISR)
    ),
    RuleRow(election.ZOOKEEPER_CONTROLLER, within(in_zookeeper_mode, since("1.1.0")), same),
    RuleRow(
        election.KRAFT_CONTROLLER_BUMPING,
        within(in_kraft_mode, before("3.6.0")),
        having(election=election.KRAFT_BUMPING),
    ),
    RuleRow(election.KRAFT_CONTROLLER, within(counts_eligible_only, unless(with_elr)), having(election=election.KRAFT)),
    RuleRow(delivery.LEADER_AND_ISR.rule, in_zookeeper_mode, same),
    RuleRow(delivery.METADATA_LOG.rule, in_kraft_mode, having(delivery=delivery.METADATA_LOG)),
    RuleRow(diverging_log.STOPPING_LEADER_CUTS, before("0.11.0.0"), having(stopping_leader_cuts=True)),
    RuleRow(diverging_log.STOPPING_LEADER_KEEPS, since("0.11.0.0"), same),
    RuleRow(fencing.STALE_CONTROLLER_REFUSED, in_zookeeper_mode, same),
    RuleRow(fencing.STOP_ANSWERS_PRODUCERS, since("2.4.0"), having(answers_when_stopped=True)),
    RuleRow(
        fencing.STOP_OF_NEWER_EPOCH,
        within(in_zookeeper_mode, between("2.6.0", "3.4.1")),
        having(stops_replica=fencing.stops_in_a_newer_epoch),
    ),
    RuleRow(
        fencing.STOP_OF_SAME_EPOCH,
        within(in_zookeeper_mode, since("3.4.1")),
        having(stops_replica=fencing.stops_in_the_same_epoch),
    ),
    RuleRow(unclean_election.UNCLEAN_LEADER_RECOVERS, since("3.2.0"), having(marks_recovery=unclean_election.marked)),
    RuleRow(reassignment.UNKNOWN_FAILS_FETCH, before("1.0.0"), same),
    RuleRow(
        reassignment.UNKNOWN_ANSWERED,
        between("1.0.0", "3.3.0"),
        having(unknown_replica=reassignment.UnknownReplica.ANSWERED),
    ),
    RuleRow(reassignment.UNKNOWN_REFUSED, since("3.3.0"), having(unknown_replica=reassignment.UnknownReplica.REFUSED)),
    RuleRow(reassignment.IN_STEPS.rule, in_zookeeper_mode, same),
    RuleRow(
        reassignment.ADDED_ONLY.rule,
        within(in_kraft_mode, before("3.8.0")),
        having(reassignment=reassignment.ADDED_ONLY),
    ),
    RuleRow(
        reassignment.IN_ONE_RECORD.rule,
        within(in_kraft_mode, within(since("3.8.0"), before("4.3.0"))),
        having(reassignment=reassignment.IN_ONE_RECORD),
    ),
    RuleRow(
        reassignment.ADDED_UNLESS_FEWER.rule,
        within(in_kraft_mode, since("4.3.0")),
        having(reassignment=reassignment.ADDED_UNLESS_FEWER),
    ),
    RuleRow(election.PREFERRED_ON_REQUEST, every_release, same),
    RuleRow(election.UNCLEAN_ON_REQUEST, since("2.4.0"), having(elects_uncleanly_on_request=True)),
    RuleRow(unclean_election.WAITS_FOR_BROKER, unless(unclean_election.elects_once_allowed), same),
    RuleRow(
        unclean_election.ONCE_ALLOWED,
        unclean_election.elects_once_allowed,
        having(settings_changed=unclean_election.elects_at_once),
    ),
    RuleRow(eligible_leaders.NEW_MINIMUM_CLEARS, with_elr, same),
    RuleRow(eligible_leaders.KEPT_IN_INDEX, with_elr, eligible_leaders.keeping_index),
    RuleRow(
        eligible_leaders.KIP_966,
        with_elr,
        lambda rules: reassignment.forgetting_the_removed(replace(rules, election=eligible_leaders.ELECTION)),
    ),
    RuleRow(reassignment.REMOVED_STAYS_ELIGIBLE, with_elr, reassignment.keeping_the_removed),
    RuleRow(
        eligible_leaders.ELECTS_THE_ABSENT,
        within(with_elr, before("4.1.0")),
        having(election=eligible_leaders.ELECTION_OF_THE_ABSENT),
    ),
    RuleRow(
        unclean_election.ON_REQUEST_ONLY,
        within(in_kraft_mode, before("3.9.0")),
        lambda rules: replace(rules, election=unclean_election.unheeded(rules.election)),
    ),
    RuleRow(eligible_leaders.LAST_REPLICA_STANDING, unless(with_elr), same),
    RuleRow(eligible_leaders.OFF_BY_DEFAULT, within(has_feature, unless(has_feature_by_default)), same),
    RuleRow(eligible_leaders.ON_BY_DEFAULT, has_feature_by_default, having(has_eligible_by_default=True)),
    RuleRow(
        unclean_election.ALLOWED_UNLESS_SET,
        before("0.11.0.0"),
        having(allows_unclean_election=unclean_election.allowed_unless_set),
    ),
    RuleRow(unclean_election.FORBIDDEN_UNLESS_SET, since("0.11.0.0"), same),
    RuleRow(
        fencing.EARLIER_START_REFUSED,
        within(in_zookeeper_mode, since("2.2.0")),
        having(takes_request_of_start=fencing.for_this_start),
    ),
    RuleRow(consumers.BEYOND_END_AT_ONCE, since("3.8.0"), having(answers_fetch_at_once=consumers.beyond_end_at_once)),
    RuleRow(
        consumers.EVERY_ANSWERED_MOVES,
        between("1.1.0", "3.0.0"),
        having(moves_in_session=consumers.every_answered_moves),
    ),
    RuleRow(consumers.GAVE_RECORDS_MOVES, since("3.0.0"), same),
    *(RuleRow(*change) for change in request_versions.CHANGES),
)


def rules_for(version: str, metadata: MetadataMode, *, eligible_leader_replicas: bool | None = None) -> RuleSet:
    """Return the rules of one release, with those swapped that its name swaps (``release``).

    Args:
        version: such as 2.0.0, or ``2.0.0+join-isr-at-epoch-start``.
        metadata: who keeps the metadata.
        eligible_leader_replicas: overrides the release's default.

    Raises:
        ValueError: if the release has no such metadata mode, or a rule cannot be swapped.
    """
    _check_mode(version, metadata)
    release = _release(parse_version(version), metadata, eligible_leader_replicas)
    rules = replace(BASE, version=version, metadata=metadata)
    swapped = _swapped(version, release)
    rows = [row for row in TABLE if row.applies(release) != (row.rule.name in swapped)]
    for row in rows:
        rules = row.change(rules)
    return replace(rules, rules=tuple(row.rule for row in rows))


def _release(numbers: Version, metadata: MetadataMode, elr: bool | None) -> RuleKey:
    """Return the release as its cluster runs it, with the feature that it has by default or is formatted with."""
    plain = RuleKey(numbers, metadata, has_elr=False)
    return replace(plain, has_elr=has_feature(plain) and (has_feature_by_default(plain) if elr is None else elr))


def _swapped(version: str, release: RuleKey) -> frozenset[str]:
    """Return the names of the rules that are swapped; every rule has one row, those of transactions in their own table.

    Raises:
        ValueError: one is none, or the release has, or lacks, it anyway.
    """
    rows = {row.rule.name: row for row in TABLE}
    own = transactions.swaps_of(version)
    if own != plain_version(version):
        transactions.transaction_rules(own)
    swapped = {name: given for name, given in swapped_rules(version).items() if name not in transactions.NAMES}
    for name, is_given in swapped.items():
        if name not in rows:
            near = "".join(f"; did you mean {one}?" for one in get_close_matches(name, rows, n=1))
            raise ValueError(f"{version}: there is no rule {name!r}{near}")
        if rows[name].applies(release) == is_given:
            has = f"has {name}: take it away with {WITHOUT}" if is_given else f"has no {name}: give it with {WITH}"
            raise ValueError(f"{version}: Kafka {plain_version(version)} ({release.metadata.value}) {has}{name}")
    return frozenset(swapped)


def one_rule_apart(rules: RuleSet) -> dict[str, RuleSet]:
    """Return the rule sets that differ from one in a single row, by the row's rule.

    Rows that change nothing are left out, and those of the versions of requests.
    """
    found = {}
    for row in TABLE:
        name = row.rule.name
        sign = WITHOUT if row.rule in rules.rules else WITH
        other = rules_for(swap_text(rules.version, sign, name), rules.metadata)
        if replace(other, version=rules.version, rules=rules.rules, requests=rules.requests) != rules:
            found[name] = other
    return found


def with_eligible_leader_replicas(version: str, metadata: MetadataMode, *, are_on: bool) -> str:
    """Return the name of a release on a cluster that has them so; as it is if new clusters do, or it never has them."""
    default = rules_for(version, metadata)
    wanted = rules_for(version, metadata, eligible_leader_replicas=are_on)
    apart = set(default.rules).symmetric_difference(wanted.rules)
    names = (row.rule.name for row in TABLE if row.rule in apart)
    return version + "".join(f"{WITH if name in wanted.names() else WITHOUT}{name}" for name in names)


def _check_mode(version: str, metadata: MetadataMode) -> None:
    if has_mode(version, metadata):
        return
    if metadata is MetadataMode.ZOOKEEPER:
        raise ValueError(f"Kafka {version} has no ZooKeeper mode: 3.9 is the last release with it")
    raise ValueError(f"Kafka {version} has no KRaft mode fit for use: 3.3 is the first release with it")
