"""How does a ledger begin? With a look at cluster and topic; one that was not created here is not changed."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.attach.java_pem import refuse_what_java_does_not_read
from conformance.attach.watching import PATIENCE_S
from conformance.clients.client_settings import ClientSettings
from conformance.clients.connecting import connected
from conformance.clients.ledger_load import DELIVERY_TIMEOUT_S, LedgerLoad
from conformance.clients.records import VALUE_LENGTH_DEFAULT
from conformance.clients.topics import TopicError, create_where_brokers_like
from conformance.probes.topic_of_clients import EARLIEST, NotAnsweredError, TopicOfClients
from conformance.record.attached import (
    ATTACH_FILE,
    IDS_MAX,
    SETTINGS_FILE,
    WATCHED_FILE,
    Attached,
    append_lines,
)
from conformance.record.directory import RunDirectory, RunDirectoryError, slug
from fault_injection.releases import UsageError
from fault_injection.waiting import DeadlineExceededError, NotYetError, until
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from conformance.probes.topic_of_clients import TopicSeenByClients

OWN = "kafka-conformance-"
"""What the name of a topic begins with that is created here."""
OWN_SETTINGS = {
    "cleanup.policy": "delete",
    "min.insync.replicas": "2",
    "retention.bytes": "-1",
    "retention.ms": "-1",
    "unclean.leader.election.enable": "false",
}
"""Explicit, so that no default of the cluster decides about a created topic."""
_MAY_BE_DONE = frozenset({None, "_TIMED_OUT", "REQUEST_TIMED_OUT"})
"""What is told of a request that a controller may have taken all the same."""
KNOWN_S = 30.0
ASKED_EVERY_S = 0.25
SETTLE_S = 60.0


@dataclass(frozen=True, slots=True)
class NewTopicAsked:
    """A topic to create: its partitions, replicas, and settings beside ``OWN_SETTINGS``."""

    partitions: int = 6
    replicas: int = 3
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LedgerOptions:
    """What a ledger is to do.

    Attributes:
        bootstrap: ``host:port`` of brokers.
        topic: its name; of one to create without ``OWN``.
        creates: the topic to create; None writes to one that is there.
        records: how many; None until it is ended.
        rate: records a second; None as fast as the cluster takes them.
        is_idempotent: None says yes with acks=all where the release has it.
        beside_others: whether the topic may have records of others.
        seed: of the record ids; None takes a new one.
    """

    bootstrap: tuple[str, ...]
    topic: str
    client: ClientSettings = field(default_factory=ClientSettings)
    creates: NewTopicAsked | None = None
    records: int | None = None
    rate: int | None = 1000
    acks: Acks = Acks.ALL
    is_idempotent: bool | None = None
    value_length: int = VALUE_LENGTH_DEFAULT
    beside_others: bool = False
    delivery_timeout_s: float = DELIVERY_TIMEOUT_S
    settle_s: float = SETTLE_S
    seed: int | None = None


def begin(options: LedgerOptions, runs: Path) -> tuple[RunDirectory, Attached]:
    """Look at cluster and topic, create the topic if it is to be, and the directory; no record is sent yet.

    Raises:
        UsageError: they do not go together; a topic that is there was not written to, and of one that was created and
            is left the message says so.
    """
    _refuse(options)
    with connected(options.bootstrap, options.client, PATIENCE_S) as manager:
        topic = TopicOfClients(manager, topic_of(options))
        try:
            is_idempotent = _is_idempotent(topic, options)
            if options.creates:
                _create(options)
                with _told_if_left(options):
                    return _begun(topic, _known(topic, options.creates), runs, options, is_idempotent=is_idempotent)
            return _begun(topic, _there(topic, options), runs, options, is_idempotent=is_idempotent)
        except NotAnsweredError as error:
            raise UsageError(f"topic {topic_of(options)} cannot be looked at: {error}") from error


def _begun(
    topic: TopicOfClients, seen: TopicSeenByClients, runs: Path, options: LedgerOptions, *, is_idempotent: bool
) -> tuple[RunDirectory, Attached]:
    attached = _attached(topic, seen, options, is_idempotent=is_idempotent)
    settings = topic.settings()
    _refuse_compacted(settings.values, attached.topic)
    name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-attach-{slug(attached.topic)}"
    run = RunDirectory.create(runs, name, parts=("ledger", "reconciliation"))
    run.write(ATTACH_FILE, attached)
    append_lines(run, SETTINGS_FILE, [settings])
    append_lines(run, WATCHED_FILE, seen.partitions)
    return run, attached


@contextmanager
def _told_if_left(options: LedgerOptions) -> Iterator[None]:
    """Say of a topic that was just created that it is there, if nothing comes of its ledger."""
    try:
        yield
    except (NotAnsweredError, DeadlineExceededError, UsageError, RunDirectoryError, OSError) as error:
        why = str(error).rstrip(".")
        raise UsageError(
            f"topic {topic_of(options)} was created, and not written to: {why}; delete it yourself."
        ) from error


def _refuse(options: LedgerOptions) -> None:
    """Refuse what cannot go well before anything is done to the cluster."""
    if options.is_idempotent and options.acks is not Acks.ALL:
        raise UsageError("--idempotence on needs --acks all: brokers refuse it otherwise.")
    if options.creates is not None:
        _refuse_compacted(options.creates.settings, topic_of(options))
    refuse_what_java_does_not_read(options.client)


def settings_of(asked: NewTopicAsked) -> dict[str, str]:
    """Return every setting that a topic is created with."""
    return {**OWN_SETTINGS, "min.insync.replicas": str(max(1, min(2, asked.replicas - 1))), **asked.settings}


def topic_of(options: LedgerOptions) -> str:
    """Return the name of the topic that is written to."""
    return f"{OWN}{options.topic}" if options.creates else options.topic


def _create(options: LedgerOptions) -> None:
    asked, name = options.creates or NewTopicAsked(), topic_of(options)
    settings = settings_of(asked)
    try:
        create_where_brokers_like(connection_of(options), name, asked.partitions, asked.replicas, settings)
    except TopicError as error:
        hint = f": --topic {name} writes to the one that is there" if error.error == "TOPIC_ALREADY_EXISTS" else ""
        if error.error in _MAY_BE_DONE:
            hint = "; it may be there all the same: delete it yourself"
        raise UsageError(f"{error}{hint}") from error


def _known(topic: TopicOfClients, asked: NewTopicAsked) -> TopicSeenByClients:
    """Wait until each partition has a leader that answers; a broker that does not answer is asked again.

    Raises:
        DeadlineExceededError: some partition has none.
    """

    def known() -> TopicSeenByClients | None:
        seen = _seen(topic)
        is_led = seen is not None and all(one.leader is not None for one in seen.partitions)
        return seen if is_led and seen and len(topic.offsets(seen.partitions)) == asked.partitions else None

    return until(known, deadline_s=KNOWN_S, what="each of its partitions has a leader that answers")


def _seen(topic: TopicOfClients) -> TopicSeenByClients | None:
    """Return what brokers say of a topic; to be asked again if none answers."""
    try:
        return topic.seen()
    except NotAnsweredError as error:
        raise NotYetError(str(error)) from error


def _there(topic: TopicOfClients, options: LedgerOptions) -> TopicSeenByClients:
    seen = topic.seen()
    if seen is None:
        raise UsageError(f"--topic {options.topic}: there is no such topic; --create {options.topic} makes one.")
    if leaderless := [str(one.partition) for one in seen.partitions if one.leader is None]:
        raise UsageError(f"--topic {options.topic}: partition {', '.join(leaderless)} has no leader.")
    return seen


def _answered(
    topic: TopicOfClients, seen: TopicSeenByClients
) -> tuple[TopicSeenByClients, dict[int, int], dict[int, int]]:
    """Return a topic, and the high watermark and the log start offset of each partition, once all leaders tell them.

    One that was seen may have been followed by another since, which is not asked by the epoch of the first (KIP-320).

    Raises:
        NotAnsweredError: one does not.
    """

    def answered() -> tuple[TopicSeenByClients, dict[int, int], dict[int, int]]:
        now = _seen(topic)
        if now is None or len(now.partitions) < len(seen.partitions):
            raise NotYetError("the topic is not there any more, or has fewer partitions")
        starts, firsts = topic.offsets(now.partitions), topic.offsets(now.partitions, EARLIEST)
        told = starts.keys() & firsts.keys()
        if silent := [one.partition for one in now.partitions if one.partition not in told]:
            raise NotYetError(f"the leader of partition {silent[0]} does not answer")
        return now, starts, firsts

    try:
        return until(answered, deadline_s=KNOWN_S, what="every leader to answer", interval_s=ASKED_EVERY_S)
    except DeadlineExceededError as error:
        raise NotAnsweredError(str(error.last_seen)) from error


def _attached(
    topic: TopicOfClients, seen: TopicSeenByClients, options: LedgerOptions, *, is_idempotent: bool
) -> Attached:
    seen, starts, firsts = _answered(topic, seen)
    count = len(seen.partitions)
    others = sum(starts.values()) - sum(firsts.values())
    if others and not options.beside_others:
        message = f"--topic {options.topic} has some {others:,} records of others: --beside-others counts them apart"
        raise UsageError(f"{message}, or --create NAME makes a topic for this alone.")
    seed = random.SystemRandom().randrange(1, 2**31) if options.seed is None else options.seed
    return Attached(
        bootstrap=",".join(options.bootstrap),
        topic=topic_of(options),
        partitions=count,
        replicas=seen.replicas,
        acks=int(options.acks),
        is_idempotent=is_idempotent,
        base=(seed % 2**31) * IDS_MAX,
        value_length=options.value_length,
        began_ns=time.time_ns(),
        cluster=seen.cluster,
        topic_id=seen.topic_id,
        records=options.records,
        rate=options.rate,
        is_own=options.creates is not None,
        beside_others=options.beside_others,
        starts=tuple(starts[number] for number in range(count)),
    )


def _is_idempotent(topic: TopicOfClients, options: LedgerOptions) -> bool:
    if options.is_idempotent is not None:
        if options.is_idempotent and not topic.is_idempotence_known():
            raise UsageError("--idempotence on: this release has no idempotent producers (KIP-98, from 0.11 on).")
        return options.is_idempotent
    return options.acks is Acks.ALL and topic.is_idempotence_known()


def _refuse_compacted(values: Mapping[str, str | None], topic: str) -> None:
    if "compact" in (values.get("cleanup.policy") or ""):
        message = f"topic {topic} is compacted: records may go although nothing is lost, so that nothing can be judged"
        raise UsageError(f"{message}. Name another one, or --create NAME.")


def load_of(attached: Attached, options: LedgerOptions) -> LedgerLoad:
    """Return what is to be sent."""
    return LedgerLoad(
        topic=attached.topic,
        partitions=attached.partitions,
        acks=options.acks,
        is_idempotent=attached.is_idempotent,
        base=attached.base,
        value_length=attached.value_length,
        records=attached.records,
        rate=attached.rate,
        delivery_timeout_s=options.delivery_timeout_s,
    )


def connection_of(options: LedgerOptions) -> dict[str, str]:
    """Return the settings of librdkafka that reach the cluster."""
    return {**options.client.librdkafka(), "bootstrap.servers": ",".join(options.bootstrap)}
