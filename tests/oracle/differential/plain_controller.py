"""What does a controller decide when a broker goes, comes, or catches up? A dictionary, changed in place.

Written from KafkaController, PartitionStateMachine and ReplicaStateMachine (ZooKeeper) and from
ReplicationControlManager and PartitionChangeBuilder (KRaft).
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Cluster = dict[str, Any]


def _indexed(react: Callable[..., None]) -> Callable[..., None]:
    """Replay a change of the partition: BrokersToElrs.update appends for who is new, and takes one of who has gone."""

    @wraps(react)
    def indexing(cluster: Cluster, *args: Any, **more: Any) -> None:  # noqa: ANN401 - as the function is called
        view = cluster["controller"]
        before = set(view["elr"])
        react(cluster, *args, **more)
        for broker in before - view["elr"]:
            view["index"].remove(broker)
        view["index"] += sorted(view["elr"] - before)

    return indexing


@_indexed
def broker_gone(cluster: Cluster, broker: int) -> None:
    """React to a session that expired, a fenced broker or a controlled shutdown."""
    view = cluster["controller"]
    view["up"].discard(broker)
    if cluster["facts"]["elr"]:
        _gone_with_elr(cluster, broker)
    elif view["leader"] == broker:
        view["leader"] = None
        if not _elect(cluster):
            view["epoch"] += 1
            empties = cluster["facts"]["empties_isr_if_unclean"] and cluster["unclean"]
            view["isr"] = [] if empties and view["isr"] == [broker] else view["isr"]
            view["isr"] = [member for member in view["isr"] if member != broker] or view["isr"]
    elif broker in view["isr"] and len(view["isr"]) > 1:
        view["isr"].remove(broker)
        view["epoch"] += 1 if cluster["facts"]["shrink_bumps_epoch"] else 0


@_indexed
def broker_back(cluster: Cluster, broker: int, *, clean: bool) -> None:
    """React to a broker that registers and is unfenced; one that cannot be registered ends again."""
    view = cluster["controller"]
    if not _can_register(cluster, broker, clean=clean):
        cluster["brokers"][broker]["up"] = False
        return
    if cluster["facts"]["elr"] and not clean:
        view["elr"].discard(broker)
        view["isr"] = [member for member in view["isr"] if member != broker]
    view["up"].add(broker)
    if view["leader"] is None:
        _elect(cluster)


@_indexed
def replica_joins(cluster: Cluster, broker: int) -> None:
    """Commit a leader's wish to add a replica to the ISR."""
    view = cluster["controller"]
    view["isr"].append(broker)
    if len(view["isr"]) >= _elr_minimum(cluster):
        view["elr"].clear()
    view["elr"].discard(broker)


@_indexed
def replicas_leave(cluster: Cluster, leaving: set[int]) -> None:
    """Commit a leader's wish to remove replicas that lag; only KRaft up to 3.5 starts an epoch then."""
    view, facts = cluster["controller"], cluster["facts"]
    view["isr"] = [member for member in view["isr"] if member not in leaving]
    if facts["elr"] and len(view["isr"]) < _elr_minimum(cluster):
        view["elr"] |= leaving
    view["epoch"] += 1 if facts["kraft"] and facts["shrink_bumps_epoch"] else 0


def minimum_changed(cluster: Cluster, minimum: int) -> None:
    """Replay a ClearElrRecord, if the feature is on: it merges empty lists, past BrokersToElrs."""
    if cluster["facts"]["elr"] and minimum != cluster["min_isr"]:
        cluster["controller"]["elr"].clear()
        cluster["controller"]["last_known"] = None
    cluster["min_isr"] = minimum


def topic_deleted(cluster: Cluster) -> None:
    """Replay a RemoveTopicRecord: every broker that is eligible loses what the index has of the topic; logs go."""
    view = cluster["controller"]
    view["index"] = [broker for broker in view["index"] if broker not in view["elr"]]
    view.update(leader=None, isr=[], elr=set(), last_known=None)
    cluster["assigned"] = []
    for broker in cluster["brokers"].values():
        broker.update(role=None, leader=None, request=None, session=None)
        broker.update(log=[], cache=[], high_watermark=0, checkpoint_file=0)


def _can_register(cluster: Cluster, broker: int, *, clean: bool) -> bool:
    """Return whether handleBrokerShutdown gets through the index of a broker that shut down uncleanly."""
    walks = cluster["facts"]["elr"] and not clean
    return bool(cluster["assigned"]) or not walks or broker not in cluster["controller"]["index"]


def election_asked_for(cluster: Cluster, kind: str) -> bool:
    """Elect the first replica if it is in sync, or anybody live for a partition without a leader."""
    view, first = cluster["controller"], cluster["assigned"][0]
    if kind == "preferred":
        is_possible = view["leader"] != first and first in view["up"] and first in view["isr"]
        return is_possible and _lead(view, first)
    if view["leader"] is not None:
        return False
    allowed, cluster["unclean"] = cluster["unclean"], True
    is_elected = _elect(cluster)
    cluster["unclean"] = allowed
    return is_elected


def _elr_minimum(cluster: Cluster) -> int:
    return min(int(cluster["min_isr"]), len(cluster["assigned"]))


def _gone_with_elr(cluster: Cluster, broker: int) -> None:
    """maybePopulateTargetElr, then tryElection; the ISR may become empty."""
    view = cluster["controller"]
    was_leader = view["leader"] == broker
    if broker in view["isr"]:
        view["isr"].remove(broker)
        if len(view["isr"]) < _elr_minimum(cluster):
            view["elr"].add(broker)
    if was_leader:
        if not view["isr"]:
            view["last_known"] = broker
        view["leader"] = None
        if not _elect(cluster):
            view["epoch"] += 1


def _elect(cluster: Cluster) -> bool:
    """Elect a leader for a partition without one, and tell whether there is one now."""
    view = cluster["controller"]
    live = [broker for broker in cluster["assigned"] if broker in view["up"]]
    for broker in live:
        if broker in view["isr"]:
            view["isr"] = [member for member in view["isr"] if member in view["up"]]
            return _lead(view, broker)
    if cluster["facts"]["elr"]:
        return _elect_with_elr(cluster, live)
    if live and cluster["unclean"]:
        view["isr"] = [live[0]]
        return _lead(view, live[0])
    return False


def _elect_with_elr(cluster: Cluster, live: list[int]) -> bool:
    view = cluster["controller"]
    eligible = [broker for broker in live if broker in view["elr"]] if not view["isr"] else []
    if eligible:
        view["elr"].discard(eligible[0])
        view["isr"] = [eligible[0]]
        return _lead(view, eligible[0])
    last_known = view["last_known"]
    if not view["isr"] and not view["elr"] and _may_lead(cluster, last_known, live):
        unclean = last_known
    elif live and cluster["unclean"]:
        unclean = live[0]
    else:
        return False
    view["isr"] = [unclean]
    view["elr"].clear()
    return _lead(view, unclean)


def _may_lead(cluster: Cluster, last_known: int | None, live: list[int]) -> bool:
    return last_known in live or (last_known is not None and cluster["facts"]["elects_absent"])


def _lead(view: dict[str, Any], leader: int) -> bool:
    view["leader"] = leader
    view["epoch"] += 1
    view["last_known"] = None
    view["elections"].append(view["epoch"])
    return True
