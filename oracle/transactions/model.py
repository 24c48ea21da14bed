"""What can happen to transactions next? The explorer's model: every order of a producer's requests and their delays.

An action is one request with its answer, or one that is late: its sender stops waiting, and it is delivered at any
moment later, when its answer reaches nobody. A sender that has stopped waiting sends the same again; a producer may
also give a batch up, and then has to abort. So a request that is doubled is a late one that was sent again, and an
answer that is lost is a late one that is delivered before its sender tries again.

One transactional id with one record for each partition a transaction. The bounds say how many transactions, late
requests, fail-overs of the coordinator, time-outs, producers that take the id over, and unclean elections there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from oracle.error_codes import ErrorCode
from oracle.transactions import coordinator as coordinators
from oracle.transactions import leader as leaders
from oracle.transactions.producers import (
    CommitPromise,
    Producer,
    Stage,
    added,
    at_end,
    given_up,
    name_of,
    told,
    worded,
)
from oracle.transactions.state import (
    AddPartitionToTxn,
    Answer,
    Coordinator,
    EndTxn,
    InitProducerId,
    PartitionLog,
    ProduceBatch,
    Record,
    TxnPhase,
    WriteTxnMarker,
    put,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.state import Request

KINDS: frozenset[type[Request]] = frozenset({InitProducerId, AddPartitionToTxn, ProduceBatch, EndTxn, WriteTxnMarker})
"""The requests that can be late: all."""


class Left(NamedTuple):
    """How much of what may go wrong is left."""

    late: int
    fail_overs: int
    time_outs: int
    take_overs: int
    unclean: int


class TxnWorld(NamedTuple):
    """One state of the model.

    Attributes:
        coordinator: what the transaction log says.
        logs: the partitions, each at its leader.
        producers: those with the transactional id, the newest one last.
        late: requests that will be delivered some time, ascending by their text.
        promises: by transaction, what was asked and told.
        acknowledged: records that were acknowledged, ascending.
        left: what may still go wrong.
    """

    coordinator: Coordinator
    logs: tuple[PartitionLog, ...]
    producers: tuple[Producer, ...]
    late: tuple[Request, ...]
    promises: tuple[CommitPromise, ...]
    acknowledged: tuple[Record, ...]
    left: Left


@dataclass(frozen=True, slots=True)
class TransactionBounds:
    """The constants of a search.

    Attributes:
        transactions: transactions begun, by all producers together.
        partitions: partitions, each with a record a transaction at most.
        late: requests that are late.
        kinds: which requests can be late.
        fail_overs: of the coordinator.
        time_outs: transactions that the coordinator ends because they last too long.
        take_overs: producers that begin with the id while another has it.
        unclean: leaders elected without the last batch of their partition.
        reuses_sequences: a producer that has given a batch up goes on in its epoch, with the same sequence number,
            as clients before 2.5 do; else it asks for its next epoch where the release has that (KIP-360).
    """

    transactions: int = 2
    partitions: int = 2
    late: int = 1
    kinds: frozenset[type[Request]] = KINDS
    fail_overs: int = 0
    time_outs: int = 0
    take_overs: int = 0
    unclean: int = 0
    reuses_sequences: bool = False


class Transactions:
    """The state graph of one transactional id.

    Attributes:
        name: ``Transactions``, for reports.
        rules: the release's rules.
        bounds: the constants.
    """

    name = "Transactions"
    key = None

    def __init__(self, rules: TransactionRules, bounds: TransactionBounds) -> None:
        self.rules = rules
        self.bounds = bounds

    def initial_states(self) -> tuple[TxnWorld]:
        """Return the id before its first producer has an epoch."""
        bounds = self.bounds
        logs = (PartitionLog(),) * bounds.partitions
        left = Left(bounds.late, bounds.fail_overs, bounds.time_outs, bounds.take_overs, bounds.unclean)
        promises = (CommitPromise.NONE,) * bounds.transactions
        return (TxnWorld(Coordinator(), logs, (self._begins(0),), (), promises, (), left),)

    def _begins(self, transaction: int) -> Producer:
        return Producer(Stage.INITIALISES, -1, transaction, (0,) * self.bounds.partitions)

    def successors(self, state: TxnWorld) -> list[TxnWorld]:
        """Return every next state, repetitions included."""
        return [after for _, after in self.actions(state)]

    def is_within_bounds(self, state: TxnWorld) -> bool:  # noqa: ARG002 - what is left bounds every state
        """Return True: no state has more than the bounds allow."""
        return True

    def occurrences(self) -> dict[str, int]:
        """Return nothing: all that counts is read from states."""
        return {}

    def actions(self, state: TxnWorld) -> Iterator[tuple[str, TxnWorld]]:
        """Return every action with the state that it leads to, in a fixed order."""
        for index, producer in enumerate(state.producers):
            for request in self._requests(state, producer):
                yield from self._sent(state, index, request)
            if producer.stage is Stage.SENDS_AGAIN and isinstance(producer.unanswered, ProduceBatch):
                yield (
                    f"{name_of(index)} gives up {worded(producer.unanswered)}",
                    _with(state, index, given_up(producer)),
                )
        for marker in coordinators.markers(state.coordinator):
            yield from self._marked(state, marker)
        for request in dict.fromkeys(state.late):
            yield f"late: {worded(request)}", self._delivered(_without(state, request), request)[0]
        yield from self._mishaps(state)

    # What producers do.

    def _requests(self, state: TxnWorld, producer: Producer) -> Iterator[Request]:
        """Return what a producer may send now."""
        if producer.stage is Stage.INITIALISES:
            yield InitProducerId(None)
        elif producer.stage is Stage.ASKS_FOR_EPOCH:
            yield InitProducerId(producer.epoch)
        elif producer.stage is Stage.SENDS_AGAIN and producer.unanswered is not None:
            yield producer.unanswered
        elif producer.stage is Stage.MUST_ABORT:
            yield EndTxn(producer.epoch, commits=False)
        elif producer.stage is Stage.SENDS and producer.transaction < len(state.promises):
            yield from self._in_transaction(producer)

    def _in_transaction(self, producer: Producer) -> Iterator[Request]:
        for partition in range(self.bounds.partitions):
            record = Record(producer.transaction, partition)
            if partition in producer.sent:
                continue
            if self.rules.adds_by_produce or partition in producer.added:
                yield ProduceBatch(producer.epoch, producer.sequences[partition], record)
            else:
                yield AddPartitionToTxn(producer.epoch, partition)
        if producer.sent:
            yield EndTxn(producer.epoch, commits=True)
            yield EndTxn(producer.epoch, commits=False)

    def _sent(self, state: TxnWorld, index: int, request: Request) -> Iterator[tuple[str, TxnWorld]]:
        """Send a request: it is answered, or it is late."""
        asked = _asked(state, state.producers[index], request)
        after, answer = self._delivered(asked, request)
        if answer.error is not ErrorCode.CONCURRENT_TRANSACTIONS:
            yield (
                f"{name_of(index)} sends {worded(request)}{told(answer)}",
                self._answered(after, index, request, answer),
            )
        elif after != asked:  # refused for now, but something has begun
            yield f"{name_of(index)} sends {worded(request)}{told(answer)}", after
        if state.left.late and type(request) in self.bounds.kinds:
            waiting = state.producers[index]._replace(stage=Stage.SENDS_AGAIN, unanswered=request)
            yield f"{name_of(index)}: {worded(request)} is late", _late(_with(asked, index, waiting), request)

    def _answered(self, state: TxnWorld, index: int, request: Request, answer: Answer) -> TxnWorld:
        producer = state.producers[index]._replace(unanswered=None)
        if isinstance(request, InitProducerId):
            return _with(state, index, self._initialised(producer, answer))
        if isinstance(request, AddPartitionToTxn):
            return _with(state, index, added(producer, request, answer))
        if isinstance(request, ProduceBatch):
            return _produced(state, index, producer, request, answer)
        return self._ended(state, index, producer, request, answer)

    def _initialised(self, producer: Producer, answer: Answer) -> Producer:
        if answer.error:
            return at_end(producer)
        sequences = (0,) * self.bounds.partitions
        return producer._replace(stage=Stage.SENDS, epoch=answer.epoch, sequences=sequences)

    def _ended(self, state: TxnWorld, index: int, producer: Producer, request: Request, answer: Answer) -> TxnWorld:
        """Take the answer to EndTxn: the next transaction begins, in the same epoch or in another."""
        if answer.error:
            return _with(state, index, at_end(producer))
        promises = state.promises
        if isinstance(request, EndTxn) and request.commits:
            promises = put(promises, producer.transaction, CommitPromise.COMMITTED)
        begun = _next_transaction(state)
        over = producer._replace(stage=Stage.SENDS, transaction=begun, added=(), sent=(), is_unsure=False)
        if self.rules.bumps_at_end:
            over = over._replace(epoch=answer.epoch, sequences=(0,) * self.bounds.partitions)
        elif producer.is_unsure and self.rules.goes_on_in_next_epoch and not self.bounds.reuses_sequences:
            over = over._replace(stage=Stage.ASKS_FOR_EPOCH)
        if over.transaction >= len(promises):
            over = at_end(over)
        return _with(state._replace(promises=promises), index, over)

    # What coordinator and leaders do.

    def _delivered(self, state: TxnWorld, request: Request) -> tuple[TxnWorld, Answer]:
        """Let a request reach who answers it."""
        coordinator, logs, answer = leaders.delivered(state.coordinator, state.logs, self.rules, request)
        return state._replace(coordinator=coordinator, logs=logs), answer

    def _marked(self, state: TxnWorld, marker: WriteTxnMarker) -> Iterator[tuple[str, TxnWorld]]:
        after, answer = self._delivered(state, marker)
        coordinator = coordinators.marker_answered(after.coordinator, marker, answer)
        yield f"{worded(marker)}{told(answer)}", after._replace(coordinator=coordinator)
        if state.left.late and WriteTxnMarker in self.bounds.kinds and marker not in state.late:
            yield f"{worded(marker)} is late", _late(state, marker)

    def _mishaps(self, state: TxnWorld) -> Iterator[tuple[str, TxnWorld]]:
        left, coordinator = state.left, state.coordinator
        if left.fail_overs:
            taken = state._replace(left=left._replace(fail_overs=left.fail_overs - 1))
            yield "the coordinator fails over", taken._replace(coordinator=coordinators.fail_over(coordinator))
        if left.time_outs and coordinator.phase is TxnPhase.ONGOING:
            ended = state._replace(left=left._replace(time_outs=left.time_outs - 1))
            fenced = coordinators.fence(coordinator, self.rules)
            yield "the transaction times out", ended._replace(coordinator=fenced)
        if left.take_overs:
            yield from self._taken_over(state)
        for partition, log in enumerate(state.logs):
            if left.unclean and log.batches:
                lost = state._replace(left=left._replace(unclean=left.unclean - 1))
                elected = put(state.logs, partition, leaders.cut(log, len(log.batches) - 1))
                yield f"partition {partition} is led by a replica without its last batch", lost._replace(logs=elected)

    def _taken_over(self, state: TxnWorld) -> Iterator[tuple[str, TxnWorld]]:
        begun = _next_transaction(state)
        if begun < len(state.promises):
            left = state.left._replace(take_overs=state.left.take_overs - 1)
            producers = (*state.producers, self._begins(begun))
            yield "another producer takes the id over", state._replace(left=left, producers=producers)


# Producers, after what they sent or were told.


def _produced(state: TxnWorld, index: int, producer: Producer, request: ProduceBatch, answer: Answer) -> TxnWorld:
    if answer.error:
        return _with(state, index, producer._replace(stage=Stage.MUST_ABORT))
    partition = request.record.partition
    sent = producer._replace(
        stage=Stage.SENDS,
        sequences=put(producer.sequences, partition, request.sequence + 1),
        sent=tuple(sorted((*producer.sent, partition))),
    )
    acknowledged = tuple(sorted({*state.acknowledged, request.record}))
    return _with(state._replace(acknowledged=acknowledged), index, sent)


def _asked(state: TxnWorld, producer: Producer, request: Request) -> TxnWorld:
    """Note what a producer asks for its transaction."""
    if not isinstance(request, EndTxn) or state.promises[producer.transaction] is not CommitPromise.NONE:
        return state
    asked = CommitPromise.COMMIT_ASKED if request.commits else CommitPromise.ABORT_ASKED
    return state._replace(promises=put(state.promises, producer.transaction, asked))


# States: what comes next, and with one thing changed.


def _next_transaction(state: TxnWorld) -> int:
    return max(producer.transaction for producer in state.producers) + 1


def _with(state: TxnWorld, index: int, producer: Producer) -> TxnWorld:
    return state._replace(producers=put(state.producers, index, producer))


def _late(state: TxnWorld, request: Request) -> TxnWorld:
    late = tuple(sorted((*state.late, request), key=repr))
    return state._replace(late=late, left=state.left._replace(late=state.left.late - 1))


def _without(state: TxnWorld, request: Request) -> TxnWorld:
    late = list(state.late)
    late.remove(request)
    return state._replace(late=tuple(late))
