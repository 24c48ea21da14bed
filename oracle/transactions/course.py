"""What does each request of a script do? The course: act by act, with what coordinator and leaders know after each.

It is the play that predicts the script's answers, watched: nothing is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from typing_extensions import override

from oracle.transactions.play import Play
from oracle.transactions.state import Coordinator, PartitionLog, WriteTxnMarker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.script import Told, TransactionAct
    from oracle.transactions.state import Answer, Request, TxnBatch


@dataclass(frozen=True, slots=True)
class Known:
    """What coordinator and leaders know at one moment."""

    coordinator: Coordinator = field(default_factory=Coordinator)
    logs: tuple[PartitionLog, ...] = ()


@dataclass(frozen=True, slots=True)
class PlayedRequest:
    """One request, sent or delivered.

    Attributes:
        answer: None while the request is kept back.
        sender: the number of its producer; None of a marker.
        late: under which name it is, or was, kept back; empty if it never was.
        is_again: a marker that was delivered in an earlier act.
        after: what is known before the next one: a transaction is complete with the answer to its last marker.
    """

    request: Request
    answer: Answer | None
    sender: int | None
    late: str
    is_again: bool
    after: Known


@dataclass(frozen=True, slots=True)
class PlayedAct:
    """An act with all that it led to.

    Attributes:
        number: among the acts, from 1.
        told: its questions with the predicted answers.
        epochs: of every producer that has one by now, by its number.
        after: what is known at its end.
    """

    number: int
    act: TransactionAct
    told: tuple[Told, ...]
    requests: tuple[PlayedRequest, ...]
    epochs: tuple[tuple[int, int], ...]
    after: Known


@dataclass(slots=True)
class WatchedPlay(Play):
    """A play that keeps every request with its answer.

    Attributes:
        sender: the producer of the act that is played.
        requests: of that act.
        lates: name and sender of each request that was kept back, by its identity.
        former: the identities of requests that were delivered in earlier acts.
    """

    sender: int = 0
    requests: list[PlayedRequest] = field(default_factory=list)
    lates: dict[int, tuple[str, int]] = field(default_factory=dict)
    former: set[int] = field(default_factory=set)

    @override
    def keep(self, name: str, request: Request) -> None:
        """Keep a request back, and keep that."""
        self.lates[id(request)] = (name, self.sender)
        self._keep(request, None)
        Play.keep(self, name, request)

    @override
    def _delivered(self, request: Request) -> Answer:
        self._end_last()
        answer = Play._delivered(self, request)  # noqa: SLF001 - its own, watched
        self._keep(request, answer)
        return answer

    def _keep(self, request: Request, answer: Answer | None) -> None:
        late, sender = self.lates.get(id(request), ("", self.sender))
        by = None if isinstance(request, WriteTxnMarker) else sender
        again = answer is not None and by is None and id(request) in self.former
        self.requests.append(PlayedRequest(request, answer, by, late, again, self.known))

    def _end_last(self) -> None:
        if self.requests:
            self.requests[-1] = replace(self.requests[-1], after=self.known)

    @property
    def known(self) -> Known:
        """Return what coordinator and leaders know now."""
        return Known(self.coordinator, self.logs)

    def played(self, number: int, act: TransactionAct) -> PlayedAct:
        """Play an act."""
        self.sender, self.requests = getattr(act, "producer", 0), []
        told = tuple(act.play(self))
        self._end_last()
        self.former |= {id(one.request) for one in self.requests if one.answer is not None}
        epochs = tuple((producer, known.epoch) for producer, known in sorted(self.producers.items()))
        return PlayedAct(number, act, told, tuple(self.requests), epochs, self.known)


def watch(acts: Sequence[TransactionAct], rules: TransactionRules) -> tuple[tuple[PlayedAct, ...], WatchedPlay]:
    """Play a script; return every act with what it led to, and the play as it ends."""
    play = WatchedPlay(rules)
    return tuple(play.played(number, act) for number, act in enumerate(acts, 1)), play


OPEN, COMMITTED, ABORTED = "open", "committed", "aborted"
"""What becomes of a record in a log."""


def ends_of(batches: Sequence[TxnBatch]) -> list[str | None]:
    """Return of each batch what the first marker behind it makes of it; None of a marker."""
    ends: list[str | None] = []
    end = OPEN
    for batch in reversed(batches):
        if batch.record is None:
            end = COMMITTED if batch.commits else ABORTED
        ends.append(None if batch.record is None else end)
    return ends[::-1]
