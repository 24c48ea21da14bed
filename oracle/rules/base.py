"""What does a release do that no row of the table changes? The rule set that ``by_version`` begins with.

It is no release's own: most of it is what Kafka did before leader epochs, with the ZooKeeper controller of 1.1.
"""

from __future__ import annotations

from oracle.rules import (
    caught_up,
    delivery,
    full_truncation,
    isr_eligibility,
    isr_join,
    isr_shrink,
    kip_207,
    kip_320,
    kip_392,
    last_fetched_epoch,
    reassignment,
    recovery,
    same_leader,
    settings_change,
    stop_replica,
    strict_min_isr,
    truncate_to_high_watermark,
    zookeeper_controller,
)
from oracle.rules.ahead_of_leader import WhenAhead
from oracle.rules.rule_set import RuleSet
from oracle.vocabulary import MetadataMode

BASE = RuleSet(
    version="",
    metadata=MetadataMode.ZOOKEEPER,
    truncation=truncate_to_high_watermark.TRUNCATION,
    skips_truncation=same_leader.never_skips,
    writes_epoch_on_election=False,
    keeps_epoch_without_cut=False,
    closes_former_fetch=False,
    joins_isr=isr_join.at_high_watermark,
    may_join=isr_eligibility.any_replica,
    serves_epoch=kip_320.serves_any_epoch,
    leaves_isr=isr_shrink.behind,
    effective_min_isr=strict_min_isr.as_configured,
    high_watermark_needs_min_isr=False,
    raises_high_watermark_on_shrink=True,
    checks_every_fetch=False,
    waits_for_caught_up=caught_up.every,
    trusts_last_fetch_on_re_election=False,
    counts_diverging_fetch=False,
    takes_high_watermark_before_cut=False,
    drops_stale_lookups=False,
    drops_stale_fetches=False,
    answers_new_high_watermark=False,
    wakes_waiting_fetch=kip_392.waits_for_records,
    last_epoch_after_empty_answer=last_fetched_epoch.remembered,
    high_watermark_at_new_start=full_truncation.moved_to_start,
    stops_replica=stop_replica.in_any_epoch,
    tells_latest_offset=kip_207.at_once,
    followers_serve_consumers=False,
    finds_time_at_high_watermark=False,
    asks_controller_to_join=False,
    when_ahead=WhenAhead.CUTS,
    election=zookeeper_controller.ELECTION,
    delivery=delivery.LEADER_AND_ISR,
    marks_recovery=recovery.unmarked,
    stopping_leader_cuts=False,
    reassignment=reassignment.IN_STEPS,
    elects_uncleanly_on_request=False,
    settings_changed=settings_change.waits,
    rules=(),
)
