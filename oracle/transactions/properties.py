"""What must hold of transactions? What consumers with isolation.level read_committed rely on, read from one state.

Each takes a state of `oracle.transactions.model` and answers yes or no; its docstring says what must be so. A record
counts as committed once a marker that commits stands behind it: from then on it is read, some time.

Sources: KIP-98; KIP-890 and the report on Bufstream 0.1.0 (jepsen.io) have what breaks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.transactions.leader import outcomes, read_committed
from oracle.transactions.producers import CommitPromise, Stage
from oracle.transactions.state import TxnPhase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from oracle.transactions.model import TxnWorld
    from oracle.transactions.state import Record

MAY_BE_READ = frozenset({CommitPromise.COMMIT_ASKED, CommitPromise.COMMITTED})


def _decided(world: TxnWorld) -> Iterator[tuple[Record, tuple[bool, ...]]]:
    for log in world.logs:
        yield from outcomes(log.batches).items()


def nothing_aborted_is_read(world: TxnWorld) -> bool:
    """No record is committed whose producer has not asked to commit its transaction."""
    return all(
        world.promises[record.transaction] in MAY_BE_READ for record, commits in _decided(world) if True in commits
    )


def nothing_committed_is_missing(world: TxnWorld) -> bool:
    """No acknowledged record is aborted, or not there, whose producer was told that its transaction committed."""
    for record in world.acknowledged:
        if world.promises[record.transaction] is not CommitPromise.COMMITTED:
            continue
        batches = world.logs[record.partition].batches
        commits = outcomes(batches).get(record)
        if commits is not None and True not in commits:
            return False
        if commits is None and all(batch.record != record for batch in batches):
            return False
    return True


def transactions_are_atomic(world: TxnWorld) -> bool:
    """No transaction has a record that is committed and another one that is aborted."""
    ways: dict[int, set[bool]] = {}
    for record, commits in _decided(world):
        ways.setdefault(record.transaction, set()).update(commits)
    return all(len(way) == 1 for way in ways.values())


def nothing_is_read_twice(world: TxnWorld) -> bool:
    """No record is committed twice."""
    return all(commits.count(True) <= 1 for _, commits in _decided(world))


def open_is_known(world: TxnWorld) -> bool:
    """What is open on a partition its coordinator will end; else the last stable offset does not move any more."""
    coordinator = world.coordinator
    ends = coordinator.partitions if coordinator.phase is TxnPhase.ONGOING or coordinator.phase.is_prepared else ()
    return all(partition in ends for partition, log in enumerate(world.logs) if log.producer.is_open)


def markers_are_written(world: TxnWorld) -> bool:
    """No coordinator gives up a transaction whose end is decided: its producer could not go on."""
    return not world.coordinator.has_given_up


ALWAYS: Mapping[str, Callable[[TxnWorld], bool]] = {
    "NothingAbortedIsRead": nothing_aborted_is_read,
    "NothingCommittedIsMissing": nothing_committed_is_missing,
    "TransactionsAreAtomic": transactions_are_atomic,
    "NothingIsReadTwice": nothing_is_read_twice,
    "OpenIsKnown": open_is_known,
    "MarkersAreWritten": markers_are_written,
}
"""The properties by name."""


# What a search must have seen, or it has proved less than it seems to.


def _two_committed(world: TxnWorld) -> bool:
    return world.promises.count(CommitPromise.COMMITTED) > 1


def _read(world: TxnWorld) -> bool:
    return any(read_committed(log.batches) for log in world.logs)


def _aborted(world: TxnWorld) -> bool:
    return any(True not in commits for _, commits in _decided(world))


def _both_partitions(world: TxnWorld) -> bool:
    partitions = [record.partition for record, commits in _decided(world) if True in commits]
    return len(set(partitions)) > 1


def _late_delivered(world: TxnWorld) -> bool:
    return not world.late and world.left.late == 0


def _ended_early(world: TxnWorld) -> bool:
    return any(producer.stage is Stage.ENDED for producer in world.producers)


SOMETIMES: Mapping[str, Callable[[TxnWorld], bool]] = {
    "two transactions committed": _two_committed,
    "a record read": _read,
    "a record aborted": _aborted,
    "records of two partitions committed": _both_partitions,
    "a late request delivered": _late_delivered,
    "a producer at its end": _ended_early,
}
