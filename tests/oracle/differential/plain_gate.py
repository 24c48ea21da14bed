"""Which frames does the gate hold? A list of holds, oldest first, as the contract of a step has it.

A request hold catches a request before the leader sees it; a response hold the answer to a request
that reached the leader after the hold was armed. The n-th match, one frame each; the oldest hold
whose turn it is catches, the others wait for the next frame.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from oracle.steps.frames import Close, Drop
from oracle.steps.frames import Hold as HoldStep

Hold = dict[str, Any]
Cluster = dict[str, Any]
WHAT = {"fetch": "fetch", "offsets": "lookup"}


class StepRefusedError(Exception):
    """A step that cannot be taken, or that assumes what is not so."""


def arm(cluster: Cluster, step: Any) -> None:  # noqa: ANN401 - any step with a hold's fields
    """Add a hold: on the link from a follower to a leader, or between a broker and the controller."""
    if step.broker is not None:
        hold = {"name": step.name, "link": (step.broker,), "side": None, "what": step.point.value}
        cluster["holds"].append({**hold, "caught": False, "dropped": False})
        return
    kind, _, side = step.point.value.rpartition("_")
    hold = {"name": step.name, "link": (step.follower, step.leader), "side": side, "what": WHAT[kind.split("_")[0]]}
    hold.update(offset=step.fetch_offset, nth=step.nth, seen=0, entitled=False, caught=False, dropped=False)
    cluster["holds"].append(hold)


def find(cluster: Cluster, name: str) -> Hold | None:
    """Return a hold that is armed or has caught its frame."""
    return next((hold for hold in cluster["holds"] if hold["name"] == name), None)


def forget_broker(cluster: Cluster, broker: int) -> None:
    """Discharge what is on a dead broker's links; its own held fetch is under way still, also without it."""
    cluster["late"] = [one for one in cluster["late"] if one["request"]["to"] != broker]
    _outlive(cluster, [hold for hold in cluster["holds"] if hold["link"][0] == broker])
    cluster["holds"] = [hold for hold in cluster["holds"] if broker not in hold["link"]]


def _outlive(cluster: Cluster, holds: list[Hold]) -> None:
    """Keep the fetches that a gate can deliver although who sent them does not wait for an answer any more."""
    for hold in holds:
        if hold["caught"] and not hold["dropped"] and (hold["side"], hold["what"]) == ("request", "fetch"):
            late = {"name": hold["name"], "sender": hold["link"][0], "request": hold["request"], "is_old": False}
            cluster["late"].append(late)


def age(cluster: Cluster, broker: int) -> None:
    """Note that what a broker has sent is of an earlier start of it."""
    for one in cluster["late"]:
        one["is_old"] = one["is_old"] or one["sender"] == broker


def take_late(cluster: Cluster, name: str) -> Hold:
    """Take a fetch out of the gate that is to be delivered late."""
    found = next((one for one in cluster["late"] if one["name"] == name), None)
    if found is None:
        raise StepRefusedError(f"nothing is late at {name}")
    cluster["late"].remove(found)
    return found


def close_connection(cluster: Cluster, broker: int, former: int) -> bool:
    """Lose what a fetcher's connection to its former leader carries, and tell whether a hold had something of it."""
    gone = [hold for hold in cluster["holds"] if hold["caught"] and hold["link"] == (broker, former)]
    _outlive(cluster, gone)
    cluster["holds"] = [hold for hold in cluster["holds"] if hold not in gone]
    return bool(gone)


def is_blocked(cluster: Cluster, broker: dict[str, Any]) -> bool:
    """Return whether the link from a follower to its leader stands still."""
    link = (broker["id"], broker["leader"])
    return any(hold["caught"] and hold["link"] == link for hold in cluster["holds"])


def _waiting(cluster: Cluster, broker: dict[str, Any], side: str) -> list[Hold]:
    request = broker["request"]
    link = (broker["id"], request["to"])
    return [
        hold
        for hold in cluster["holds"]
        if not hold["caught"]
        and (hold["side"], hold["what"], hold["link"]) == (side, request["what"], link)
        and hold["offset"] in (None, request["offset"])
    ]


def stands_at_controller(cluster: Cluster, broker: int, what: str) -> bool:
    """Show a frame between a broker and the controller to the gate, and tell whether it stands there."""
    for hold in cluster["holds"]:
        if (hold["link"], hold["what"]) == ((broker,), what):
            _catch(cluster, hold)
            return True
    return False


def request_passes(cluster: Cluster, broker: dict[str, Any]) -> None:
    """Show a request to the gate, which may catch it."""
    ready = []
    for hold in _waiting(cluster, broker, "request"):
        hold["seen"] += 1
        ready += [hold] if hold["seen"] >= hold["nth"] else []
    if ready:
        ready[0]["request"] = deepcopy(broker["request"])
        _catch(cluster, ready[0])


def _catch(cluster: Cluster, hold: Hold) -> None:
    hold["caught"] = True
    cluster["met"].add(hold["name"])


def request_forwarded(cluster: Cluster, broker: dict[str, Any]) -> None:
    """Count a request that reached the leader."""
    for hold in _waiting(cluster, broker, "response"):
        hold["seen"] += 1
        hold["entitled"] = hold["seen"] >= hold["nth"]


def answer_is_caught(cluster: Cluster, broker: dict[str, Any]) -> bool:
    """Show an answer to the gate, and tell whether a hold has caught it."""
    for hold in _waiting(cluster, broker, "response"):
        if hold["entitled"]:
            _catch(cluster, hold)
            return True
    return False


def first_in_vain(cluster: Cluster, taken: tuple[Any, ...]) -> int | None:
    """Return the index of the first hold that has caught nothing at all, or None."""
    vain = (n for n, step in enumerate(taken) if isinstance(step, HoldStep) and step.name not in cluster["met"])
    return next(vain, None)


def let_go(cluster: Cluster, step: Any) -> None:  # noqa: ANN401 - any step with a hold's name
    """Let a held frame go, or throw it away."""
    hold = find(cluster, step.name)
    if hold is None or not hold["caught"] or hold["dropped"]:
        raise StepRefusedError(f"nothing to let go at {step.name}")
    if isinstance(step, Drop):
        hold["dropped"] = True
        return
    cluster["holds"].remove(hold)
    broker = cluster["brokers"][hold["link"][0]]
    if isinstance(step, Close) and broker["request"] and broker["request"]["to"] == hold["link"][1]:
        broker.update(request=None, session=None)
