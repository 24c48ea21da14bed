"""What comes after the last record of a ledger? Rest, the reading, the verdict; each may be gone on with later."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from conformance.attach.beginning import OWN, SETTLE_S
from conformance.attach.evidence import AttachEvidence
from conformance.attach.judging import judge_attached
from conformance.attach.rest import NotAtRestError, TopicRest, why_another
from conformance.attach.spark_login import java_connection
from conformance.attach.watching import PATIENCE_S, SETTINGS_S
from conformance.clients.connecting import UnreadableClusterError, connected
from conformance.clients.topics import delete_anywhere
from conformance.probes.topic_of_clients import NotAnsweredError, TopicOfClients
from conformance.record.attached import (
    EPOCH_ENDS_FILE,
    SETTINGS_FILE,
    VERDICT_FILE,
    WATCHED_FILE,
    Attached,
    EpochEndTold,
    Phase,
    append_lines,
    note,
    read_attached,
    read_epoch_ends,
    read_settings,
    read_watched,
)
from conformance.record.attached_counted import COUNTED_FILE, Counted
from conformance.record.fault_commands import read_commands, read_given_commands
from conformance.record.ledger_course import acknowledged_ends
from conformance.spark_thread import SparkThread
from fault_injection.releases import UsageError
from fault_injection.waiting import DeadlineExceededError, NotYetError, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.clients.client_settings import ClientSettings
    from conformance.clients.connecting import Connection
    from conformance.record.attached import AttachVerdict, PartitionWatched
    from conformance.record.directory import RunDirectory


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
    evidence = AttachEvidence(
        attached,
        counted,
        read_watched(run),
        read_settings(run),
        read_commands(run),
        read_given_commands(run),
        read_epoch_ends(run),
    )
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
        rest = TopicRest(topic, attached, *acknowledged_ends(run, attached.base, attached.partitions))
        try:
            until(_watching_settings(run, topic, rest), deadline_s=settle_s, what="the topic at rest", interval_s=0.5)
        except DeadlineExceededError as late:
            if not rest.can_be_read:
                why = f"{attached.topic} is not at rest within {settle_s:g} s: {late.last_seen}"
                raise NotAtRestError(why) from late
        append_lines(run, SETTINGS_FILE, [topic.settings()])
        _note_epoch_ends(run, topic, rest.partitions)
    append_lines(run, WATCHED_FILE, rest.partitions)
    numbers, unread = range(attached.partitions), rest.unread
    return note(
        run,
        attached,
        phase=Phase.PRODUCED,
        ended_ns=attached.ended_ns or time.time_ns(),
        ends=tuple(rest.ends[number] for number in numbers),
        log_starts=tuple(rest.log_starts[number] for number in numbers),
        is_at_rest=unread is None,
        unread=unread,
        not_told=rest.not_told,
    )


def _watching_settings(run: RunDirectory, topic: TopicOfClients, rest: TopicRest) -> Callable[[], bool]:
    """Return a look at whether a topic is at rest that writes down its settings as often as the watcher did."""
    due_s = 0.0

    def is_whole() -> bool:
        nonlocal due_s
        if time.monotonic() >= due_s:
            append_lines(run, SETTINGS_FILE, [topic.settings()])
            due_s = time.monotonic() + SETTINGS_S
        return rest.is_whole()

    return is_whole


def _note_epoch_ends(run: RunDirectory, topic: TopicOfClients, partitions: Sequence[PartitionWatched]) -> None:
    """Write down where each leader epoch ended that was seen, as the leaders of now have it in their logs."""
    (run.path / EPOCH_ENDS_FILE).unlink(missing_ok=True)
    seen: dict[int, set[int]] = defaultdict(set)
    for one in (*read_watched(run), *partitions):
        if one.leader_epoch is not None:
            seen[one.partition].add(one.leader_epoch)
    left = {number: sorted(epochs) for number, epochs in seen.items()}
    while left:
        asked = {number: epochs.pop() for number, epochs in left.items()}
        ends = topic.epoch_ends(partitions, asked)
        append_lines(
            run, EPOCH_ENDS_FILE, (EpochEndTold(one, asked[one], end) for one, end in ends.items() if end >= 0)
        )
        left = {number: epochs for number, epochs in left.items() if epochs}


def _reached(stack: ExitStack, attached: Attached, client: ClientSettings, settle_s: float) -> Connection:
    """Connect as soon as some broker answers."""
    told: list[str] = []

    def connect() -> Connection:
        try:
            return stack.enter_context(connected(attached.servers, client, PATIENCE_S))
        except UnreadableClusterError as error:
            told.append(str(error))
            raise NotYetError(str(error)) from error

    try:
        return until(connect, deadline_s=settle_s, what="a broker that answers")
    except DeadlineExceededError as late:
        raise NotAtRestError(told[-1]) from late


def delete_created(run: RunDirectory, client: ClientSettings) -> None:
    """Delete the topic of a ledger that created it.

    Raises:
        UsageError: the topic was there before, or it is another one of the same name, and is not touched.
        TopicError: the controller refused.
    """
    attached = read_attached(run)
    if not attached.is_own or not attached.topic.startswith(OWN):
        raise UsageError(f"topic {attached.topic} was not created here, and is not deleted.")
    with connected(attached.servers, client, PATIENCE_S) as manager:
        try:
            seen = TopicOfClients(manager, attached.topic).seen()
        except NotAnsweredError as error:
            raise UsageError(f"topic {attached.topic} is not deleted: {error}.") from error
    if seen is not None and (why := why_another(seen, attached)):
        raise UsageError(f"topic {attached.topic} is not deleted: {why}.")
    delete_anywhere({**client.librdkafka(), "bootstrap.servers": attached.bootstrap}, attached.topic)


def counted_of(run: RunDirectory) -> Counted:
    """Read what Spark counted."""
    return run.read(COUNTED_FILE, Counted)
