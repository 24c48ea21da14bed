"""Who may be elected, and what does the release make of it? Also what an election takes from transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.audit.audited import ELIGIBLE_FEATURE
from conformance.audit.cluster import MIN_ISR, UNCLEAN, Source
from conformance.audit.finding import AuditCheck, AuditFinding, Ground, Severity, Unseen, setting_ground
from conformance.audit.losses import loss_words
from conformance.audit.mends import set_on_brokers, set_on_topic, upgrade_feature
from oracle.vocabulary import TRANSACTION_STATE, Acks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.audit.audited import Audited, TopicFacts


def unclean_election(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics that may elect a replica which lacks acknowledged records."""
    yield from audited.unseen_topics("unclean-election")
    for facts in _unclean(audited):
        if not (audited.has_transactions and audited.heeds_unclean):
            is_heeded = audited.heeds_unclean
            yield AuditFinding(
                "unclean-election",
                Severity.CRITICAL if is_heeded else Severity.LOW,
                f"topic {facts.name}",
                _evidence(facts),
                _lost(audited, facts)
                if is_heeded
                else "in KRaft mode it has no effect before 3.9 (KAFKA-12670): after an upgrade it has",
                f"{UNCLEAN}=false",
                _mend(facts),
            )


def unclean_transactions(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics that may elect uncleanly in a cluster with transactions: which of them those write to none tells."""
    if audited.has_transactions is None and any(_unclean(audited)):
        yield Unseen("unclean-transactions", "cluster", audited.cluster.hidden[TRANSACTION_STATE].why)
    for facts in _unclean(audited):
        if audited.has_transactions and audited.heeds_unclean:
            yield AuditFinding(
                "unclean-transactions",
                Severity.CRITICAL,
                f"topic {facts.name}",
                (*_evidence(facts), audited.transactions_ground),
                f"{_lost(audited, facts)}; where transactions write to it, an election may drop a commit marker: "
                f"consumers with read_committed stop there for good (KAFKA-20716, on every release by the model: "
                f"explore --model Transactions --unclean-elections 1; on brokers: run TX-12)",
                f"{UNCLEAN}=false",
                _mend(facts),
            )


def eligible_replicas_off(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Say that eligible leader replicas are off where the release's new clusters have them."""
    levels, supported = audited.finalized, audited.supported
    if audited.rules is None or (audited.rules.has_eligible_by_default and not supported):
        yield Unseen("eligible-replicas-off", "cluster", "the release, or what its brokers support, is not known")
        return
    if not audited.rules.has_eligible_by_default or not supported:
        return
    if levels is not None and not audited.has_eligible and supported.get(ELIGIBLE_FEATURE, 0) > 0:
        yield AuditFinding(
            "eligible-replicas-off",
            Severity.MEDIUM,
            "cluster",
            (Ground(ELIGIBLE_FEATURE, "0", "ApiVersions"),),
            "new clusters of this release have it, this one was upgraded: without it the last replica of the ISR is "
            "elected again after a power failure, also if it has lost acknowledged records (KIP-966)",
            "switch it on; min.insync.replicas is then set for the cluster and its topics, no more for single brokers",
            upgrade_feature(ELIGIBLE_FEATURE, supported[ELIGIBLE_FEATURE]),
        )


def unheeded_min_isr(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Say where a broker's own min.insync.replicas counts no more, as the cluster has eligible leader replicas."""
    if audited.has_eligible is None:
        yield Unseen("broker-min-isr-unheeded", "cluster", "no broker told its features")
    if not audited.has_eligible:
        return
    yield from audited.unseen_brokers("broker-min-isr-unheeded")
    for broker, setting in audited.cluster.broker_setting(MIN_ISR):
        own = next((one for one in setting.others if one.source is Source.BROKER_FILE), None)
        if own is not None and int(own.value or 0) > int(setting.value or 0):
            yield AuditFinding(
                "broker-min-isr-unheeded",
                Severity.HIGH,
                f"broker {broker.id}",
                (setting_ground(MIN_ISR, setting), setting_ground(MIN_ISR, own)),
                f"with eligible leader replicas the cluster's default of {MIN_ISR} holds, and no broker's own: "
                f"topics without a value count {setting.value}",
                f"set the cluster's default to what was meant; that clears the eligible leader replicas of its topics, "
                f"so do it while every replica is in sync ({MIN_ISR}={own.value})",
                set_on_brokers(MIN_ISR, own.value),
            )


def _unclean(audited: Audited) -> Iterator[TopicFacts]:
    return (one for one in audited.every_topic if one.is_unclean and one.replicas > 1)


def _evidence(facts: TopicFacts) -> tuple[Ground, ...]:
    return setting_ground(UNCLEAN, facts.unclean), setting_ground(MIN_ISR, facts.min_isr)


def _mend(facts: TopicFacts) -> str:
    if facts.unclean.source in {Source.CLUSTER_DEFAULT, Source.BROKER_FILE}:
        return set_on_brokers(UNCLEAN, "false")
    return set_on_topic(facts.name, UNCLEAN, "false")


def _lost(audited: Audited, facts: TopicFacts) -> str:
    return loss_words(audited.rules, Acks.ALL, facts.needed, facts.replicas, unclean=True)


CHECKS: tuple[AuditCheck, ...] = (
    AuditCheck("unclean-election", "may a replica without the records lead?", UNCLEAN, unclean_election),
    AuditCheck(
        "unclean-transactions", "may an election lose a transaction's marker?", "KAFKA-20716", unclean_transactions
    ),
    AuditCheck(
        "eligible-replicas-off",
        "are eligible leader replicas switched on?",
        "KIP-966",
        eligible_replicas_off,
        is_of_topics=False,
    ),
    AuditCheck(
        "broker-min-isr-unheeded",
        "does a broker's own min.insync.replicas count?",
        "KIP-966",
        unheeded_min_isr,
        is_of_topics=False,
    ),
)
