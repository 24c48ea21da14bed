"""How does a ledger run beside a cluster that somebody else breaks? Begin, produce, come to rest, read back, judge.

Every phase leaves its directory such that a later ``resume`` goes on from there, whatever ended the tester. A topic
that was not created here is written to, and neither changed nor deleted.
"""

from __future__ import annotations

import random
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Self

from conformance.attach.judging import AttachEvidence, judge_attached
from conformance.attach.spark_login import java_connection
from conformance.attach.watching import PATIENCE_S, Watcher, watching
from conformance.clients.client_settings import ClientSettings
from conformance.clients.connecting import UnreadableClusterError, connected
from conformance.clients.ledger_producer import DELIVERY_TIMEOUT_S, LedgerProducer, Load
from conformance.clients.records import VALUE_LENGTH_DEFAULT
from conformance.clients.topics import TopicError, create_where_brokers_like, delete_anywhere
from conformance.probes.topic_of_clients import EARLIEST, NotAnsweredError, TopicOfClients
from conformance.record.attached import (
    ATTACH_FILE,
    COUNTED_FILE,
    IDS_MAX,
    SETTINGS_FILE,
    VERDICT_FILE,
    WATCHED_FILE,
    AppendedLines,
    Attached,
    Counted,
    Phase,
    read_attached,
    read_commands,
    read_settings,
    read_watched,
)
from conformance.record.directory import RunDirectory, slug
from conformance.spark_thread import SparkThread
from fault_injection.releases import UsageError
from fault_injection.waiting import DeadlineExceededError, NotYetError, until
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from kafka.net.manager import KafkaConnectionManager

    from conformance.clients.ledger_producer import Progress
    from conformance.probes.topic_of_clients import TopicSeenByClients
    from conformance.record.attached import AttachVerdict, PartitionWatched

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
SETTLE_S = 60.0
KNOWN_S = 30.0
STABLE_LOOKS = 3
"""So many looks in a row must see the same high watermarks."""
MANY_RECORDS = 200_000


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
    duration_s: float | None = None
    rate: int | None = 1000
    acks: Acks = Acks.ALL
    is_idempotent: bool | None = None
    value_length: int = VALUE_LENGTH_DEFAULT
    beside_others: bool = False
    delivery_timeout_s: float = DELIVERY_TIMEOUT_S
    settle_s: float = SETTLE_S
    seed: int | None = None


class NotAtRestError(Exception):
    """The cluster did not come to a state in which everything can be read; the ledger is whole, and can be resumed."""


class AttachedLedger:
    """A ledger that produces while its block runs; the block is what breaks the cluster.

    Args:
        options: what it is to do.
        runs: the directory in which its own one is created.

    Raises:
        UsageError: the cluster, the topic or the options do not go together; nothing was written.
    """

    def __init__(self, options: LedgerOptions, runs: Path) -> None:
        self._options = options
        self._runs = runs
        self._stop, self._is_done = Event(), Event()
        self._stack = ExitStack()
        self._failure: BaseException | None = None
        self.run: RunDirectory
        self.attached: Attached
        self.watcher: Watcher
        self._producer: LedgerProducer

    def __enter__(self) -> Self:
        self.run, self.attached = begin(self._options, self._runs)
        options = self._options
        self.watcher = self._stack.enter_context(
            watching(options.bootstrap, options.client, self.attached.topic, self.run)
        )
        self._producer = LedgerProducer(_connection(options), _load(self.attached, options), self.run.path / "ledger")
        self._thread = Thread(target=self._produce, name="attach-producer", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._producer.hurry()
        self.stop()
        self._thread.join()
        self._stack.close()
        self._note(phase=Phase.PRODUCED, ended_ns=time.time_ns())
        if self._failure is not None and error is None:
            raise self._failure

    @property
    def progress(self) -> Progress:
        """Return how far it is."""
        return self._producer.progress

    @property
    def is_in_sync(self) -> bool:
        """Return whether at the last look every replica of every partition was in sync."""
        looks = self.watcher.latest
        return len(looks) == self.attached.partitions and all(
            len(one.isr) == self.attached.replicas for one in looks.values()
        )

    def stop(self) -> None:
        """Send no more records; those that were sent are waited for."""
        self._stop.set()

    def done(self, wait_s: float) -> bool:
        """Wait so long, or until all records are sent and answered; return whether they are."""
        return self._is_done.wait(wait_s)

    def verdict(self, spark: SparkThread | None = None) -> AttachVerdict:
        """Read the topic back, once its block has ended, and judge every record.

        Raises:
            NotAtRestError: the cluster did not come to rest.
            ReconcileError: Spark failed.
        """
        verdict = finish(self.run, self._options.client, self._options.settle_s, spark)
        self.attached = read_attached(self.run)
        return verdict

    def _produce(self) -> None:
        try:
            self._producer.send(self._stop, self._note_sender)
        except BaseException as failure:  # noqa: BLE001 - raised again where the block ends
            self._failure = failure
        finally:
            self._is_done.set()

    def _note_sender(self, first: int) -> None:
        self._note(senders=(*self.attached.senders, first))

    def _note(self, **changes: object) -> None:
        self.attached = _noted(self.run, self.attached, **changes)


def begin(options: LedgerOptions, runs: Path) -> tuple[RunDirectory, Attached]:
    """Look at cluster and topic, create the topic if it is to be, and the directory; no record is sent yet.

    Raises:
        UsageError: they do not go together; a topic that is there was not written to.
    """
    with connected(options.bootstrap, options.client, PATIENCE_S) as manager:
        topic = TopicOfClients(manager, topic_of(options))
        try:
            seen = _created(topic, options) if options.creates else _there(topic, options)
            attached = _attached(topic, seen, options)
            settings = topic.settings()
        except NotAnsweredError as error:
            raise UsageError(f"topic {topic_of(options)} cannot be looked at: {error}") from error
    _refuse_compacted(settings.values, attached.topic)
    name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-attach-{slug(attached.topic)}"
    run = RunDirectory.create(runs, name, parts=("ledger", "reconciliation"))
    run.write(ATTACH_FILE, attached)
    _append(run, SETTINGS_FILE, [settings])
    _append(run, WATCHED_FILE, seen.partitions)
    return run, attached


def topic_of(options: LedgerOptions) -> str:
    """Return the name of the topic that is written to."""
    return f"{OWN}{options.topic}" if options.creates else options.topic


def _created(topic: TopicOfClients, options: LedgerOptions) -> TopicSeenByClients:
    asked, name = options.creates or NewTopicAsked(), topic_of(options)
    settings = {**OWN_SETTINGS, "min.insync.replicas": str(max(1, min(2, asked.replicas - 1))), **asked.settings}
    try:
        create_where_brokers_like(_connection(options), name, asked.partitions, asked.replicas, settings)
    except TopicError as error:
        hint = f": --topic {name} writes to the one that is there" if error.error == "TOPIC_ALREADY_EXISTS" else ""
        raise UsageError(f"{error}{hint}") from error

    def known() -> TopicSeenByClients | None:
        seen = topic.seen()
        is_led = seen is not None and all(one.leader is not None for one in seen.partitions)
        return seen if is_led and seen and len(topic.offsets(seen.partitions)) == asked.partitions else None

    return until(known, deadline_s=KNOWN_S, what=f"brokers know {name}")


def _there(topic: TopicOfClients, options: LedgerOptions) -> TopicSeenByClients:
    seen = topic.seen()
    if seen is None:
        raise UsageError(f"--topic {options.topic}: there is no such topic; --create {options.topic} makes one.")
    if leaderless := [str(one.partition) for one in seen.partitions if one.leader is None]:
        raise UsageError(f"--topic {options.topic}: partition {', '.join(leaderless)} has no leader.")
    return seen


def _attached(topic: TopicOfClients, seen: TopicSeenByClients, options: LedgerOptions) -> Attached:
    starts, firsts = topic.offsets(seen.partitions), topic.offsets(seen.partitions, EARLIEST)
    count = len(seen.partitions)
    if len(starts) < count or len(firsts) < count:
        raise NotAnsweredError("the leader of a partition does not answer")
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
        is_idempotent=_is_idempotent(topic, options),
        base=(seed % 2**31) * IDS_MAX,
        value_length=options.value_length,
        began_ns=time.time_ns(),
        cluster=seen.cluster,
        records=options.records,
        duration_s=options.duration_s,
        rate=options.rate,
        is_own=options.creates is not None,
        beside_others=options.beside_others,
        starts=tuple(starts[number] for number in range(count)),
    )


def _is_idempotent(topic: TopicOfClients, options: LedgerOptions) -> bool:
    if options.is_idempotent is not None:
        if options.is_idempotent and options.acks is not Acks.ALL:
            raise UsageError("--idempotence on needs --acks all: brokers refuse it otherwise.")
        if options.is_idempotent and not topic.is_idempotence_known():
            raise UsageError("--idempotence on: this release has no idempotent producers (KIP-98, from 0.11 on).")
        return options.is_idempotent
    return options.acks is Acks.ALL and topic.is_idempotence_known()


def _refuse_compacted(values: Mapping[str, str | None], topic: str) -> None:
    if "compact" in (values.get("cleanup.policy") or ""):
        message = f"topic {topic} is compacted: records may go although nothing is lost, so that nothing can be judged"
        raise UsageError(f"{message}. Name another one, or --create NAME.")


def _load(attached: Attached, options: LedgerOptions) -> Load:
    return Load(
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


def _connection(options: LedgerOptions) -> dict[str, str]:
    return {**options.client.librdkafka(), "bootstrap.servers": ",".join(options.bootstrap)}


# What comes after the last record? Rest, the reading, the verdict; each may be gone on with later.


def finish(
    run: RunDirectory, client: ClientSettings, settle_s: float = SETTLE_S, spark: SparkThread | None = None
) -> AttachVerdict:
    """Go on from where a ledger is, to its verdict.

    Args:
        run: its directory.
        client: how to get in; not asked for where the topic was read already.
        settle_s: how long the cluster may take to come to rest.
        spark: None starts one for this alone.

    Raises:
        NotAtRestError: the cluster did not come to rest.
        ReconcileError: Spark failed.
        RunDirectoryError: the directory has no ledger.
    """
    attached = read_attached(run)
    if attached.phase in (Phase.PRODUCING, Phase.PRODUCED):
        attached = _at_rest(run, attached, client, settle_s)
    with _spark(spark, attached) as thread:
        if attached.phase is Phase.PRODUCED:
            with java_connection(client) as connection:
                thread.read_attached(run, attached, connection)
            attached = _noted(run, attached, phase=Phase.READ)
        counted = thread.reconcile_attached(run, attached)
    return _judged(run, attached, counted)


def _judged(run: RunDirectory, attached: Attached, counted: Counted) -> AttachVerdict:
    evidence = AttachEvidence(attached, counted, read_watched(run), read_settings(run), read_commands(run))
    verdict = judge_attached(evidence)
    run.write(VERDICT_FILE, verdict)
    _noted(run, attached, phase=Phase.JUDGED)
    return verdict


@contextmanager
def _spark(given: SparkThread | None, attached: Attached) -> Iterator[SparkThread]:
    if given is not None:
        yield given
        return
    with SparkThread(many_records=sum(attached.ends) - sum(attached.starts) > MANY_RECORDS) as spark:
        yield spark


def _at_rest(run: RunDirectory, attached: Attached, client: ClientSettings, settle_s: float) -> Attached:
    """Wait until high watermarks stand at the log ends with every replica in sync, or as far as the cluster gets."""
    with ExitStack() as stack:
        topic = TopicOfClients(_reached(stack, attached, client, settle_s), attached.topic)
        rest = _Rest(topic, attached)
        try:
            until(rest.is_whole, deadline_s=settle_s, what="the topic at rest", interval_s=0.5)
        except DeadlineExceededError as late:
            if not rest.can_be_read:
                why = f"{attached.topic} is not at rest within {settle_s:g} s: {late.last_seen}"
                raise NotAtRestError(why) from late
        firsts = topic.offsets(rest.partitions, EARLIEST)
        _append(run, SETTINGS_FILE, [topic.settings()])
    _append(run, WATCHED_FILE, rest.partitions)
    numbers = range(attached.partitions)
    return _noted(
        run,
        attached,
        phase=Phase.PRODUCED,
        ended_ns=attached.ended_ns or time.time_ns(),
        ends=tuple(rest.ends[number] for number in numbers),
        log_starts=tuple(firsts.get(number, 0) for number in numbers),
        is_at_rest=rest.is_read_whole,
    )


def _reached(stack: ExitStack, attached: Attached, client: ClientSettings, settle_s: float) -> KafkaConnectionManager:
    """Connect as soon as some broker answers."""
    told: list[str] = []

    def connect() -> KafkaConnectionManager:
        try:
            return stack.enter_context(connected(attached.bootstrap.split(","), client, PATIENCE_S))
        except UnreadableClusterError as error:
            told.append(str(error))
            raise NotYetError(str(error)) from error

    try:
        return until(connect, deadline_s=settle_s, what="a broker that answers")
    except DeadlineExceededError as late:
        raise NotAtRestError(told[-1]) from late


class _Rest:
    """Looks at a topic until nothing moves any more."""

    def __init__(self, topic: TopicOfClients, attached: Attached) -> None:
        self._topic, self._attached = topic, attached
        self._same = 0
        self._log_ends: dict[int, int] = {}
        self.partitions: tuple[PartitionWatched, ...] = ()
        self.ends: dict[int, int] = {}

    @property
    def can_be_read(self) -> bool:
        """Return whether every partition has a leader that tells its high watermark, and those stand still."""
        return len(self.ends) == self._attached.partitions and self._same >= STABLE_LOOKS

    @property
    def is_read_whole(self) -> bool:
        """Return whether nothing is beyond the high watermarks, as far as the release tells it."""
        return all(self.ends[number] >= end for number, end in self._log_ends.items())

    def is_whole(self) -> bool:
        """Look; return whether every replica is in sync too, and nothing is beyond the high watermark."""
        try:
            seen = self._topic.seen()
        except NotAnsweredError as error:
            raise NotYetError(str(error)) from error
        if seen is None:
            raise NotYetError("there is no such topic any more")
        ends = self._topic.offsets(seen.partitions)
        self._same = self._same + 1 if ends == self.ends else 1
        self._log_ends = self._topic.log_ends(seen.partitions)
        self.ends = ends
        self.partitions = tuple(replace(one, high_watermark=ends.get(one.partition)) for one in seen.partitions)
        if why := self._why_not():
            raise NotYetError(why)
        return True

    def _why_not(self) -> str | None:
        for one in self.partitions:
            if one.high_watermark is None:
                leader = "no leader" if one.leader is None else "a leader that does not answer"
                return f"partition {one.partition} has {leader}"
            if len(one.isr) < self._attached.replicas:
                return f"partition {one.partition} has {len(one.isr)} of {self._attached.replicas} replicas in sync"
        if not self.is_read_whole:
            return "records are beyond the high watermark"
        return None if self._same >= STABLE_LOOKS else "high watermarks move"


def delete_created(run: RunDirectory, client: ClientSettings) -> None:
    """Delete the topic of a ledger that created it.

    Raises:
        UsageError: the topic was there before, and is not touched.
        TopicError: the controller refused.
    """
    attached = read_attached(run)
    if not attached.is_own or not attached.topic.startswith(OWN):
        raise UsageError(f"topic {attached.topic} was not created here, and is not deleted.")
    delete_anywhere({**client.librdkafka(), "bootstrap.servers": attached.bootstrap}, attached.topic)


def counted_of(run: RunDirectory) -> Counted:
    """Read what Spark counted."""
    return run.read(COUNTED_FILE, Counted)


def _noted(run: RunDirectory, attached: Attached, **changes: object) -> Attached:
    changed = replace(attached, **changes)  # type: ignore[arg-type]
    run.write(ATTACH_FILE, changed)
    return changed


def _append(run: RunDirectory, name: str, records: Sequence[object]) -> None:
    lines = AppendedLines(run.path / name)
    for one in records:
        lines.append(one)
    lines.close()
