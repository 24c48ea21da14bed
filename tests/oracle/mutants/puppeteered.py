"""Which mistakes can one broker make among others that do as they please? Mutants of what it tells and is told."""

from __future__ import annotations

from oracle.rules import consumers, diverging_log, fencing, leader_epoch
from tests.oracle.mutants.killers import Answer, Story
from tests.oracle.mutants.mutant import Mutant, with_fields
from tests.oracle.mutants.questions import examined

FOLLOWED = [["fetch at 0", "fetch at 2 after epoch 5"], [2, 2], ["a", "b"], [[5, 0]]]
"""What a follower from 2.8 on does with two records of epoch 5."""
FENCED, STOPPED, DELETED = ([0, 74], "all", 2), ([0], "all", None), ([0], "none", None)
TOLD = ["fetch at 2 after epoch 5", "fetch at 2"]
AT_REST = [[2, 2], ["a", "b"], [[5, 0]]]

MUTANTS = (
    Mutant(
        "stops-in-a-newer-epoch-only",
        "fencing.STOP_OF_NEWER_EPOCH",
        "3.4.1 fences StopReplica of the replica's own epoch, as 3.4.0 does",
        Answer(examined("RM-03/old-decision", "3.4.1"), [*FOLLOWED, *FENCED, *STOPPED, *DELETED]),
        with_fields(stops_replica=fencing.stops_in_a_newer_epoch),
    ),
    Mutant(
        "stops-in-the-same-epoch",
        "fencing.STOP_OF_NEWER_EPOCH",
        "3.4.0 obeys StopReplica of the replica's own epoch",
        Answer(examined("RM-03/old-decision", "3.4.0"), [*FOLLOWED, *FENCED, *FENCED, *DELETED]),
        with_fields(stops_replica=fencing.stops_in_the_same_epoch),
    ),
    Mutant(
        "stops-in-any-epoch",
        "fencing.STOP_OF_NEWER_EPOCH",
        "3.4.1 obeys StopReplica of an older epoch",
        Answer(examined("RM-03/old-decision", "3.4.1"), [*FOLLOWED, *FENCED, *STOPPED, *DELETED]),
        with_fields(stops_replica=fencing.stops_in_any_epoch),
    ),
    Mutant(
        "fences-what-names-no-epoch",
        "fencing.STOP_OF_NEWER_EPOCH",
        "3.9 fences StopReplica without an epoch",
        Answer(examined("RM-03/delete", "3.9.2"), [*FOLLOWED, 2, *STOPPED, [0], "none"]),
        with_fields(stops_replica=lambda decided, known: decided >= known),
    ),
    Mutant(
        "forgets-its-last-epoch",
        "leader_epoch.LAST_EPOCH_FORGOTTEN",
        "3.7 tells no epoch of its last record after an empty answer",
        Answer(examined("LE-04/empty-answer", "3.7.2"), [*FOLLOWED, TOLD[:1], *AT_REST, TOLD[:1]]),
        with_fields(last_epoch_after_empty_answer=leader_epoch.last_epoch_forgotten),
    ),
    Mutant(
        "remembers-its-last-epoch",
        "leader_epoch.LAST_EPOCH_FORGOTTEN",
        "3.6 tells the epoch of its last record after an empty answer",
        Answer(examined("LE-04/empty-answer", "3.6.2"), [*FOLLOWED, TOLD, *AT_REST, TOLD[1:]]),
        with_fields(last_epoch_after_empty_answer=leader_epoch.last_epoch_remembered),
    ),
    Mutant(
        "high-watermark-left-below-the-start",
        "diverging_log.HIGH_WATERMARK_LEFT_BELOW",
        "2.4.1 leaves the high watermark below where an emptied log begins",
        Answer(examined("regressions/KAFKA-9491", "2.4.1"), [0, [0, 5]]),
        with_fields(high_watermark_at_new_start=diverging_log.left_below),
    ),
    Mutant(
        "high-watermark-moved-to-the-start",
        "diverging_log.HIGH_WATERMARK_LEFT_BELOW",
        "2.4.0 moves the high watermark to where an emptied log begins",
        Answer(examined("regressions/KAFKA-9491", "2.4.0"), [1, [1, -1]]),
        with_fields(high_watermark_at_new_start=diverging_log.moved_to_start),
    ),
    Mutant(
        "stops-after-a-stale-fence",
        "fencing.STALE_LOOKUP_DROPPED",
        "2.1.1 takes the fence of a lookup of an earlier epoch for one of its own",
        Story("kafka-7786-fenced-on-2.1.1"),
        with_fields(drops_stale_lookups=False),
    ),
    Mutant(
        "goes-on-after-a-stale-fence",
        "fencing.STALE_LOOKUP_DROPPED",
        "2.1.0 sees that a fence is of an earlier epoch",
        Story("kafka-7786-fenced-on-2.1.0"),
        with_fields(drops_stale_lookups=True),
    ),
    Mutant(
        "pushes-the-high-watermark",
        "consumers.KIP_392",
        "2.6 answers a waiting fetch for a new high watermark alone",
        Answer(examined("regressions/KAFKA-9952", "2.6.3"), [False, 1]),
        with_fields(wakes_waiting_fetch=consumers.wakes_for_news),
    ),
    Mutant(
        "pushes-no-high-watermark",
        "consumers.KIP_392",
        "2.5 lets a fetch wait although there is a new high watermark",
        Answer(examined("regressions/KAFKA-9952", "2.5.1"), [True, 1]),
        with_fields(wakes_waiting_fetch=consumers.waits_for_records),
    ),
)
