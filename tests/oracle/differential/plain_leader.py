"""What does a leader do with a record, with a fetch and with a new epoch? Dictionaries, changed in place.

Written from Partition, Replica, ReplicaManager and DelayedProduce.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.differential.plain_controller import Cluster, replica_joins, replicas_leave
from tests.oracle.differential.plain_gate import stands_at_controller
from tests.oracle.differential.plain_log import append, assign_epoch, end_of, end_offset_for

Broker = dict[str, Any]
Request = dict[str, Any]
KNOWN_ACKS = (-1, 0, 1)


def serving(cluster: Cluster) -> Broker | None:
    """Return the broker that leads and runs."""
    leader = cluster["controller"]["leader"]
    broker = cluster["brokers"].get(leader)
    return broker if broker and broker["up"] and broker["role"] == "leader" else None


def min_isr(cluster: Cluster) -> int:
    """Return the in-sync replicas that acks=all needs."""
    configured: int = cluster["min_isr"]
    return min(configured, len(cluster["assigned"])) if cluster["facts"]["needs_min_isr"] else configured


def produce(cluster: Cluster, label: str, acks: int, to: int | None = None) -> None:
    """Append one record, or refuse it: at who leads, or at a broker that still believes that it does."""
    leader = serving(cluster) if to is None else cluster["brokers"][to]
    record: dict[str, Any] = {
        "acks": acks,
        "outcome": None,
        "error": None,
        "needs": None,
        "epoch": None,
        "leader": None,
    }
    cluster["produced"][label] = record
    if leader is None:
        record.update(outcome="refused", error="LEADER_NOT_AVAILABLE")
    elif acks not in KNOWN_ACKS or leader["role"] != "leader":
        error = "NOT_LEADER_OR_FOLLOWER" if acks in KNOWN_ACKS else "INVALID_REQUIRED_ACKS"
        record.update(outcome="refused" if acks else "indeterminate", error=error if acks else None)
    elif acks == -1 and len(leader["isr"]) < min_isr(cluster):
        record.update(outcome="refused", error="NOT_ENOUGH_REPLICAS")
    else:
        append(leader, [[label, leader["epoch"]]], cluster["facts"])
        record.update(needs=end_of(leader), epoch=leader["epoch"], leader=leader["id"])
        record["outcome"] = {0: "indeterminate", 1: "acknowledged", -1: None}[acks]
        raise_high_watermark(cluster, leader)


def raise_high_watermark(cluster: Cluster, leader: Broker) -> None:
    """maybeIncrementLeaderHW, and the produces that it completes."""
    if cluster["facts"]["needs_min_isr"] and len(leader["isr"]) < min_isr(cluster):
        return
    counted = [end_of(leader)]
    maximal_isr = leader["isr"] | leader["adding"]
    for follower, known in leader["known"].items():
        if follower in maximal_isr or (known["caught_up"] and _waits_for(cluster, follower, known)):
            counted.append(-1 if known["end"] is None else known["end"])
    if min(counted) <= leader["high_watermark"]:
        return
    leader["high_watermark"] = min(counted)
    cluster["committed"] |= {label for label, _ in leader["log"][: leader["high_watermark"]]}
    for record in cluster["produced"].values():
        if record["outcome"] is None and record["needs"] <= leader["high_watermark"]:
            if len(maximal_isr) >= min_isr(cluster):
                record["outcome"] = "acknowledged"
            else:
                record.update(outcome="indeterminate", error="NOT_ENOUGH_REPLICAS_AFTER_APPEND")


def _waits_for(cluster: Cluster, follower: int, known: dict[str, Any]) -> bool:
    waits_for = cluster["facts"]["waits_for"]
    is_alive = follower in cluster["controller"]["up"]
    return bool(waits_for == "any" or (is_alive and (waits_for == "alive" or known["this_incarnation"])))


def become_leader(cluster: Cluster, broker: Broker, view: dict[str, Any]) -> None:
    """makeLeader: a new epoch, or the same epoch with another ISR."""
    facts = cluster["facts"]
    broker["isr"] = set(view["isr"])
    if broker["epoch"] != view["epoch"]:
        was_leader = broker["role"] == "leader"
        broker.update(role="leader", leader=broker["id"], epoch=view["epoch"], epoch_start=end_of(broker))
        broker.update(adding=set(), request=None, session=None, truncating=False, stopped=False)
        if facts["epoch_at_election"]:
            assign_epoch(broker, broker["epoch"], facts)
        for follower in cluster["assigned"]:
            if follower != broker["id"]:
                _reset_known(broker, follower, facts, was_leader=was_leader)
    raise_high_watermark(cluster, broker)


def _reset_known(leader: Broker, follower: int, facts: dict[str, Any], *, was_leader: bool) -> None:
    """resetReplicaState: the leader's clock starts anew; the end offset is known only to one that led before."""
    in_sync = follower in leader["isr"]
    known: dict[str, Any] = {
        "end": None,
        "end_at_fetch": None,
        "fetched": False,
        "caught_up": in_sync,
        "this_incarnation": False,
    }
    if was_leader:
        old = leader["known"][follower]
        known.update(end=old["end"], end_at_fetch=end_of(leader), this_incarnation=old["this_incarnation"])
        known["fetched"] = in_sync or facts["resets_fetch_time_of_all"]
    leader["known"][follower] = known


def handle_request(cluster: Cluster, follower: Broker, request: Request) -> bool:
    """Answer or park a request; an epoch or leader that is not this one's makes the follower try again.

    Returns:
        whether the request was served.
    """
    leader, facts = serving(cluster), cluster["facts"]
    wrong_leader = leader is None or leader["id"] != request["to"]
    if leader is None or wrong_leader or _is_fenced(leader, request, facts):
        follower["request"] = None
        if request["what"] == "fetch":
            follower["session"] = None  # it fetches without the partition, which ends the session
        is_fenced = not wrong_leader and request["what"] == "lookup" and request["epoch"] != follower["epoch"]
        follower["stopped"] = follower["stopped"] or (is_fenced and not facts["drops_old_lookup"])
        return False
    if request["what"] == "lookup":
        _answer(request, {"epoch_end": end_offset_for(leader, request["last_epoch"], facts)})
    else:
        _handle_fetch(cluster, leader, follower, request)
    return True


def _is_fenced(leader: Broker, request: Request, facts: dict[str, Any]) -> bool:
    """CheckCurrentLeaderEpoch; CachedPartition.reqData of a session has no epoch up to KAFKA-9338."""
    names_epoch = facts["epoch_in_session"] or not request["in_session"]
    return bool(facts["fences"] and names_epoch and request["epoch"] != leader["epoch"])


def _answer(request: Request, answer: dict[str, Any]) -> None:
    request.update(at="to follower", answer=answer)


def _answer_fetch(cluster: Cluster, follower: Broker, request: Request, answer: dict[str, Any]) -> None:
    """Answer in the fetch session: without the partition if nothing in it is news (maybeUpdateResponseData)."""
    before, told = follower["session"], {"high_watermark": answer.get("high_watermark")}
    has_news = answer.get("out_of_range") or answer["records"] or answer["diverging"] or told != before
    follower["session"] = told
    _answer(request, answer if has_news or not cluster["facts"]["tells_once"] else {"left_out": True})


def _handle_fetch(cluster: Cluster, leader: Broker, follower: Broker, request: Request) -> None:
    facts, offset = cluster["facts"], request["offset"]
    high_watermark, records = leader["high_watermark"], [list(record) for record in leader["log"][offset:]]
    diverging = None
    if facts["fetch_names_epoch"] and request["last_epoch"] != -1:
        epoch, end = end_offset_for(leader, request["last_epoch"], facts)
        if epoch is None or end is None:
            _answer_fetch(cluster, follower, request, {"out_of_range": True})
            return
        if epoch < request["last_epoch"] or end < offset:
            diverging = (epoch, end)
    if diverging:
        if facts["counts_diverging"]:
            record_fetch(cluster, leader, follower, offset)
        answer = {"records": [], "high_watermark": high_watermark, "diverging": diverging}
        _answer_fetch(cluster, follower, request, answer)
    elif offset > end_of(leader):
        _answer_fetch(cluster, follower, request, {"out_of_range": True})
    else:
        record_fetch(cluster, leader, follower, offset)
        if not records:
            request["at"] = "parked"
            return
        high_watermark = leader["high_watermark"] if facts["answers_updated"] else high_watermark
        answer = {"records": records, "high_watermark": high_watermark, "diverging": None}
        _answer_fetch(cluster, follower, request, answer)


def complete_parked(cluster: Cluster, follower: Broker, request: Request) -> None:
    """Read a parked fetch again: what the leader has now."""
    leader = serving(cluster)
    if leader is None or _is_fenced(leader, request, cluster["facts"]):
        follower.update(request=None, session=None)
        return
    records = [list(record) for record in leader["log"][request["offset"] :]]
    answer = {"records": records, "high_watermark": leader["high_watermark"], "diverging": None}
    _answer_fetch(cluster, follower, request, answer)


def record_fetch(cluster: Cluster, leader: Broker, follower: Broker, offset: int) -> None:
    """updateFollowerFetchState: end offset, caught-up clock, ISR, high watermark; in this order."""
    facts, known = cluster["facts"], leader["known"][follower["id"]]
    moved = known["end"] != offset
    had_all_before = known["end_at_fetch"] is not None and offset >= known["end_at_fetch"] and known["fetched"]
    known["caught_up"] = known["caught_up"] or offset >= end_of(leader) or had_all_before
    known.update(end=offset, end_at_fetch=end_of(leader), fetched=True, this_incarnation=True)
    bar = leader["high_watermark"]
    if facts["joins_at_epoch_start"]:
        bar = max(bar, leader["epoch_start"])
    if follower["id"] not in leader["isr"] | leader["adding"] and offset >= bar:
        leader["adding"].add(follower["id"])
        if not facts["asks_controller"]:
            commit_joins(cluster)
    if moved or not facts["rises_only_with_end"]:
        raise_high_watermark(cluster, leader)


def pass_lag(cluster: Cluster, silent: list[int]) -> None:
    """maybeShrinkIsr, once the lag time has passed without a sign of these followers."""
    leader, facts = serving(cluster), cluster["facts"]
    if leader is None:
        return
    for follower in silent:
        leader["known"][follower].update(caught_up=False, fetched=False)
    is_equal = {follower: leader["known"][follower]["end"] == end_of(leader) for follower in silent}
    leaving = {f for f in silent if f in leader["isr"] and not (facts["equal_end_stays"] and is_equal[f])}
    if not leaving:
        return
    replicas_leave(cluster, leaving)
    if cluster["controller"]["epoch"] != leader["epoch"]:
        return  # the leader hears of it as of any decision
    leader["isr"] -= leaving
    if facts["rises_after_shrink"]:
        raise_high_watermark(cluster, leader)


def commit_joins(cluster: Cluster) -> None:
    """Let the controller commit what the leader asked for."""
    leader = serving(cluster)
    if leader is None or not leader["adding"]:
        return
    if cluster["facts"]["asks_controller"] and stands_at_controller(cluster, leader["id"], "alter_partition_request"):
        return
    for follower in sorted(leader["adding"]):
        if not _may_join(cluster, leader, follower):
            leader["adding"].discard(follower)
            continue
        replica_joins(cluster, follower)
        leader["adding"].discard(follower)
        leader["isr"] = set(cluster["controller"]["isr"])
        raise_high_watermark(cluster, leader)


def _may_join(cluster: Cluster, leader: Broker, follower: int) -> bool:
    """Look at a wish as the controller does: INELIGIBLE_REPLICA for a broker that is fenced or has restarted."""
    joins = cluster["facts"]["joins"]
    is_alive = follower in cluster["controller"]["up"]
    return bool(joins == "any" or (is_alive and (joins == "alive" or leader["known"][follower]["this_incarnation"])))
