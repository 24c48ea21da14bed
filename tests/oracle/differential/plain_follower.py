"""What does a follower do with a new leader, and with an answer? Dictionaries, changed in place.

Written from AbstractFetcherThread, ReplicaFetcherThread and Partition.makeFollower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.oracle.differential.plain_leader import serving
from tests.oracle.differential.plain_log import append, cut_point, end_of, latest_epoch, truncate

if TYPE_CHECKING:
    from tests.oracle.differential.plain_controller import Cluster

Broker = dict[str, Any]


def become_follower(cluster: Cluster, broker: Broker, leader: int, epoch: int) -> None:
    """makeFollower: carry on, or start the fetcher again; a request under way to the same leader lives on."""
    facts = cluster["facts"]
    gap, is_same = facts["same_leader_gap"], broker["leader"] == leader
    if is_same and (gap is None or epoch <= broker["epoch"] + gap):
        broker["epoch"] = epoch
        return
    if not is_same:
        broker.update(request=None, session=None)
    step_down(cluster, broker)
    broker.update(role="follower", leader=leader, epoch=epoch, isr=set(), adding=set(), known={}, stopped=False)
    broker["fallback"] = broker["high_watermark"]
    broker["truncating"] = facts["asks"] or (facts["fetch_names_epoch"] and not broker["cache"])
    if facts["cuts_to_high_watermark"]:
        truncate(broker, broker["high_watermark"], facts)


def step_down(cluster: Cluster, broker: Broker) -> None:
    """DelayedProduce ends what waits at a broker that leads no more."""
    for record in cluster["produced"].values():
        if record["outcome"] is None and record["leader"] == broker["id"]:
            record.update(outcome="indeterminate", error="NOT_LEADER_OR_FOLLOWER")


def next_request(cluster: Cluster, broker: Broker) -> None:
    """Send the next request of an idle follower: a lookup while it is truncating, else a fetch."""
    facts = cluster["facts"]
    if broker["truncating"] and not (facts["asks"] and (broker["cache"] or facts["asks_without_epoch"])):
        truncate(broker, broker["fallback"], facts)  # maybeTruncate: no epoch to ask about
        broker["truncating"] = False
    broker["request"] = {
        "what": "lookup" if broker["truncating"] else "fetch",
        "at": "to leader",
        "to": broker["leader"],
        "epoch": broker["epoch"],
        "in_session": broker["session"] is not None and not broker["truncating"],
        "offset": end_of(broker),
        "last_epoch": latest_epoch(broker),
        "answer": None,
    }


def take_answer(cluster: Cluster, broker: Broker) -> None:
    """Handle an answer, unless the fetcher has moved on since it asked."""
    facts, request = cluster["facts"], broker["request"]
    broker["request"] = None
    is_old = request["epoch"] != broker["epoch"]
    if request["what"] == "lookup":
        if broker["truncating"] and not (is_old and facts["drops_old_lookup"]):
            _cut(broker, request["answer"]["epoch_end"], facts)
        return
    is_ready = not broker["truncating"] and request["offset"] == end_of(broker)
    if not is_ready or (is_old and facts["drops_old_fetch"]) or request["answer"].get("left_out"):
        return
    if request["answer"].get("out_of_range"):
        _out_of_range(cluster, broker)
    else:
        _take_records(broker, request["answer"], facts)


def _take_records(broker: Broker, answer: dict[str, Any], facts: dict[str, Any]) -> None:
    diverging = answer["diverging"]
    append(broker, answer["records"], facts)
    if diverging is None or facts["high_watermark_before_cut"]:
        broker["high_watermark"] = min(end_of(broker), answer["high_watermark"])
    if diverging is not None:
        broker["fallback"] = broker["high_watermark"]
        _cut(broker, diverging, facts)


def _cut(broker: Broker, answer: tuple[int | None, int | None], facts: dict[str, Any]) -> None:
    offset, is_done = cut_point(broker, answer, broker["fallback"], facts)
    truncate(broker, offset, facts)
    broker["fallback"] = offset
    broker["truncating"] = facts["asks"] and not is_done
    if broker["truncating"]:
        broker["session"] = None  # a fetch goes out that forgets the partition


def _out_of_range(cluster: Cluster, broker: Broker) -> None:
    """handleOffsetOutOfRange: ask for the leader's end offset, and cut to it."""
    leader = serving(cluster)
    if leader is None or end_of(leader) >= end_of(broker):
        return
    if cluster["facts"]["when_ahead"] != "cuts" and not cluster["unclean"]:
        broker["stopped"] = True
    else:
        truncate(broker, end_of(leader), cluster["facts"])
