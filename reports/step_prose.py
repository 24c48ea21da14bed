"""How does a step read? As a sentence for the list, and as two or three words for the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Arguments = Mapping[str, Any]

_MAIN_FIELD = {
    "await_hold": "name",
    "release": "name",
    "drop": "name",
    "close": "name",
    "kill": "broker",
    "kill_together": "brokers",
    "pause": "broker",
    "resume": "broker",
    "isolate": "broker",
    "rejoin": "broker",
    "add_partitions": "count",
    "delete_records": "offset",
    "create_topic": "name",
    "delete_topic": "name",
    "stop": "broker",
    "start": "broker",
    "elect": "kind",
    "reassign": "replicas",
    "await_leader": "leader",
    "await_isr": "isr",
    "await_lag": "followers",
    "lose_checkpoint": "broker",
    "await_outcome": "records",
    "produce": "records",
    "checkpoint": "name",
}


def arguments_of(verb: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a step's arguments by name, whether it was written short (``kill: 2``) or in full."""
    if isinstance(value, dict):
        return value
    return {_MAIN_FIELD.get(verb, "value"): value}


def frame_words(point: str, fetch_offset: object = None) -> str:
    """Name the frame a protocol point stands for, such as ``FETCH(2) response``."""
    if point.startswith("fetch_"):
        offset = "" if fetch_offset is None else f"({fetch_offset})"
        return f"FETCH{offset} {point.removeprefix('fetch_')}"
    if point.startswith("controller_fetch_"):
        return f"metadata FETCH {point.removeprefix('controller_fetch_')}"
    head, _, direction = point.rpartition("_")
    if direction in {"request", "response"}:
        return f"{_camel(head)} {direction}"
    return _camel(point)


def acks_words(acks: object) -> str:
    """Return acks as a producer's setting spells it: 0, 1 or all."""
    return "all" if str(acks) in {"-1", "all", "None"} else str(acks)


def short_words(verb: str, arguments: Arguments) -> str:
    """Return the two or three words that stand over the step's column in the picture."""
    writer = _SHORT.get(verb)
    return writer(arguments) if writer else verb.replace("_", " ")


def prose(verb: str, arguments: Arguments) -> str:
    """Return the step as one sentence."""
    writer = _PROSE.get(verb)
    if writer:
        return writer(arguments)
    listed = ", ".join(f"{name} {value}" for name, value in arguments.items())
    return f"{verb.replace('_', ' ').capitalize()}: {listed}."


def listed(values: object) -> str:
    """Return one value or several as words."""
    if isinstance(values, list | tuple):
        return ", ".join(str(value) for value in values)
    return str(values)


def _camel(words: str) -> str:
    return "".join(word.capitalize() for word in words.split("_"))


def _to(step: Arguments, word: str) -> str:
    """Say to which broker records go, where the schedule sends them past the controller's leader."""
    return "" if step.get("leader") is None else f" {word} {step['leader']}"


def _produce(step: Arguments) -> str:
    what = f"{listed(step.get('records', ''))}{_to(step, 'to broker')}"
    sentence = f"Produce {what} with acks={acks_words(step.get('acks', 'all'))}"
    expect = str(step.get("expect", "acknowledged"))
    error = f" with {step['error']}" if step.get("error") else ""
    if expect == "pending":
        return f"{sentence} and do not wait for the outcome."
    if expect == "any":
        return f"{sentence}; any outcome will do."
    return f"{sentence}; the producer must see it {expect}{error}."


def _await_outcome(step: Arguments) -> str:
    expect = str(step.get("expect", "any"))
    end = "" if expect == "any" else f", which must be {expect}"
    return f"Wait for the outcome of {listed(step.get('records', ''))}{end}."


def _link_words(step: Arguments) -> str:
    frame = frame_words(str(step.get("point", "")), step.get("fetch_offset"))
    nth = int(step.get("nth") or 1)
    which = "next" if nth == 1 else f"{nth}th next"
    if step.get("broker") is not None:
        return f"the {which} {frame} between broker {step['broker']} and the controller"
    return f"the {which} {frame} between follower {step.get('follower')} and leader {step.get('leader')}"


def _link(step: Arguments) -> str:
    return f"the link by which broker {step.get('from')} fetches from broker {step.get('to')}"


def _await_leader(step: Arguments) -> str:
    leader = step.get("leader")
    if leader in {None, "none"}:
        return "Wait until the partition has no leader."
    return f"Wait until broker {leader} leads."


def _await_lag(step: Arguments) -> str:
    followers = step.get("followers") or ()
    if not followers:
        return "Let the lag time pass while everybody fetches."
    return f"Let the lag time pass without a fetch of {_brokers(followers)}."


def _settings(step: Arguments) -> str:
    names = ("min.insync.replicas", "unclean.leader.election.enable")
    return " and ".join(f"{name} to {str(step[name]).lower()}" for name in names if name in step)


def _brokers(brokers: object) -> str:
    named = listed(brokers)
    return f"brokers {' and '.join(named.rsplit(', ', 1))}" if ", " in named else f"broker {named}"


def _of(step: Arguments) -> str:
    """Say which broker is asked."""
    return "the leader" if step.get("broker") is None else f"broker {step['broker']}"


def _offset_asked_for(step: Arguments) -> str:
    if step.get("timestamp_of") is not None:
        return f"first offset not older than {step['timestamp_of']}"
    return f"{step.get('spec')} offset"


def _in_version(step: Arguments, request: str) -> str:
    return "" if step.get("version") is None else f", in {request} {step['version']}"


def _end_offset_of_epoch(step: Arguments) -> str:
    claim = "" if step.get("current") is None else f", claiming that leadership {step['current']} is the current one"
    version = _in_version(step, "OffsetsForLeaderEpoch")
    return f"Ask {_of(step)} where the epoch of leadership {step.get('leadership')} ends{claim}{version}."


def _elect(step: Arguments) -> str:
    kind = step.get("kind")
    who = {"preferred": ": the first assigned replica", "unclean": ": any replica that is up"}.get(str(kind), "")
    return f"Ask the controller for the {kind} leader election{who}."


_PROSE: dict[str, Callable[[Arguments], str]] = {
    "produce": _produce,
    "await_outcome": _await_outcome,
    "hold": lambda step: f"Arm the hold “{step.get('name')}”: freeze {_link_words(step)}.",
    "delay": lambda step: f"Delay {_link_words(step)} by {step.get('delay_ms')} ms.",
    "await_hold": lambda step: f"Wait until the hold “{step.get('name')}” has caught its frame.",
    "release": lambda step: f"Release the frame held by “{step.get('name')}”, unchanged.",
    "drop": lambda step: f"Throw away the frame held by “{step.get('name')}”.",
    "close": lambda step: f"Throw away the frame held by “{step.get('name')}” and abort its connection.",
    "kill": lambda step: f"Kill broker {step.get('broker')} (kill -9).",
    "kill_together": lambda step: f"Kill {_brokers(step.get('brokers', ()))} at once (kill -9).",
    "stop": lambda step: f"Stop broker {step.get('broker')} gracefully.",
    "start": lambda step: f"Start broker {step.get('broker')} again with the same files.",
    "pause": lambda step: f"Pause broker {step.get('broker')} (SIGSTOP): it neither fetches, serves nor hears.",
    "resume": lambda step: f"Let broker {step.get('broker')} go on (SIGCONT).",
    "cut": lambda step: f"Cut {_link(step)}.",
    "heal": lambda step: f"Heal {_link(step)}.",
    "isolate": lambda step: f"Cut broker {step.get('broker')} off from all other nodes; clients still reach it.",
    "rejoin": lambda step: f"Let the links of broker {step.get('broker')} work again.",
    "elect": _elect,
    "alter": lambda step: f"Set {_settings(step)}.",
    "reassign": lambda step: f"Move the partition to {_brokers(step.get('replicas', ()))}.",
    "delete_records": lambda step: f"Delete the records before offset {step.get('offset')}.",
    "add_partitions": lambda step: f"Give the topic {step.get('count')} partitions; the new ones stay empty.",
    "create_topic": lambda step: f"Create another topic, {step.get('name')}.",
    "delete_topic": lambda step: f"Delete the other topic, {step.get('name')}.",
    "await_leader": _await_leader,
    "await_isr": lambda step: f"Wait until the in-sync replicas are {listed(step.get('isr', ''))}.",
    "await_lag": _await_lag,
    "lose_tail": lambda step: (
        f"The disk of broker {step.get('broker')} forgets offset {step.get('offset')} and beyond."
    ),
    "lose_checkpoint": lambda step: f"The disk of broker {step.get('broker')} forgets the high watermark.",
    "checkpoint": lambda step: f"Checkpoint: {step.get('name')}.",
    "consume": lambda step: (
        f"Consume from {_of(step)} from offset {step.get('offset', 0)} on{_in_version(step, 'Fetch')}."
    ),
    "list_offsets": lambda step: (
        f"Ask {_of(step)} for the {_offset_asked_for(step)}{_in_version(step, 'ListOffsets')}."
    ),
    "end_offset_of_epoch": _end_offset_of_epoch,
    "send_to": lambda step: f"Send {step.get('record')} to {_of(step)} with acks={step.get('acks', -1)}.",
}

_SHORT: dict[str, Callable[[Arguments], str]] = {
    "produce": lambda step: f"produce {listed(step.get('records', ''))}{_to(step, 'to')}",
    "await_outcome": lambda step: f"await {listed(step.get('records', ''))}",
    "hold": lambda step: f"hold {step.get('name')}",
    "delay": lambda step: f"delay {step.get('delay_ms')} ms",
    "await_hold": lambda step: f"await {step.get('name')}",
    "release": lambda step: f"release {step.get('name')}",
    "drop": lambda step: f"drop {step.get('name')}",
    "close": lambda step: f"close {step.get('name')}",
    "kill": lambda step: f"kill {step.get('broker')}",
    "kill_together": lambda step: f"kill {listed(step.get('brokers', ()))}",
    "stop": lambda step: f"stop {step.get('broker')}",
    "start": lambda step: f"start {step.get('broker')}",
    "pause": lambda step: f"pause {step.get('broker')}",
    "resume": lambda step: f"resume {step.get('broker')}",
    "cut": lambda step: f"cut {step.get('from')} from {step.get('to')}",
    "heal": lambda step: f"heal {step.get('from')} to {step.get('to')}",
    "isolate": lambda step: f"isolate {step.get('broker')}",
    "rejoin": lambda step: f"rejoin {step.get('broker')}",
    "elect": lambda step: f"elect {step.get('kind')}",
    "alter": lambda step: f"set {_settings(step)}",
    "reassign": lambda step: f"reassign to {listed(step.get('replicas', ''))}",
    "delete_records": lambda step: f"delete before {step.get('offset')}",
    "add_partitions": lambda step: f"{step.get('count')} partitions",
    "create_topic": lambda step: f"create {step.get('name')}",
    "delete_topic": lambda step: f"delete {step.get('name')}",
    "await_leader": lambda step: f"await leader {step.get('leader') or 'none'}",
    "await_isr": lambda step: f"await ISR {listed(step.get('isr', ''))}",
    "await_lag": lambda step: f"lag of {listed(step.get('followers', ()))}",
    "lose_tail": lambda step: f"lose {step.get('offset')} on, broker {step.get('broker')}",
    "lose_checkpoint": lambda step: f"lose HW, broker {step.get('broker')}",
    "checkpoint": lambda _: "checkpoint",
    "consume": lambda step: f"consume {step.get('broker') or 'leader'}",
    "list_offsets": lambda step: f"{step.get('spec')} offset?",
    "end_offset_of_epoch": lambda step: f"end of epoch {step.get('leadership')}?",
    "send_to": lambda step: f"{step.get('record')} to {step.get('broker')}",
}
