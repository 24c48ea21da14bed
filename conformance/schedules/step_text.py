"""How does a step read in words? One sentence per step, for progress lines, explain and reports."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from oracle.asking import asked_words
from oracle.steps import (
    AddPartitions,
    Alter,
    AwaitHold,
    AwaitIsr,
    AwaitLag,
    AwaitLeader,
    AwaitOutcome,
    Checkpoint,
    Close,
    Consume,
    CreateTopic,
    Cut,
    Delay,
    DeleteRecords,
    DeleteTopic,
    Drop,
    Elect,
    EndOffsetOfEpoch,
    Heal,
    Hold,
    Isolate,
    Kill,
    KillTogether,
    ListOffsets,
    LoseCheckpoint,
    LoseTail,
    Pause,
    Produce,
    Reassign,
    Rejoin,
    Release,
    Resume,
    SendTo,
    Start,
    Stop,
)
from oracle.vocabulary import Acks, Expectation

if TYPE_CHECKING:
    from oracle.steps import Step


def describe(step: Step) -> str:  # noqa: C901, PLR0912 - one case per step
    """Return a step in words."""
    match step:
        case Produce():
            return _produce(step)
        case AwaitOutcome(records, expect):
            return f"collect the outcome of {', '.join(records)}" + _expected(expect, step.error)
        case Consume() | ListOffsets() | EndOffsetOfEpoch() | SendTo():
            return asked_words(step)
        case Hold():
            return f"hold {_held(step)} as {step.name!r}"
        case Delay(delay_ms=delay_ms):
            return f"delay the next {_frame(step)} by {delay_ms} ms"
        case Elect(kind):
            return f"ask for the {kind.value} leader election"
        case Alter():
            return f"set {_settings(step)}"
        case LoseTail(broker, offset):
            return f"lose the log of broker {broker} from offset {offset} on"
        case Cut(follower, leader):
            return f"cut the link by which broker {follower} fetches from broker {leader}"
        case Heal(follower, leader):
            return f"heal the link by which broker {follower} fetches from broker {leader}"
        case AwaitLeader(None):
            return "wait until there is no leader"
        case AwaitIsr(isr):
            return f"wait until the ISR is {{{', '.join(str(broker) for broker in isr)}}}"
        case Reassign(brokers) | KillTogether(brokers) | AwaitLag(brokers):
            return _WORDS[type(step)].format(_brokers(brokers))
        case _:
            return _WORDS[type(step)].format(getattr(step, fields(step)[0].name))


_WORDS: dict[type[Step], str] = {
    AwaitHold: "wait until {!r} has caught its frame",
    Release: "release {!r}",
    Drop: "drop {!r}",
    Close: "close the connection of {!r}",
    Kill: "kill broker {} (kill -9)",
    KillTogether: "kill {} at once (kill -9)",
    Stop: "stop broker {} gracefully",
    Start: "start broker {}",
    Pause: "pause broker {} (SIGSTOP)",
    Resume: "resume broker {}",
    Isolate: "cut broker {} off from all other nodes",
    Rejoin: "let broker {} rejoin",
    Reassign: "move the partition to {}",
    DeleteRecords: "delete the records before offset {}",
    AddPartitions: "give the topic {} partitions",
    CreateTopic: "create another topic {!r}",
    DeleteTopic: "delete the other topic {!r}",
    AwaitLeader: "wait until broker {} leads",
    AwaitLag: "let the lag time pass without fetches of {}",
    LoseCheckpoint: "lose the high watermark checkpoint of broker {}",
    Checkpoint: "checkpoint: {}",
}
"""The steps that are about one thing."""


def _settings(step: Alter) -> str:
    minimum, unclean = step.min_insync_replicas, step.unclean_leader_election
    words = [] if minimum is None else [f"min.insync.replicas to {minimum}"]
    words += [] if unclean is None else [f"unclean.leader.election.enable to {str(unclean).lower()}"]
    return " and ".join(words)


def _brokers(brokers: tuple[int, ...]) -> str:
    return ", ".join(f"broker {broker}" for broker in brokers) or "nobody"


def _produce(step: Produce) -> str:
    acks = "all" if step.acks is Acks.ALL else str(int(step.acks))
    to = "" if step.leader is None else f" to broker {step.leader}"
    return f"produce {', '.join(step.records)}{to} with acks={acks}" + _expected(step.expect, step.error)


def _expected(expect: Expectation, error: str | None) -> str:
    if expect is Expectation.ANY:
        return ""
    return f", expected {expect.value}" + (f" ({error})" if error else "")


def _held(step: Hold) -> str:
    if step.broker is None:
        return f"the next {_frame(step)}"
    return f"the next {step.point.value.replace('_', ' ')} between broker {step.broker} and the controller"


def _frame(step: Hold | Delay) -> str:
    words = step.point.value.replace("_", " ").replace("fetch", "FETCH")
    words = words.replace("offsets for leader epoch", "OffsetsForLeaderEpoch")
    offset = "" if step.fetch_offset is None else f" at fetch offset {step.fetch_offset}"
    nth = "" if step.nth == 1 else f" (the {step.nth}th)"
    return f"{words} of broker {step.follower} at leader {step.leader}{offset}{nth}"
