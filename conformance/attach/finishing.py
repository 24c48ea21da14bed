"""What comes after the last record of a ledger? Rest, the reading, the verdict; each may be gone on with later."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.attach.beginning import OWN, SETTLE_S
from conformance.attach.judging import AttachEvidence, judge_attached
from conformance.attach.spark_login import java_connection
from conformance.attach.watching import PATIENCE_S
from conformance.clients.connecting import UnreadableClusterError, connected
from conformance.clients.topics import delete_anywhere
from conformance.probes.topic_of_clients import EARLIEST, NotAnsweredError, TopicOfClients
from conformance.record.attached import (
    COUNTED_FILE,
    SETTINGS_FILE,
    VERDICT_FILE,
    WATCHED_FILE,
    Attached,
    Counted,
    Phase,
    append_lines,
    note,
    read_attached,
    read_settings,
    read_watched,
)
from conformance.record.fault_commands import read_commands, read_given_commands
from conformance.spark_thread import SparkThread
from fault_injection.releases import UsageError
from fault_injection.waiting import DeadlineExceededError, NotYetError, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.clients.client_settings import ClientSettings
    from conformance.clients.connecting import Connection
    from conformance.record.attached import AttachVerdict, PartitionWatched
    from conformance.record.directory import RunDirectory

STABLE_LOOKS = 3
"""So many looks in a row must see the same high watermarks."""


class NotAtRestError(Exception):
    """The cluster did not come to a state in which everything can be read; the ledger is whole, and can be resumed."""


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
    if attached.is_at_rest is False or attached.phase in (Phase.PRODUCING, Phase.PRODUCED):
        attached = _at_rest(run, attached, client, settle_s)
    with _spark(spark, attached) as thread:
        if attached.phase is Phase.PRODUCED:
            with java_connection(client) as connection:
                thread.read_attached(run, attached, connection)
            attached = note(run, attached, phase=Phase.READ)
        counted = thread.reconcile_attached(run, attached)
    return _judged(run, attached, counted)


def _judged(run: RunDirectory, attached: Attached, counted: Counted) -> AttachVerdict:
    commands = read_commands(run), read_given_commands(run)
    evidence = AttachEvidence(attached, counted, read_watched(run), read_settings(run), *commands)
    verdict = judge_attached(evidence)
    run.write(VERDICT_FILE, verdict)
    note(run, attached, phase=Phase.JUDGED)
    return verdict


@contextmanager
def _spark(given: SparkThread | None, attached: Attached) -> Iterator[SparkThread]:
    if given is not None:
        yield given
        return
    with SparkThread(records=sum(attached.ends) - sum(attached.starts)) as spark:
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
        append_lines(run, SETTINGS_FILE, [topic.settings()])
    append_lines(run, WATCHED_FILE, rest.partitions)
    numbers = range(attached.partitions)
    return note(
        run,
        attached,
        phase=Phase.PRODUCED,
        ended_ns=attached.ended_ns or time.time_ns(),
        ends=tuple(rest.ends[number] for number in numbers),
        log_starts=tuple(firsts.get(number, 0) for number in numbers),
        is_at_rest=rest.is_read_whole,
    )


def _reached(stack: ExitStack, attached: Attached, client: ClientSettings, settle_s: float) -> Connection:
    """Connect as soon as some broker answers."""
    told: list[str] = []

    def connect() -> Connection:
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
