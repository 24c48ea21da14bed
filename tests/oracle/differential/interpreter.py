"""What does a schedule come to, by the second reading? Every moment, record and log as plain values.

The cluster is one dictionary, changed in place. Between steps every follower takes its turns stage by
stage (all answers, then all requests, …), until a whole round leaves the dictionary as it was.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

from oracle.rules.message_format import stamps_epochs
from oracle.steps.brokers import Isolate, Kill, LoseCheckpoint, LoseTail, Pause, Rejoin, Resume, Start, Stop
from oracle.steps.frames import AwaitHold, Close, Drop, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.questions import SendTo
from oracle.steps.topic import Elect
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader
from tests.oracle.differential import plain_gate
from tests.oracle.differential.plain_controller import Cluster, broker_back, broker_gone, election_asked_for
from tests.oracle.differential.plain_follower import become_follower, next_request, take_answer
from tests.oracle.differential.plain_gate import StepRefusedError as StepRefusedError
from tests.oracle.differential.plain_leader import (
    become_leader,
    commit_joins,
    complete_parked,
    handle_request,
    pass_lag,
    produce,
    serving,
)
from tests.oracle.differential.plain_log import end_of, load
from tests.oracle.differential.releases import in_old_format

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.schedule import Schedule
    from oracle.steps.step import Step


def new_cluster(schedule: Schedule, facts: dict[str, Any]) -> Cluster:
    """Return the partition after its creation, at rest."""
    first = schedule.replicas[0]
    facts = facts if stamps_epochs(schedule.settings.message_format_version) else in_old_format(facts)
    facts = facts if schedule.fetch_sessions else {**facts, "tells_once": False, "epoch_in_session": True}
    view = {"up": set(schedule.replicas), "leader": first, "epoch": 0, "isr": list(schedule.replicas), "elr": set()}
    view.update(index=[], last_known=None, elections=[0])
    cluster = {
        "facts": facts,
        "assigned": list(schedule.replicas),
        "min_isr": schedule.settings.min_insync_replicas,
        "unclean": schedule.settings.unclean_leader_election and facts["heeds_unclean_setting"],
        "lag": schedule.timing.value == "lag",
        "prompt": schedule.checkpointing.value == "prompt",
        "brokers": {broker: _new_broker(broker) for broker in schedule.replicas},
        "controller": view,
        "produced": {},
        "committed": set(),
        "holds": [],
        "late": [],
        "paused": set(),
        "isolated": set(),
        "met": set(),
    }
    _tell_brokers(cluster, before=None)
    settle(cluster)
    return cluster


def _new_broker(broker: int) -> dict[str, Any]:
    return {
        "id": broker,
        "up": True,
        "log": [],
        "cache": [],
        "high_watermark": 0,
        "checkpoint_file": 0,
        "clean": True,
        "unheard": [],
        **_no_role(),
    }


def _no_role() -> dict[str, Any]:
    role: dict[str, Any] = {
        "role": None,
        "leader": None,
        "epoch": -1,
        "epoch_start": 0,
        "isr": set(),
        "adding": set(),
        "known": {},
    }
    return {**role, "request": None, "session": None, "truncating": False, "fallback": 0, "stopped": False}


def _tell_brokers(cluster: Cluster, before: dict[str, Any] | None) -> None:
    """Send the controller's decision: the leader hears of a change, followers of a new epoch."""
    view = cluster["controller"]
    if view["leader"] is None:
        return
    changed = before is None or any(before[key] != view[key] for key in ("leader", "epoch", "isr", "elr"))
    for broker in sorted(cluster["brokers"].values(), key=lambda broker: broker["id"] != view["leader"]):
        is_news = changed if broker["id"] == view["leader"] else broker["epoch"] < view["epoch"]
        if is_news and broker["up"] and not _is_away(cluster, broker):
            broker["unheard"].append(deepcopy(view))
            _hear(cluster, broker)
        plain_gate.stands_at_controller(cluster, broker["id"], "update_metadata")


def _is_away(cluster: Cluster, broker: dict[str, Any]) -> bool:
    return broker["id"] in cluster["paused"] | cluster["isolated"]


def _hear(cluster: Cluster, broker: dict[str, Any]) -> None:
    """Let a broker obey what has arrived: each request in turn, or the metadata log as it is by then."""
    point = "controller_fetch_response" if cluster["facts"]["kraft"] else "leader_and_isr"
    if not broker["unheard"] or plain_gate.stands_at_controller(cluster, broker["id"], point):
        return
    heard = broker["unheard"][-1:] if cluster["facts"]["kraft"] else broker["unheard"]
    broker["unheard"] = []
    for view in heard:
        former = broker["leader"] if broker["role"] == "follower" else None
        if view["leader"] == broker["id"]:
            become_leader(cluster, broker, view)
        elif broker["epoch"] < view["epoch"]:
            become_follower(cluster, broker, view["leader"], view["epoch"])
        if former not in (None, broker["leader"]):
            _end_fetcher(cluster, broker["id"], former)


def _end_fetcher(cluster: Cluster, number: int, former: int) -> None:
    """shutdownIdleFetcherThreads: the connection closes, or the broker is stuck until its fetch is answered."""
    if plain_gate.close_connection(cluster, number, former) and not cluster["facts"]["closes_former_fetch"]:
        raise StepRefusedError(f"broker {number} waits for the answer of {former}")


def take(cluster: Cluster, step: Step) -> None:
    """Take one step and come to rest.

    Raises:
        StepRefusedError: if it is not possible, or assumes what is not so.
    """
    _do(cluster, step)
    settle(cluster)
    _check(cluster, step)


def _do(cluster: Cluster, step: Step) -> None:
    if isinstance(step, Produce):
        for label in step.records:
            produce(cluster, label, int(step.acks), step.leader)
            settle(cluster)
    elif isinstance(step, SendTo):
        produce(cluster, step.record, step.acks, step.broker)
    elif isinstance(step, Hold):
        plain_gate.arm(cluster, step)
    elif isinstance(step, ReleaseHold) and step.late:
        _deliver_late(cluster, step.name)
    elif isinstance(step, ReleaseHold | Close | Drop):
        plain_gate.let_go(cluster, step)
        for broker in cluster["brokers"].values():
            _hear(cluster, broker)
    elif isinstance(step, LoseTail | LoseCheckpoint):
        _forget(cluster, step)
    elif isinstance(step, AwaitLag):
        _let_lag_pass(cluster, set(step.followers))
    else:
        _do_to_brokers(cluster, step)


def _deliver_late(cluster: Cluster, name: str) -> None:
    """Let a leader read a fetch to which nobody waits for the answer."""
    late = plain_gate.take_late(cluster, name)
    sender, leader = cluster["brokers"][late["sender"]], cluster["brokers"][late["request"]["to"]]
    if late["is_old"] and cluster["facts"]["fences_broker_epoch"]:
        return
    if leader["role"] != "leader" or late["sender"] not in cluster["assigned"]:
        return
    before = {key: sender[key] for key in ("request", "stopped", "session")}
    handle_request(cluster, sender, late["request"])
    sender.update(before)
    if late["is_old"]:
        leader["known"][late["sender"]]["this_incarnation"] = False


def _do_to_brokers(cluster: Cluster, step: Step) -> None:
    if isinstance(step, Kill | Stop):
        _end_broker(cluster, step.broker, graceful=isinstance(step, Stop))
    elif isinstance(step, Start):
        _start_broker(cluster, step.broker)
    elif isinstance(step, Pause | Resume | Isolate | Rejoin):
        _leave_alone(cluster, step)
    elif isinstance(step, Elect) and not _decide(cluster, partial(election_asked_for, cluster, step.kind.value)):
        raise StepRefusedError("no such election")


def _end_broker(cluster: Cluster, number: int, *, graceful: bool) -> None:
    broker = cluster["brokers"][number]
    if not broker["up"]:
        raise StepRefusedError(f"broker {number} is down")
    if graceful and cluster["facts"]["cuts_to_high_watermark"] and _has_successor(cluster["controller"], number):
        load(broker, broker["high_watermark"])  # it follows its successor for a moment, and exits
    broker.update(_no_role(), up=False, clean=graceful, unheard=[])
    broker["checkpoint_file"] = broker["high_watermark"] if graceful else broker["checkpoint_file"]
    broker["high_watermark"] = broker["checkpoint_file"]
    load(broker, end_of(broker))
    plain_gate.forget_broker(cluster, number)
    for other in cluster["brokers"].values():
        if other["leader"] == number:
            other.update(request=None, session=None)
        if number in other["known"]:
            other["known"][number]["this_incarnation"] = False
    for record in cluster["produced"].values():
        if record["outcome"] is None and record["leader"] == number:
            record["outcome"] = "indeterminate"
    if graceful or not cluster["lag"]:
        view = cluster["controller"]
        led, others = view["leader"] == number, set(view["isr"]) & view["up"] - {number}
        _decide(cluster, partial(broker_gone, cluster, number))
        if graceful and led and others and cluster["facts"]["cuts_to_high_watermark"]:
            load(broker, broker["high_watermark"])  # it became a follower of its successor before it went


def _leave_alone(cluster: Cluster, step: Pause | Resume | Isolate | Rejoin) -> None:
    """Freeze a broker or cut it off until its session ends, or let it go on: it hears who leads by then."""
    number = step.broker
    if isinstance(step, Resume | Rejoin):
        cluster["paused"].discard(number)
        cluster["isolated"].discard(number)
        _decide(cluster, partial(broker_back, cluster, number, clean=True))
        return
    cluster["paused" if isinstance(step, Pause) else "isolated"].add(number)
    if isinstance(step, Isolate):
        cluster["brokers"][number].update(request=None, session=None)
        cluster["late"] = [one for one in cluster["late"] if number not in (one["sender"], one["request"]["to"])]
    _decide(cluster, partial(broker_gone, cluster, number))


def _give_up(cluster: Cluster, broker: dict[str, Any]) -> None:
    """System.exit and its shutdown hook, which in 0.10 gets as far as the closed ports: nothing is written."""
    on_file, hangs = broker["checkpoint_file"], cluster["facts"]["when_ahead"] == "hangs"
    _end_broker(cluster, broker["id"], graceful=True)
    if hangs:
        broker.update(hung=True, clean=False, checkpoint_file=on_file, high_watermark=on_file)


def _has_successor(view: dict[str, Any], leader: int) -> bool:
    return view["leader"] == leader and any(member in view["up"] for member in view["isr"] if member != leader)


def _start_broker(cluster: Cluster, number: int) -> None:
    broker = cluster["brokers"][number]
    if broker["up"]:
        raise StepRefusedError(f"broker {number} runs")
    if number in cluster["controller"]["up"]:
        raise StepRefusedError(f"broker {number} is registered still")
    if broker.get("hung") and cluster["lag"]:
        raise StepRefusedError(f"broker {number} has its session still")
    plain_gate.age(cluster, number)
    broker.update(up=True, hung=False)
    _decide(cluster, partial(broker_back, cluster, number, clean=broker["clean"]))


def _decide(cluster: Cluster, react: Callable[[], object]) -> object:
    """Let the controller react, and tell the brokers what it has decided."""
    before = deepcopy(cluster["controller"])
    result = react()
    _tell_brokers(cluster, before)
    return result


def _forget(cluster: Cluster, step: LoseTail | LoseCheckpoint) -> None:
    """Lose the end of a dead broker's log, or its high watermark."""
    broker = cluster["brokers"][step.broker]
    if broker["up"] or (isinstance(step, LoseTail) and step.offset >= end_of(broker)):
        raise StepRefusedError("nothing to lose")
    if isinstance(step, LoseTail):
        load(broker, step.offset)
        broker["clean"] = False
    else:
        broker.update(high_watermark=0, checkpoint_file=0)


def _let_lag_pass(cluster: Cluster, named: set[int]) -> None:
    """Let the lag time pass; the step names the followers that are silent meanwhile."""
    leader = serving(cluster)
    silent = [broker for broker in cluster["assigned"] if leader and _is_silent(cluster, broker)]
    if leader is None or set(silent) != named:
        raise StepRefusedError(f"silent are {silent}")
    before = deepcopy(cluster["controller"])
    pass_lag(cluster, silent)
    if before["epoch"] != cluster["controller"]["epoch"]:
        _tell_brokers(cluster, before)


def _is_silent(cluster: Cluster, number: int) -> bool:
    broker, leader = cluster["brokers"][number], cluster["controller"]["leader"]
    is_idle = broker["stopped"] or (cluster["facts"]["asks"] and broker["truncating"])
    follows = broker["up"] and broker["role"] == "follower" and broker["leader"] == leader
    return number != leader and (not follows or is_idle or plain_gate.is_blocked(cluster, broker))


def settle(cluster: Cluster) -> None:
    """Run everything that no hold blocks until nothing changes."""
    while True:
        before = deepcopy(cluster)
        commit_joins(cluster)
        for stage in (_wake, _hand_over, _send, _reach_leader, _hand_over):
            for broker in list(cluster["brokers"].values()):
                is_idle = stage in (_hand_over, _send) and _is_away(cluster, broker)
                if _follows(cluster, broker) and not is_idle:
                    stage(cluster, broker)
        for broker in cluster["brokers"].values():
            if cluster["prompt"] and broker["up"] and broker["id"] not in cluster["paused"]:
                broker["checkpoint_file"] = broker["high_watermark"]
        if cluster == before:
            return


def _follows(cluster: Cluster, broker: dict[str, Any]) -> bool:
    return broker["up"] and broker["role"] == "follower" and not plain_gate.is_blocked(cluster, broker)


def _is_at(broker: dict[str, Any], place: str) -> bool:
    return broker["request"] is not None and broker["request"]["at"] == place


def _wake(cluster: Cluster, broker: dict[str, Any]) -> None:
    if _is_at(broker, "parked"):
        complete_parked(cluster, broker, broker["request"])


def _hand_over(cluster: Cluster, broker: dict[str, Any]) -> None:
    if _is_at(broker, "to follower") and not plain_gate.answer_is_caught(cluster, broker):
        take_answer(cluster, broker)
        if broker["stopped"] and cluster["facts"]["when_ahead"] != "cuts":
            _give_up(cluster, broker)


def _send(cluster: Cluster, broker: dict[str, Any]) -> None:
    leader = serving(cluster)
    is_idle = broker["request"] is None and not broker["stopped"]
    if is_idle and leader is not None and leader["id"] == broker["leader"]:
        next_request(cluster, broker)
        plain_gate.request_passes(cluster, broker)


def _reach_leader(cluster: Cluster, broker: dict[str, Any]) -> None:
    if _is_at(broker, "to leader") and handle_request(cluster, broker, broker["request"]):
        plain_gate.request_forwarded(cluster, broker)


def _check(cluster: Cluster, step: Step) -> None:
    """Refuse a step whose assumption is not so; produces that are waited for time out."""
    view = cluster["controller"]
    if isinstance(step, AwaitHold):
        hold = plain_gate.find(cluster, step.name)
        if hold is None or not hold["caught"]:
            raise StepRefusedError(f"{step.name} has caught nothing")
    elif isinstance(step, AwaitLeader) and step.leader != view["leader"]:
        raise StepRefusedError("another leader")
    elif isinstance(step, AwaitIsr) and sorted(step.isr) != sorted(view["isr"]):
        raise StepRefusedError("another ISR")
    elif isinstance(step, Produce | AwaitOutcome):
        _check_outcomes(cluster, step)
    elif isinstance(step, SendTo):
        _time_out(cluster["produced"][step.record])


def _time_out(record: dict[str, Any]) -> None:
    if record["outcome"] is None:
        record.update(outcome="indeterminate", error="REQUEST_TIMED_OUT")


def _check_outcomes(cluster: Cluster, step: Produce | AwaitOutcome) -> None:
    waits = isinstance(step, AwaitOutcome) or step.expect.value not in ("pending", "any")
    for label in step.records:
        record = cluster["produced"][label]
        if waits:
            _time_out(record)
        actual = record["outcome"] or "pending"
        if step.expect.value not in ("any", actual) or (
            step.expect.value != "any" and step.error not in (None, record["error"])
        ):
            raise StepRefusedError(f"{label} is {actual}")
