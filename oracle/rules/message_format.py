"""How does a follower truncate a partition whose records carry no epoch? To its high watermark, as ever.

Batches of a message format before 0.11 have no room for a leader epoch, so nobody's cache learns one from them. Up
to 2.0 a follower asks all the same (KAFKA-6859), is told nothing, and cuts to its high watermark; from 2.1 it cuts
at once. So the loss of KAFKA-1211 is back on releases that have KIP-101. Two variants:
- a leader asked about no epoch told its log's end, so that nothing was cut (KAFKA-6857; with epochs in the records
  only followers with empty logs ask so, and there is nothing to cut);
- up to 2.1.0 a leader notes its epoch on election whatever the format (KAFKA-7897), and asks about it as a follower.

From 3.0 brokers ignore message.format.version (KIP-724): their records always carry epochs.

Source: ReplicaFetcherThread.maybeTruncate, AbstractFetcherThread.truncateToHighWatermark,
Log.initializeLeaderEpochCache.

Mutant: epochs-in-every-format, which the story old-format-on-2.8 notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.log import NO_EPOCH, EpochEnd, ReplicaLog
from oracle.rules.rule import Rule
from oracle.rules.truncation import TO_HIGH_WATERMARK, end_offset_only

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import TopicSettings
    from oracle.vocabulary import LeaderEpoch

RULE = Rule(
    name="truncate-to-high-watermark-without-epochs",
    source="KIP-101, KAFKA-7897, AbstractFetcherThread.truncateToHighWatermark",
    says="A follower of a topic with message.format.version before 0.11 cuts its log to its high watermark.",
)
TELLS_END_WITHOUT_EPOCHS = Rule(
    name="tells-end-of-no-epoch",
    source="KAFKA-6857, LeaderEpochFileCache.endOffsetFor",
    says="A leader without epochs that is asked where no epoch ends tells its log end offset.",
)

NOTES_EPOCH = Rule(
    name="epoch-entry-on-election-in-any-format",
    source="KAFKA-7897, Log.initializeLeaderEpochCache",
    says="A leader notes its epoch on election also where its topic's records carry none.",
)
IGNORED = Rule(
    name="message-format-version-is-ignored",
    source="KIP-724",
    says="A broker ignores message.format.version: every record carries its leader epoch.",
)
WITHOUT_EPOCHS = ("0.8", "0.9", "0.10")
"""The message formats, as message.format.version begins, whose batches have no room for a leader epoch (KIP-98)."""


def stamps_epochs(message_format_version: str | None) -> bool:
    """Return whether batches of a format carry the leader epoch they were written in; None is the release's own."""
    return message_format_version is None or not message_format_version.startswith(WITHOUT_EPOCHS)


def adapted(rules: RuleSet, settings: TopicSettings) -> RuleSet:
    """Return the rules that a release follows for a topic with these settings."""
    if stamps_epochs(settings.message_format_version) or rules.truncation.cuts_to_high_watermark:
        return rules
    truncation = replace(rules.truncation, stamps_epochs=False)
    if TELLS_END_WITHOUT_EPOCHS in rules.rules:
        return replace(rules, truncation=truncation)
    rules = replace(rules, truncation=replace(truncation, rule=RULE))
    if rules.notes_epoch_in_any_format:
        return rules
    truncation = replace(TO_HIGH_WATERMARK, rule=RULE, stamps_epochs=False)
    return replace(rules, truncation=truncation, writes_epoch_on_election=False)


def telling_end(rules: RuleSet) -> RuleSet:
    """Let leaders answer who asks about no epoch."""
    return replace(rules, truncation=replace(rules.truncation, end_offset_for=end_offset_even_of_no_epoch))


def end_offset_even_of_no_epoch(log: ReplicaLog, epoch: LeaderEpoch) -> EpochEnd:
    """Answer the log's end to who asks about no epoch, if there is none."""
    if epoch == NO_EPOCH and not log.epochs:
        return EpochEnd(None, log.log_end_offset)
    return end_offset_only(log, epoch)
