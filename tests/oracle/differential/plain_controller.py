"""What does a controller decide when a broker goes, comes, or catches up? A dictionary, changed in place.

Written from KafkaController, PartitionStateMachine and ReplicaStateMachine (ZooKeeper) and from
ReplicationControlManager and PartitionChangeBuilder (KRaft).
"""

from __future__ import annotations

from typing import Any

Cluster = dict[str, Any]


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
    elif broker in view["isr"] and len(view["isr"]) > 1:
        view["isr"].remove(broker)
        view["epoch"] += 1 if cluster["facts"]["shrink_bumps_epoch"] else 0


def broker_back(cluster: Cluster, broker: int, *, clean: bool) -> None:
    """React to a broker that registers and is unfenced."""
    view = cluster["controller"]
    if cluster["facts"]["elr"] and not clean:
        view["elr"].discard(broker)
        view["isr"] = [member for member in view["isr"] if member != broker]
    view["up"].add(broker)
    if view["leader"] is None:
        _elect(cluster)


def replica_joins(cluster: Cluster, broker: int) -> None:
    """Commit a leader's wish to add a replica to the ISR."""
    view = cluster["controller"]
    view["isr"].append(broker)
    if len(view["isr"]) >= _elr_minimum(cluster):
        view["elr"].clear()
    view["elr"].discard(broker)


def replicas_leave(cluster: Cluster, leaving: set[int]) -> None:
    """Commit a leader's wish to remove replicas that lag; only KRaft up to 3.5 starts an epoch then."""
    view, facts = cluster["controller"], cluster["facts"]
    view["isr"] = [member for member in view["isr"] if member not in leaving]
    if facts["elr"] and len(view["isr"]) < _elr_minimum(cluster):
        view["elr"] |= leaving
    view["epoch"] += 1 if facts["kraft"] and facts["shrink_bumps_epoch"] else 0


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
