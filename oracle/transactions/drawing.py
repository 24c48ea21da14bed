"""Which scripts of transactions has nobody written down? Drawn act by act, of what may come next.

What went wrong with transactions went wrong where something arrived late, and where the next producer or the next
transaction had begun: such acts are drawn more often. Of some scripts that are drawn the one is taken that has its
requests answered in most ways that few before it met.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from oracle.transactions.courses import ActError, ScriptCourse
from oracle.transactions.play import GROUP, PARTITIONS, Play
from oracle.transactions.script import (
    Add,
    CommitOffset,
    Deliver,
    End,
    Initialise,
    MarkAgain,
    ReadOffset,
    ReadPartitions,
    Send,
)
from oracle.transactions.state import AddPartitionToTxn, ProduceBatch, WriteTxnMarker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.courses import Client
    from oracle.transactions.script import TransactionAct
    from oracle.transactions.state import Request

ACTS_MIN, ACTS_MAX = 8, 13
"""How many acts a script has before the look at its end."""
PRODUCERS = 2
KEPT_MAX = 2
"""So many requests are kept back at one time."""
DRAWN = 6
"""Of so many scripts one is taken."""
FLAGS = ("late", "late_marker", "again", "goes_on", "commits", "skips")
"""What tells two acts of a kind apart."""
AT_THE_END = ReadPartitions("at the end", is_last=True)


class Chance(Protocol):
    """What draws: ``random.Random`` is one."""

    def random(self) -> float:
        """Return the next number, from 0 up to 1."""


class Meeting(NamedTuple):
    """How an act met the model: what tells one course from another.

    Attributes:
        act: which kind of act, and how.
        answers: what was told, without numbers.
        phase: of the coordinator before it.
        epochs: by how many epochs its request was behind the coordinator's; None if it has none.
        is_open: whether a transaction was open on its partition.
    """

    act: str
    answers: tuple[str, ...]
    phase: str
    epochs: int | None
    is_open: bool


def scripts(chances: Iterable[Sequence[Chance]], rules: Sequence[TransactionRules]) -> Iterator[Drawn]:
    """Yield scripts without end: each prefers what those before it have not met.

    Args:
        chances: for each script what draws those of which it is taken.
        rules: by which each must be possible; the first ones are those that it is predicted by.
    """
    met: Counter[Meeting] = Counter()
    for each in chances:
        drawn = max((draw(chance, rules) for chance in each), key=lambda one: one.worth(met))
        met.update(set(drawn.meetings))
        yield drawn


class Drawn(NamedTuple):
    """A script that was drawn, and how its acts met the model."""

    acts: tuple[TransactionAct, ...]
    meetings: tuple[Meeting, ...]

    def worth(self, met: Counter[Meeting]) -> float:
        """Return how much is new in it: a meeting counts the less, the more scripts had it."""
        return sum(
            1 / (1 + met[one]) ** 2 for one in dict.fromkeys(self.meetings)
        )  # in order: sums are the same anywhere


def draw(chance: Chance, rules: Sequence[TransactionRules]) -> Drawn:
    """Draw one script, and the look at its end."""
    course, meetings = ScriptCourse(rules), list[Meeting]()
    length = ACTS_MIN + int(chance.random() * (ACTS_MAX - ACTS_MIN + 1))
    while len(course.acts) < length:
        _extend(chance, course, meetings)
    course.take(AT_THE_END)
    return Drawn(course.acts, tuple(meetings))


def _extend(chance: Chance, course: ScriptCourse, meetings: list[Meeting]) -> None:
    """Let one act more happen: one that is drawn again if it may not come there."""
    proposed = list(_proposals(course))
    while True:
        place = _drawn(chance, [weight for weight, _ in proposed])
        _, act = proposed.pop(place)
        before = course.play
        try:
            course.take(act)
        except ActError:
            continue
        meetings.append(_meeting(act, before, course))
        return


def _drawn(chance: Chance, weights: Sequence[float]) -> int:
    """Return the place of a weight, the more often the greater it is."""
    left = chance.random() * sum(weights)
    for place, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return place
    return len(weights) - 1


def _meeting(act: TransactionAct, before: Play, course: ScriptCourse) -> Meeting:
    kind = type(act).__name__
    flags = [
        name for name in ("late", "late_marker", "again", "goes_on", "commits", "skips") if getattr(act, name, False)
    ]
    request = before.kept.get(act.name) if isinstance(act, Deliver) else None
    sender = course.play.producers.get(getattr(act, "producer", -1))
    known = None if sender is None else sender.epoch
    epoch: int | None = known if request is None else getattr(request, "epoch", None)
    partition = _partition(act, request)
    return Meeting(
        " ".join([kind, *flags, *([type(request).__name__] if request is not None else [])]),
        tuple(re.sub(r"\d+", "#", str(told)) for _, told in course.told if not isinstance(told, list)),
        before.coordinator.phase.name,
        None if epoch is None else before.coordinator.epoch - epoch,
        partition is not None and before.logs[partition].producer.is_open,
    )


def _partition(act: TransactionAct, request: Request | None) -> int | None:
    if isinstance(request, ProduceBatch):
        return request.record.partition
    if isinstance(request, AddPartitionToTxn | WriteTxnMarker):
        return request.partition
    if isinstance(act, CommitOffset | ReadOffset):
        return GROUP
    return getattr(act, "partition", None)


# What is proposed, with its weight. What may not come there is sorted out by the course.


def _proposals(course: ScriptCourse) -> Iterator[tuple[float, TransactionAct]]:
    if not course.clients:
        yield 1.0, Initialise()
        return
    late = f"late {len(course.acts) + 1}" if len(course.play.kept) < KEPT_MAX else ""
    for producer, client in course.clients.items():
        yield from _of_client(course, producer, client, late)
    if len(course.clients) < PRODUCERS:
        yield 0.4, Initialise(len(course.clients))
    yield from _arriving(course)
    yield from _looking(course)


def _of_client(
    course: ScriptCourse, producer: int, client: Client, late: str
) -> Iterator[tuple[float, TransactionAct]]:
    yield (1.5 if client.is_over else 0.15), Initialise(producer)
    if late:
        yield 0.1, Initialise(producer, late=late)
    if client.is_over:
        return
    yield (0.8 if client.must_abort or client.unsure else 0.15), Initialise(producer, goes_on=True)
    yield from _ending(producer, client, late)
    for partition in range(PARTITIONS):
        yield from _writing(course, producer, partition, late)
    if course.rules[0].tells_unstable_offsets:
        offset = int(client.unsure.get(GROUP, len(course.acts) + 1))
        yield 0.5, CommitOffset(offset, producer)
        if late:
            yield 0.4, CommitOffset(offset, producer, late)


def _ending(producer: int, client: Client, late: str) -> Iterator[tuple[float, TransactionAct]]:
    for commits in (True, False):
        if client.ending is not None:
            yield 4.0, End(commits=commits, producer=producer)
        else:
            yield (1.5 if client.has_begun else 0.1), End(commits=commits, producer=producer)
        if late and client.has_begun:
            yield 1.0, End(commits=commits, producer=producer, late=late)
            yield 0.7, End(commits=commits, producer=producer, late_marker=late)


def _writing(course: ScriptCourse, producer: int, partition: int, late: str) -> Iterator[tuple[float, TransactionAct]]:
    client, label = course.clients[producer], f"m{len(course.acts) + 1}"
    label = client.unsure.get(partition, label)
    yield 2.0, Send(label, partition, producer)
    yield 0.08, Send(label, partition, producer, skips=2)
    yield 0.3, Send(client.last.get(partition, label), partition, producer, again=True)
    if late:
        yield 0.8, Send(label, partition, producer, late)
    if not course.rules[0].adds_by_produce:
        yield 0.15, Add(partition, producer)
        if late:
            yield 0.25, Add(partition, producer, late)


def _arriving(course: ScriptCourse) -> Iterator[tuple[float, TransactionAct]]:
    for name, request in course.play.kept.items():
        yield (5.0 if _has_moved_on(course, request) else 0.3), Deliver(name)
    for partition in range(PARTITIONS):
        is_open = course.play.logs[partition].producer.is_open
        yield (0.8 if is_open else 0.25), MarkAgain(partition)


def _has_moved_on(course: ScriptCourse, request: Request) -> bool:
    """Return whether its transaction is over, and for an end also whether the next one has written: it may do harm."""
    if isinstance(request, ProduceBatch):
        label = course.play.labels[request.record]
        return not any(label in labels for labels in course.play.promised.going_on.values())
    writes = any(client.last and client.ending is None for client in course.clients.values())
    return writes or isinstance(request, AddPartitionToTxn | WriteTxnMarker)


def _looking(course: ScriptCourse) -> Iterator[tuple[float, TransactionAct]]:
    when = f"after act {len(course.acts)}"
    yield 0.15, ReadPartitions(when)
    if course.rules[0].tells_unstable_offsets and course.play.logs[GROUP].batches:
        yield 0.5, ReadOffset(when)
