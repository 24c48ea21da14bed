"""Do the oracle and the second interpreter say the same? Both, put into the same plain values."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from oracle.predict import predict
from oracle.steps.step import ScheduleError
from tests.oracle.differential.interpreter import StepRefusedError, new_cluster, take
from tests.oracle.differential.plain_gate import first_in_vain
from tests.oracle.differential.plain_leader import serving
from tests.oracle.differential.plain_log import end_of

if TYPE_CHECKING:
    from oracle.prediction import Moment, Prediction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule

Said = dict[str, Any]


def said_by_interpreter(schedule: Schedule, facts: dict[str, Any]) -> Said:
    """Return what the second interpreter says, or at which step it refuses."""
    cluster = new_cluster(schedule, facts)
    said: Said = {"refused at": None}
    for index, step in enumerate(schedule.steps):
        try:
            take(cluster, step)
        except StepRefusedError:
            return {"refused at": index}
        said[f"step {index}"] = _moment(cluster)
    in_vain, leader = first_in_vain(cluster, schedule.steps), serving(cluster)
    if in_vain is not None:
        return {"refused at": in_vain}
    if leader is None:
        return {"refused at": len(schedule.steps) - 1}
    for label, record in cluster["produced"].items():
        said[label] = _record(cluster, leader, label, record)
    for number, broker in cluster["brokers"].items():
        said[f"log of {number}"] = [(label, _leadership(cluster, epoch)) for label, epoch in broker["log"]]
    return said


def _moment(cluster: dict[str, Any]) -> Said:
    view, leader = cluster["controller"], serving(cluster)
    brokers = cluster["brokers"].values()
    followers = [b["id"] for b in brokers if b["up"] and b["role"] == "follower"] if leader else []
    return {
        "replicas": {b["id"]: (end_of(b), _shown(cluster, b), b["up"]) for b in brokers},
        "leader": view["leader"],
        "leadership": len(view["elections"]) - 1,
        "isr": sorted(view["isr"]),
        "elr": sorted(view["elr"]),
        "known": {follower: leader["known"][follower]["end"] for follower in followers} if leader else {},
        "hung": sorted(b["id"] for b in brokers if b.get("hung")),
    }


def _shown(cluster: dict[str, Any], broker: dict[str, Any]) -> int:
    """Return a broker's high watermark; a paused one's is what its disk has."""
    is_paused = broker["id"] in cluster["paused"]
    return min(end_of(broker), broker["checkpoint_file"]) if is_paused else int(broker["high_watermark"])


def _leadership(cluster: dict[str, Any], epoch: int) -> int:
    elections: list[int] = cluster["controller"]["elections"]
    return sum(first <= epoch for first in elections) - 1


def _record(cluster: dict[str, Any], leader: dict[str, Any], label: str, record: dict[str, Any]) -> Said:
    served = [name for name, _ in leader["log"]]
    offset = None
    if label in served:
        is_readable = served.index(label) < leader["high_watermark"]
        fate = "present" if is_readable else "undetermined"
        offset = served.index(label) if is_readable else None
    else:
        fate = "lost" if label in cluster["committed"] else "absent"
    return {
        "fate": fate,
        "was committed": label in cluster["committed"],
        "outcome": record["outcome"] or "indeterminate",
        "error": record["error"],
        "offset": offset,
        "leadership": None if record["epoch"] is None else _leadership(cluster, record["epoch"]),
    }


def said_by_oracle(schedule: Schedule, rules: RuleSet) -> Said | None:
    """Return what the oracle says, or at which step it refuses; None if a race is open, or one was assumed away."""
    try:
        prediction = predict(schedule, rules)
    except ScheduleError as refused:
        return {"refused at": refused.step}
    return None if prediction.races or prediction.assumed else _said(prediction)


def outcomes_said_by_oracle(schedule: Schedule, rules: RuleSet) -> list[Said]:
    """Return every outcome that the oracle leaves open: one if there is no race.

    Raises:
        ScheduleError: the oracle refuses the schedule.
    """
    prediction = predict(schedule, rules)
    return [_said(one.prediction) for one in prediction.alternatives] or [_said(prediction)]


def _said(prediction: Prediction) -> Said:
    said: Said = {"refused at": None}
    for moment in prediction.moments:
        said[f"step {moment.step}"] = _moment_of(moment)
    for record in prediction.records:
        said[record.label] = {
            "fate": record.fate.value,
            "was committed": record.was_committed,
            "outcome": record.outcome.value,
            "error": record.error,
            "offset": record.offset,
            "leadership": record.leadership,
        }
    for number, log in prediction.logs.items():
        said[f"log of {number}"] = [(entry.label, entry.leadership) for entry in log]
    return said


def _moment_of(moment: Moment) -> Said:
    replicas = {b: (n.log_end_offset, n.high_watermark, n.alive) for b, n in moment.replicas.items()}
    return {
        "replicas": replicas,
        "leader": moment.leader,
        "leadership": moment.leadership,
        "isr": sorted(moment.isr),
        "elr": sorted(moment.elr),
        "known": dict(moment.remote_log_end_offsets),
        "hung": list(moment.hung),
    }


def first_difference(one: Said, other: Said) -> str | None:
    """Return where two sayings first differ, in words; None if they are the same."""
    for key in [*one, *(key for key in other if key not in one)]:
        if one.get(key) != other.get(key):
            return f"{key}: oracle {deepcopy(one.get(key))}, interpreter {other.get(key)}"
    return None
