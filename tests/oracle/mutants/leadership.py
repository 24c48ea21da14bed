"""Which mistakes can a leader make? Mutants of the modules about fetches, the high watermark and the ISR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules import consumers, fencing, high_watermark, isr
from oracle.rules.diverging_log import WhenAhead
from tests.oracle.mutants.killers import Answer, Story
from tests.oracle.mutants.mutant import Mutant, with_fields
from tests.oracle.mutants.questions import (
    isr_after_a_fetch,
    latest_offset_after_election,
)

if TYPE_CHECKING:
    from oracle.replication.remote import RemoteReplica
    from oracle.state import PartitionState, ReplicaState
    from oracle.vocabulary import Offset


def own_end_offset(_state: PartitionState, leader: ReplicaState, _rules: object) -> Offset:
    return leader.log.log_end_offset


def this_incarnation(remote: RemoteReplica, _is_registered: bool) -> bool:
    return remote.is_this_incarnation


MUTANTS = (
    Mutant(
        "leader-counts-only-itself",
        "base_protocol",
        "the high watermark is the leader's log end offset",
        Story("nine-rows"),
        patches={"oracle.replication.leading._lowest_end_offset": own_end_offset},
    ),
    Mutant(
        "goes-on-although-ahead",
        "diverging_log.AHEAD_GIVES_UP",
        "0.10.2 cuts to its leader's end although unclean election is off",
        Story("out-of-range-hangs-the-broker"),
        with_fields(when_ahead=WhenAhead.CUTS),
    ),
    Mutant(
        "stays-although-it-exits",
        "diverging_log.AHEAD_GIVES_UP",
        "the process of 1.1.1 hangs in its shutdown, as in 0.10.2",
        Story("out-of-range-ends-the-broker"),
        with_fields(when_ahead=WhenAhead.BROKER_HANGS),
    ),
    Mutant(
        "ends-in-order-although-it-hangs",
        "diverging_log.AHEAD_GIVES_UP",
        "0.10.2 gets to the end of its shutdown",
        Story("out-of-range-hangs-the-broker"),
        with_fields(when_ahead=WhenAhead.BROKER_ENDS),
    ),
    Mutant(
        "joins-only-above-the-high-watermark",
        "isr.JOIN_AT_HIGH_WATERMARK",
        "a fetch offset at the high watermark is not enough",
        Story("diverging-epoch"),
        with_fields(joins_isr=lambda offset, high_watermark, _start: offset > high_watermark),
    ),
    Mutant(
        "joins-at-the-high-watermark",
        "isr.JOIN_AT_HIGH_WATERMARK",
        "2.0.1 does not look at the epoch's start",
        Story("kafka-7128-on-2.0.1"),
        with_fields(joins_isr=isr.joins_at_high_watermark),
    ),
    Mutant(
        "joins-at-the-epoch-start",
        "isr.JOIN_AT_HIGH_WATERMARK",
        "2.0.0 looks at the epoch's start",
        Story("kafka-7128-on-2.0.0"),
        with_fields(joins_isr=isr.joins_at_epoch_start),
    ),
    Mutant(
        "joins-below-the-high-watermark",
        "isr.JOIN_AT_HIGH_WATERMARK",
        "the epoch's start is enough, wherever the high watermark is",
        Story("caught-up-on-2.8"),
        with_fields(joins_isr=lambda offset, _high_watermark, start: offset >= start),
    ),
    Mutant(
        "silent-but-equal-stays",
        "isr.SILENT_LEAVES",
        "2.0 keeps a silent follower that has everything",
        Story("lag-idle-follower-on-2.0"),
        with_fields(leaves_isr=isr.behind_leaves),
    ),
    Mutant(
        "silent-but-equal-leaves",
        "isr.SILENT_LEAVES",
        "2.1 removes a silent follower that has everything",
        Story("lag-idle-follower-on-2.1"),
        with_fields(leaves_isr=isr.silent_leaves),
    ),
    Mutant(
        "nobody-lags",
        "isr.SILENT_LEAVES",
        "the leader removes nobody",
        Story("lag-shrinks-on-3.9-zookeeper"),
        with_fields(leaves_isr=lambda _follower_end, _leader_end: False),
    ),
    Mutant(
        "serves-an-older-epoch",
        "fencing.KIP_320",
        "a request of an earlier epoch is served",
        Story("request-across-epochs"),
        with_fields(serves_epoch=lambda request, leader: request <= leader),
    ),
    Mutant(
        "fences-before-kip-320",
        "fencing.KIP_320",
        "2.0.1 refuses a request of another epoch",
        Story("request-across-epochs-on-2.0.1"),
        with_fields(serves_epoch=fencing.is_served),
    ),
    Mutant(
        "looks-at-every-fetch",
        "high_watermark.CHECKED_ON_EVERY_FETCH",
        "2.4 raises the high watermark on a fetch that moves nothing",
        Story("kafka-8841-on-2.4"),
        with_fields(checks_every_fetch=True),
    ),
    Mutant(
        "looks-only-where-an-end-moves",
        "high_watermark.CHECKED_ON_EVERY_FETCH",
        "2.3 does not look at a fetch that moves nothing",
        Story("kafka-8841-on-2.3"),
        with_fields(checks_every_fetch=False),
    ),
    Mutant(
        "forgets-to-look-after-a-shrink",
        "high_watermark.CHECKED_ON_EVERY_FETCH",
        "3.1 does not look when the ISR has shrunk",
        Story("kafka-13091-on-3.1"),
        with_fields(raises_high_watermark_on_shrink=False),
    ),
    Mutant(
        "looks-after-a-shrink",
        "high_watermark.CHECKED_ON_EVERY_FETCH",
        "3.0 looks when the ISR has shrunk",
        Story("kafka-13091-on-3.0"),
        with_fields(raises_high_watermark_on_shrink=True),
    ),
    Mutant(
        "answers-the-new-high-watermark",
        "high_watermark.ANSWERED_AFTER_UPDATE",
        "1.1.1 answers the high watermark after its update",
        Story("kafka-5758-on-1.1.1"),
        with_fields(answers_new_high_watermark=True),
    ),
    Mutant(
        "answers-the-old-high-watermark",
        "high_watermark.ANSWERED_AFTER_UPDATE",
        "1.1.0 answers the high watermark before its update",
        Story("kafka-5758-on-1.1.0"),
        with_fields(answers_new_high_watermark=False),
    ),
    Mutant(
        "tells-the-latest-offset-too-early",
        "consumers.KIP_207",
        "2.2 answers ListOffsets although the high watermark lags behind the epoch's start",
        Answer(latest_offset_after_election("2.2.0"), (None, "OFFSET_NOT_AVAILABLE")),
        with_fields(tells_latest_offset=consumers.latest_offset_at_once),
    ),
    Mutant(
        "waits-with-the-latest-offset",
        "consumers.KIP_207",
        "2.1 refuses ListOffsets until the high watermark has reached the epoch's start",
        Answer(latest_offset_after_election("2.1.1"), (0, None)),
        with_fields(tells_latest_offset=consumers.latest_offset_from_epoch_start),
    ),
    Mutant(
        "writes-the-isr-itself",
        "isr.KIP_497",
        "2.7 does not ask the controller",
        Answer(isr_after_a_fetch("2.7.2"), [1, 2]),
        with_fields(asks_controller_to_join=False),
    ),
    Mutant(
        "asks-the-controller",
        "isr.KIP_497",
        "2.6 asks the controller",
        Answer(isr_after_a_fetch("2.6.2"), [1, 2, 3]),
        with_fields(asks_controller_to_join=True),
    ),
    Mutant(
        "waits-for-nobody",
        "high_watermark.EVERY_CAUGHT_UP",
        "only the ISR holds the high watermark back",
        Story("caught-up-on-2.8"),
        with_fields(waits_for_caught_up=lambda _remote, _is_registered: False),
    ),
    Mutant(
        "waits-for-everybody",
        "high_watermark.EVERY_CAUGHT_UP",
        "a replica that lags far behind holds the high watermark back",
        Story("after-append-on-2.8"),
        with_fields(waits_for_caught_up=lambda _remote, _is_registered: True),
    ),
    Mutant(
        "waits-for-a-replica-that-cannot-join",
        "high_watermark.EVERY_CAUGHT_UP",
        "3.9 in KRaft mode waits for a caught-up replica whose broker is gone",
        Story("caught-up-then-dead-on-3.9-kraft"),
        with_fields(waits_for_caught_up=high_watermark.every_caught_up),
    ),
    Mutant(
        "waits-for-a-replica-that-is-gone",
        "high_watermark.EVERY_CAUGHT_UP",
        "3.6 in ZooKeeper mode waits for a caught-up replica whose broker is gone",
        Story("caught-up-then-dead-on-3.6-zookeeper"),
        with_fields(waits_for_caught_up=high_watermark.every_caught_up),
    ),
    Mutant(
        "waits-for-a-replica-as-soon-as-it-is-back",
        "high_watermark.EVERY_CAUGHT_UP",
        "3.9 in KRaft mode waits for a caught-up replica that has not fetched since its broker's start",
        Story("caught-up-then-back-on-3.9-kraft"),
        with_fields(waits_for_caught_up=high_watermark.registered_caught_up),
    ),
    Mutant(
        "waits-for-a-replica-once-it-has-fetched",
        "high_watermark.EVERY_CAUGHT_UP",
        "3.9 in ZooKeeper mode does not wait for a caught-up replica until it has fetched since its broker's start",
        Story("caught-up-then-back-on-3.9-zookeeper"),
        with_fields(waits_for_caught_up=high_watermark.eligible_caught_up),
    ),
    Mutant(
        "waits-only-for-who-may-join",
        "high_watermark.EVERY_CAUGHT_UP",
        "3.5 does not wait for a caught-up replica whose broker is gone",
        Story("caught-up-then-dead-on-3.5-zookeeper"),
        with_fields(waits_for_caught_up=high_watermark.eligible_caught_up),
    ),
    Mutant(
        "waits-for-whoever-has-fetched",
        "high_watermark.EVERY_CAUGHT_UP",
        "being caught up is not asked for",
        Story("caught-up-on-3.9-zookeeper"),
        with_fields(waits_for_caught_up=this_incarnation),
    ),
    Mutant(
        "trusts-a-fetch-of-the-epoch-before",
        "high_watermark.EVERY_CAUGHT_UP",
        "3.9 counts a new epoch of the same leader as everybody's fetch",
        Story("caught-up-on-3.9-zookeeper"),
        with_fields(trusts_last_fetch_on_re_election=True),
    ),
    Mutant(
        "trusts-no-fetch-of-the-epoch-before",
        "high_watermark.EVERY_CAUGHT_UP",
        "2.8 counts a new epoch of the same leader as a fetch of the ISR only",
        Story("caught-up-on-2.8"),
        with_fields(trusts_last_fetch_on_re_election=False),
    ),
    Mutant(
        "commits-below-min-isr",
        "high_watermark.NEEDS_MIN_ISR",
        "3.7 raises the high watermark with too few replicas in sync",
        Story("strict-min-isr"),
        with_fields(high_watermark_needs_min_isr=False),
    ),
    Mutant(
        "stands-still-below-min-isr",
        "high_watermark.NEEDS_MIN_ISR",
        "2.8 does not raise the high watermark with too few replicas in sync",
        Story("after-append-on-2.8"),
        with_fields(high_watermark_needs_min_isr=True),
    ),
    Mutant(
        "minimum-as-configured",
        "high_watermark.NEEDS_MIN_ISR",
        "3.7 demands more replicas in sync than there are",
        Story("minimum-above-replication-factor-on-3.7"),
        with_fields(effective_min_isr=high_watermark.min_isr_as_configured),
    ),
    Mutant(
        "minimum-at-most-all",
        "high_watermark.NEEDS_MIN_ISR",
        "3.6 demands no more replicas in sync than there are",
        Story("minimum-above-replication-factor-on-3.6"),
        with_fields(effective_min_isr=high_watermark.min_isr_at_most_all),
    ),
    Mutant(
        "minimum-of-one-less",
        "high_watermark.NEEDS_MIN_ISR",
        "one replica less than the minimum is enough",
        Story("after-append-on-2.8"),
        with_fields(effective_min_isr=lambda configured, _factor: max(configured - 1, 1)),
    ),
)
