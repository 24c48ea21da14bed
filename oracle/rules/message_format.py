"""How does a follower truncate a partition whose records carry no epoch? To its high watermark, as ever.

Batches of a message format before 0.11 have no room for a leader epoch, so nobody's cache learns one from them. Up
to 2.0 a follower asks all the same (KAFKA-6859), is told nothing, and cuts to its high watermark; from 2.1 it cuts
at once. So the loss of KAFKA-1211 is back on releases that have KIP-101. Two variants:
- a leader asked about no epoch told its log's end, so that nothing was cut (KAFKA-6857; with epochs in the records
  only followers with empty logs ask so, and there is nothing to cut);
- up to 2.1.0 a leader notes its epoch on election whatever the format (KAFKA-7897), and asks about it as a follower.

From 3.0 brokers ignore message.format.version (KIP-724): their records always carry epochs.

Source: ReplicaFetcherThread.maybeTruncate, AbstractFetcherThread.truncateToHighWatermark,
Log.initializeLeaderEpochCache. Versions: 0.11 to 2.8 for such topics.

Mutant: epochs-in-every-format, which the story old-format-on-2.8 notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.log import NO_EPOCH, EpochEnd, ReplicaLog
from oracle.rules import kip_101, truncate_to_high_watermark
from oracle.rules.release import Release, before, parse_version, since, within
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Settings
    from oracle.vocabulary import LeaderEpoch

RULE = Rule(
    name="truncate-to-high-watermark-without-epochs",
    source="KIP-101, KAFKA-7897, AbstractFetcherThread.truncateToHighWatermark",
    versions="0.11 to 2.8, topics with message.format.version before 0.11",
    replaces=None,
    breaks="a follower cuts committed records above its stale high watermark although its release has epochs",
)
TELLS_END_WITHOUT_EPOCHS = Rule(
    name="tells-end-of-no-epoch",
    source="KAFKA-6857, LeaderEpochFileCache.endOffsetFor",
    versions="0.11.0.0 to 0.11.0.2, 1.0.0, 1.0.1, 1.1.0",
    replaces=None,
    breaks="a follower without epochs cuts nothing that its leader's log is long enough for",
)

_is_heeded = before("3.0.0")
tells_end = within(since("0.11.0.0"), before("2.0.0", "0.11.0.3", "1.0.2", "1.1.1"))
_notes_epoch_on_election = before("2.1.1")


def is_heeded(rules: RuleSet) -> bool:
    """Tell whether a release looks at message.format.version."""
    return _is_heeded(_release_of(rules))


def adapted(rules: RuleSet, settings: Settings) -> RuleSet:
    """Return the rules that a release follows for a topic with these settings."""
    if settings.stamps_epochs or rules.truncation.cuts_to_high_watermark:
        return rules
    release = _release_of(rules)
    truncation = replace(rules.truncation, stamps_epochs=False)
    if TELLS_END_WITHOUT_EPOCHS in rules.rules:
        return replace(rules, truncation=truncation)
    rules = replace(rules, truncation=replace(truncation, rule=RULE), rules=(*rules.rules, RULE))
    if _notes_epoch_on_election(release):
        return rules
    truncation = replace(truncate_to_high_watermark.TRUNCATION, rule=RULE, stamps_epochs=False)
    return replace(rules, truncation=truncation, writes_epoch_on_election=False)


def telling_end(rules: RuleSet) -> RuleSet:
    """Let leaders answer who asks about no epoch."""
    return replace(rules, truncation=replace(rules.truncation, end_offset_for=end_offset_even_of_no_epoch))


def _release_of(rules: RuleSet) -> Release:
    return Release(parse_version(rules.version), rules.metadata, has_elr=False)


def end_offset_even_of_no_epoch(log: ReplicaLog, epoch: LeaderEpoch) -> EpochEnd:
    """Answer the log's end to who asks about no epoch, if there is none."""
    if epoch == NO_EPOCH and not log.epochs:
        return EpochEnd(None, log.log_end_offset)
    return kip_101.end_offset_only(log, epoch)
