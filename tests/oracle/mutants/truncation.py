"""Which mistakes can a release make when it truncates? Mutants of the modules that cut, look up and carry on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.log import EpochEnd
from oracle.rules import leader_epoch, truncation
from oracle.rules.truncation import TruncationPoint
from oracle.vocabulary import Offset
from tests.oracle.mutants.killers import Answer, Golden, Property, Story
from tests.oracle.mutants.mutant import Mutant, with_fields, with_truncation
from tests.oracle.mutants.questions import deposed_leader_is_truncating

if TYPE_CHECKING:
    from oracle.log import ReplicaLog
    from oracle.vocabulary import BrokerId, LeaderEpoch


def one_too_many(log: ReplicaLog, high_watermark: Offset, _answer: EpochEnd) -> TruncationPoint:
    return TruncationPoint(Offset(max(min(high_watermark, log.log_end_offset) - 1, 0)))


def nothing(log: ReplicaLog, _high_watermark: Offset, _answer: EpochEnd) -> TruncationPoint:
    return TruncationPoint(log.log_end_offset)


def log_end_if_unknown(log: ReplicaLog, _high_watermark: Offset, answer: EpochEnd) -> TruncationPoint:
    return TruncationPoint(
        log.log_end_offset if answer.end_offset is None else min(answer.end_offset, log.log_end_offset)
    )


def once(log: ReplicaLog, high_watermark: Offset, answer: EpochEnd) -> TruncationPoint:
    return TruncationPoint(truncation.cut_to_common_epoch(log, high_watermark, answer).offset)


def to_own_end(log: ReplicaLog, high_watermark: Offset, answer: EpochEnd) -> TruncationPoint:
    known = answer.end_offset is not None
    return truncation.cut_to_common_epoch(
        log, high_watermark, replace(answer, end_offset=log.log_end_offset if known else None)
    )


def log_end_of_leader(log: ReplicaLog, _epoch: LeaderEpoch) -> EpochEnd:
    return EpochEnd(None, log.log_end_offset)


def if_two_epochs_on(old_leader: BrokerId | None, old: LeaderEpoch, leader: BrokerId, new: LeaderEpoch) -> bool:
    return old_leader == leader and new <= old + 2


def whoever_leads(old_leader: BrokerId | None, _old: LeaderEpoch, _leader: BrokerId, _new: LeaderEpoch) -> bool:
    return old_leader is not None


KIP_101_FALLS_BACK = with_truncation(cut=truncation.cut_to_high_watermark)

MUTANTS = (
    Mutant(
        "cuts-one-record-too-many",
        "truncation.TRUNCATE_TO_HIGH_WATERMARK",
        "the record just below the high watermark is cut as well",
        Story("tr-01-on-0.10.2"),
        with_truncation(cut=one_too_many),
    ),
    Mutant(
        "cuts-nothing",
        "truncation.TRUNCATE_TO_HIGH_WATERMARK",
        "a follower keeps what it has",
        Golden("TR-02"),
        with_truncation(cut=nothing),
    ),
    Mutant(
        "asks-before-it-cuts",
        "truncation.TRUNCATE_TO_HIGH_WATERMARK",
        "0.10.2 asks the leader, as 0.11 does",
        Golden("TR-01"),
        lambda rules: replace(rules, truncation=truncation.KIP_101) if rules.version == "0.10.2.2" else rules,
    ),
    Mutant(
        "leader-answers-its-log-end",
        "truncation.TRUNCATE_BY_LEADER_EPOCH",
        "an epoch ends where the log ends, whatever came after it",
        Story("tr-03-on-2.8"),
        with_truncation(end_offset_for=log_end_of_leader),
    ),
    Mutant(
        "cuts-to-high-watermark-although-it-asked",
        "truncation.TRUNCATE_BY_LEADER_EPOCH",
        "the answer is not looked at",
        Property("acknowledged_records_survive", "committed_record_lost_by_clean_elections", "2.0.1"),
        KIP_101_FALLS_BACK,
    ),
    Mutant(
        "keeps-all-if-the-epoch-is-unknown",
        "truncation.TRUNCATE_BY_LEADER_EPOCH",
        "no cut at all where the leader cannot tell, instead of one to the high watermark",
        Story("kafka-7128-on-2.0.0"),
        with_truncation(cut=log_end_if_unknown),
    ),
    Mutant(
        "asks-not-without-epochs",
        "truncation.TRUNCATE_BY_LEADER_EPOCH",
        "an empty log asks nothing before KAFKA-6859",
        Story("lookup-of-an-empty-log-on-2.0.1"),
        with_truncation(asks_without_epochs=False),
    ),
    Mutant(
        "asks-without-epochs",
        "truncation.TRUNCATE_BY_LEADER_EPOCH",
        "an empty log asks after KAFKA-6859, too",
        Story("lookup-of-an-empty-log-on-2.1.0"),
        with_truncation(asks_without_epochs=True),
    ),
    Mutant(
        "ignores-the-answers-epoch",
        "truncation.TRUNCATE_TO_COMMON_EPOCH",
        "only the end offset of an answer is looked at",
        Property("epochs_never_decrease_in_a_log", "log_with_a_hole_of_another_epoch", "2.0.1"),
        with_truncation(cut=truncation.cut_to_end_offset),
    ),
    Mutant(
        "asks-only-once",
        "truncation.TRUNCATE_TO_COMMON_EPOCH",
        "a cut to the follower's own end of an earlier epoch is taken for the last one",
        Story("kip-279-asks-twice"),
        with_truncation(cut=once),
    ),
    Mutant(
        "ignores-the-leaders-end",
        "truncation.TRUNCATE_TO_COMMON_EPOCH",
        "where both have the epoch, the follower cuts to its own end of it",
        Story("tr-05-unreplicated-record"),
        with_truncation(cut=to_own_end),
    ),
    Mutant(
        "epoch-below-the-first-is-unknown",
        "truncation.TRUNCATE_TO_COMMON_EPOCH",
        "2.0.1 answers as 2.0.0 does about an epoch below its first",
        Story("kafka-7415-on-2.0.1"),
        with_truncation(end_offset_for=truncation.end_offset_within_cache),
    ),
    Mutant(
        "epoch-below-the-first-is-known",
        "truncation.TRUNCATE_TO_COMMON_EPOCH",
        "2.0.0 answers as 2.0.1 does about an epoch below its first",
        Story("kafka-7415-on-2.0.0"),
        with_truncation(end_offset_for=truncation.end_offset_of_largest_epoch),
    ),
    Mutant(
        "own-epochs-below-the-first-are-unknown",
        "truncation.TRUNCATE_TO_COMMON_EPOCH",
        "2.0.1 reads its own cache as 2.0.0 does",
        Story("kafka-7415-follower-on-2.0.1"),
        with_truncation(cut=truncation.cut_within_cache),
    ),
    Mutant(
        "own-epochs-below-the-first-are-known",
        "truncation.TRUNCATE_TO_COMMON_EPOCH",
        "2.0.0 reads its own cache as 2.0.1 does",
        Story("kafka-7415-follower-on-2.0.0"),
        with_truncation(cut=truncation.cut_to_common_epoch),
    ),
    Mutant(
        "leader-compares-no-epoch",
        "truncation.TRUNCATE_ON_FETCH",
        "a fetch is answered with records, whatever its last epoch is",
        Property("epochs_never_decrease_in_a_log", "log_with_a_hole_of_another_epoch", "2.8.2"),
        with_truncation(checks_on_fetch=False),
    ),
    Mutant(
        "asks-and-compares",
        "truncation.TRUNCATE_ON_FETCH",
        "2.8 still looks its epoch up before it fetches",
        Story("kafka-14704-on-2.8"),
        with_truncation(asks_leader=True),
    ),
    Mutant(
        "truncates-again-although-the-leader-stays",
        "leader_epoch.SAME_LEADER_SKIPS",
        "2.0.0 truncates on every epoch",
        Story("leader-restarts-on-2.0.0"),
        with_fields(skips_truncation=leader_epoch.never_skips),
    ),
    Mutant(
        "skips-two-epochs",
        "leader_epoch.SAME_LEADER_SKIPS",
        "2.0.1 skips truncation if the leader is two epochs on",
        Story("leader-restarts-on-2.0.1"),
        with_fields(skips_truncation=if_two_epochs_on),
    ),
    Mutant(
        "skips-for-the-same-leader",
        "leader_epoch.SAME_LEADER_SKIPS",
        "2.4 looks at the leader's id only",
        Story("same-leader-on-2.4"),
        with_fields(skips_truncation=leader_epoch.skips),
    ),
    Mutant(
        "skips-for-any-leader",
        "leader_epoch.SAME_LEADER_SKIPS",
        "a follower carries on whoever leads",
        Story("tr-02-on-0.10.2"),
        with_fields(skips_truncation=whoever_leads),
    ),
    Mutant(
        "writes-no-epoch-on-election",
        "leader_epoch.ENTRY_ON_ELECTION",
        "2.0.1 writes its epoch with the first record",
        Story("kafka-7415-on-2.0.1"),
        with_fields(writes_epoch_on_election=False),
    ),
    Mutant(
        "writes-an-epoch-on-election",
        "leader_epoch.ENTRY_ON_ELECTION",
        "2.0.0 writes its epoch at once",
        Story("kafka-7415-on-2.0.0"),
        with_fields(writes_epoch_on_election=True),
    ),
    Mutant(
        "keeps-an-epoch-without-records",
        "leader_epoch.ENTRY_ON_ELECTION",
        "2.6.1 leaves an epoch at its log end in the cache when it cuts nothing",
        Answer(deposed_leader_is_truncating("2.6.1"), answer=False),
        with_fields(keeps_epoch_without_cut=True),
    ),
    Mutant(
        "drops-an-epoch-without-records",
        "leader_epoch.ENTRY_ON_ELECTION",
        "2.6.0 drops an epoch at its log end although it cuts nothing",
        Answer(deposed_leader_is_truncating("2.6.0"), answer=True),
        with_fields(keeps_epoch_without_cut=False),
    ),
    Mutant(
        "uses-a-stale-lookup",
        "fencing.STALE_LOOKUP_DROPPED",
        "2.1.1 cuts by the answer to a question of an earlier epoch",
        Story("kafka-7786-on-2.1.1"),
        with_fields(drops_stale_lookups=False),
    ),
    Mutant(
        "drops-a-stale-lookup",
        "fencing.STALE_LOOKUP_DROPPED",
        "2.1.0 drops the answer to a question of an earlier epoch",
        Story("kafka-7786-on-2.1.0"),
        with_fields(drops_stale_lookups=True),
    ),
    Mutant(
        "uses-a-stale-fetch",
        "fencing.STALE_LOOKUP_DROPPED",
        "3.9.2 takes the answer to a fetch of an earlier epoch",
        Story("kafka-18991-on-3.9.2"),
        with_fields(drops_stale_fetches=False),
    ),
    Mutant(
        "drops-a-stale-fetch",
        "fencing.STALE_LOOKUP_DROPPED",
        "3.9.0 drops the answer to a fetch of an earlier epoch",
        Story("kafka-18991-on-3.9.0"),
        with_fields(drops_stale_fetches=True),
    ),
    Mutant(
        "counts-a-diverging-fetch",
        "diverging_log.DIVERGING_FETCH_COUNTED",
        "2.8.1 records the offset of a fetch that diverges",
        Property("acknowledged_records_survive", "diverging_follower_elected_cleanly", "2.8.1"),
        with_fields(counts_diverging_fetch=True),
    ),
    Mutant(
        "counts-no-diverging-fetch",
        "diverging_log.DIVERGING_FETCH_COUNTED",
        "2.8.0 does not record the offset of a fetch that diverges",
        Story("kafka-13141-on-2.8.0"),
        with_fields(counts_diverging_fetch=False),
    ),
    Mutant(
        "exposes-before-it-cuts",
        "diverging_log.DIVERGING_FETCH_COUNTED",
        "3.5 takes the leader's high watermark before it cuts",
        Story("kafka-14704-on-3.5"),
        with_fields(takes_high_watermark_before_cut=True),
    ),
    Mutant(
        "cuts-before-it-exposes",
        "diverging_log.DIVERGING_FETCH_COUNTED",
        "2.8 cuts before it takes the leader's high watermark",
        Story("kafka-14704-on-2.8"),
        with_fields(takes_high_watermark_before_cut=False),
    ),
)
