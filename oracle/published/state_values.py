"""How do the published models' states look, to people and to programs?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.explorer.factored import Parts
    from oracle.published.async_isr import IsrAt
    from oracle.published.parts import LeaderAndIsrRequest, Quorum, SpecReplica, StateLayout
    from oracle.vocabulary import LeaderEpoch

Value = dict[str, Any]


def replication_value(layout: StateLayout, parts: Parts) -> Value:
    """Return a replication module's state as plain values."""
    return {
        "quorum": _quorum(parts[layout.quorum]),
        "requests": [_request(parts[layout.request(epoch)], epoch) for epoch in layout.epochs],
        "next_record": parts[layout.next_record],
        "replicas": [_replica(parts[layout.replica(broker)]) for broker in layout.constants.brokers],
    }


def _quorum(quorum: Quorum) -> Value:
    return {"leader": quorum.leader, "leader_epoch": _epoch(quorum.leader_epoch), "isr": sorted(quorum.isr)}


def _request(request: LeaderAndIsrRequest | None, epoch: int) -> Value | None:
    if request is None:
        return None
    return {"leader": request.leader, "leader_epoch": epoch, "isr": sorted(request.isr)}


def _replica(replica: SpecReplica) -> Value:
    return {
        "broker": replica.broker,
        "high_watermark": replica.high_watermark,
        "log_end_offset": replica.log_end_offset,
        "leader_epoch": _epoch(replica.leader_epoch),
        "leader": replica.leader,
        "isr": sorted(replica.isr),
        "log": [{"label": entry.label, "leader_epoch": entry.leader_epoch} for entry in replica.log.entries],
    }


def _epoch(epoch: LeaderEpoch) -> int | None:
    return epoch if epoch >= 0 else None


def replication_lines(value: Value) -> Iterator[str]:
    """Yield a replication module's state as lines: the quorum, then one line a replica."""
    quorum = value["quorum"]
    yield f"quorum    leader {_or_none(quorum['leader'])}  epoch {_or_none(quorum['leader_epoch'])}  {_isr(quorum)}"
    for one in value["replicas"]:
        log = " ".join(f"{entry['label']}/{entry['leader_epoch']}" for entry in one["log"]) or "empty"
        leads = "leads" if one["leader"] == one["broker"] else f"leader {_or_none(one['leader'])}"
        numbers = f"HW {one['high_watermark']}  LEO {one['log_end_offset']}  epoch {_or_none(one['leader_epoch'])}"
        yield f"broker {one['broker']}  {numbers}  {leads:8}  {_isr(one):14}  log {log}"


def _isr(value: Value) -> str:
    return f"ISR {{{', '.join(map(str, value['isr']))}}}"


def _or_none(value: object) -> str:
    return "-" if value is None else str(value)


def async_isr_value(parts: Parts) -> Value:
    """Return AsyncIsr's state as plain values."""
    controller, leader, requests, offsets = parts
    return {
        "controller": _isr_at(controller.committed),
        "leader": {
            **_isr_at(leader.known),
            "pending_isr": sorted(leader.pending),
            "pending_version": leader.pending_version,
        },
        "requests": sorted((_isr_at(one) for one in requests), key=lambda one: (one["version"], one["isr"])),
        "log_end_offsets": list(offsets),
    }


def _isr_at(one: IsrAt) -> Value:
    return {"isr": sorted(one.isr), "version": one.version}


def async_isr_lines(value: Value) -> Iterator[str]:
    """Yield AsyncIsr's state as lines: controller, leader, offsets, requests."""
    controller, leader = value["controller"], value["leader"]
    yield f"controller  version {controller['version']}  {_isr(controller)}"
    pending = f"pending {_isr({'isr': leader['pending_isr']})}" if leader["pending_isr"] else "nothing pending"
    yield f"leader      version {leader['version']}  {_isr(leader)}  {pending}"
    yield f"LEO by broker  {' '.join(map(str, value['log_end_offsets']))}"
    asked = ", ".join(f"{_isr(one)} at version {one['version']}" for one in value["requests"])
    yield f"requests    {asked or 'none'}"
