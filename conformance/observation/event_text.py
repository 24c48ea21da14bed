"""What does an event say, in one line for a person?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.error_codes import error_name
from oracle.tracing.observed import (
    Acknowledged,
    BrokerEnded,
    BrokerStarted,
    CheckpointLost,
    Event,
    FetchAnswered,
    FetchDelivered,
    FetchReceived,
    FetchSent,
    IsrAnnounced,
    IsrAnswered,
    IsrDelivered,
    IsrProposed,
    LeadershipApplied,
    LeadershipHeard,
    LookupAnswered,
    LookupDelivered,
    LookupReceived,
    LookupSent,
    MinIsrSet,
    ObservedEpochRun,
    Refused,
    ReplicaMeasured,
    ReplicaStopped,
    TailLost,
)
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterable


def event_text(event: Event) -> str:
    """Return what an event says; what belongs to a request before it is indented."""
    return _asking(event) or _answering(event) or _deciding(event) or _outside(event)


def _asking(event: Event) -> str | None:
    match event:
        case FetchSent():
            epochs = _given(("epoch", event.current_leader_epoch), ("last fetched epoch", event.last_fetched_epoch))
            return f"broker {event.follower} fetches at broker {event.leader} from offset {event.fetch_offset}{epochs}"
        case LookupSent():
            epochs = _given(("its epoch", event.current_leader_epoch))
            return f"broker {event.follower} asks broker {event.leader} where epoch {event.epoch} ends{epochs}"
        case IsrProposed():
            where = f"epoch {event.leader_epoch}, partition epoch {event.partition_epoch}"
            return f"broker {event.leader} proposes the ISR {_brokers(event.isr)} ({where})"
        case FetchReceived() | LookupReceived():
            return "  the leader has the request"
        case _:
            return None


def _answering(event: Event) -> str | None:
    match event:
        case FetchAnswered():
            return f"  the leader answers: {answer_text(event)}"
        case LookupAnswered():
            return f"  the leader answers: {_end_text(event)}"
        case IsrAnswered():
            return f"  the controller answers: {_committed(event)}"
        case FetchDelivered() | LookupDelivered():
            return "  the follower has the answer"
        case IsrDelivered():
            return "  the leader has the answer"
        case _:
            return None


def _deciding(event: Event) -> str | None:
    match event:
        case LeadershipHeard():
            return f"broker {event.broker} hears: {_state(event)}"
        case LeadershipApplied():
            done = f"refuses it: {error_name(event.error)}" if event.error else "has done so"
            return f"  broker {event.broker} {done}"
        case ReplicaStopped():
            return f"broker {event.broker} is told to {'delete' if event.is_deleted else 'stop'} its replica"
        case IsrAnnounced():
            return f"the controller announces: {_state(event)}"
        case _:
            return None


def _outside(event: Event) -> str:
    match event:
        case BrokerEnded():
            return f"broker {event.broker} {'shut down' if event.clean else 'was killed'}"
        case BrokerStarted():
            return f"broker {event.broker} lives again"
        case TailLost():
            return f"broker {event.broker}'s disk lost its log from offset {event.offset} on"
        case CheckpointLost():
            return f"broker {event.broker}'s disk lost its high watermark checkpoint"
        case MinIsrSet():
            return f"min.insync.replicas is {event.min_insync_replicas}"
        case Acknowledged():
            where = "" if event.base_offset is None else f" {_offsets(event.base_offset, event.last_offset)}"
            return f"a producer's record is acknowledged{where} ({_acks(event.acks)})"
        case Refused():
            return f"a producer is told {event.error} ({_acks(event.acks)})"
        case ReplicaMeasured():
            numbers = f"log end offset {event.log_end_offset}, high watermark {event.high_watermark}"
            return f"broker {event.broker} measured: {numbers}"
        case _:
            return type(event).__name__


def answer_text(answer: FetchAnswered) -> str:
    """Return what the answer to a fetch gives."""
    if answer.error:
        return error_name(answer.error)
    parts = [f"high watermark {answer.high_watermark}"]
    if answer.diverging_epoch is not None:
        end = answer.diverging_epoch
        parts.append(f"the logs diverge, epoch {end.leader_epoch} ends at {end.end_offset}")
    parts += [_run(run) for run in answer.runs]
    if not answer.is_listed:
        parts.append("left out, nothing changed")
    return ", ".join(parts)


def _run(run: ObservedEpochRun) -> str:
    epoch = "" if run.leader_epoch is None else f" of epoch {run.leader_epoch}"
    return f"records {_offsets(run.first_offset, run.last_offset)}{epoch}"


def _end_text(answer: LookupAnswered) -> str:
    if answer.error:
        return error_name(answer.error)
    epoch = "it" if answer.end.leader_epoch is None else f"epoch {answer.end.leader_epoch}"
    end_offset = answer.end.end_offset
    return "it does not know" if end_offset is None else f"{epoch} ends at {end_offset}"


def _state(told: LeadershipHeard | IsrAnnounced) -> str:
    leader = "nobody leads" if told.leader is None else f"broker {told.leader} leads"
    version = "" if told.partition_epoch is None else f", partition epoch {told.partition_epoch}"
    return f"{leader}, epoch {told.leader_epoch}, ISR {_brokers(told.isr)}{version}"


def _committed(answer: IsrAnswered) -> str:
    if answer.error:
        return error_name(answer.error)
    return f"ISR {_brokers(answer.isr)}, epoch {answer.leader_epoch}, partition epoch {answer.partition_epoch}"


def _brokers(brokers: Iterable[int]) -> str:
    return f"[{', '.join(map(str, brokers))}]"


def _offsets(first: int, last: int | None) -> str:
    return f"at {first}" if last is None or last == first else f"at {first} to {last}"


def _acks(acks: Acks) -> str:
    return "acks=all" if acks is Acks.ALL else f"acks={int(acks)}"


def _given(*epochs: tuple[str, int | None]) -> str:
    known = [f"{name} {epoch}" for name, epoch in epochs if epoch is not None]
    return f" ({', '.join(known)})" if known else ""
