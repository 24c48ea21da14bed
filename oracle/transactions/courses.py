"""Which act may come next in a script? What no interpreter can do is refused, and what no client would do.

A script is impossible where it names what is not there, or where its sender would be told to wait for ever: a run on
brokers would stand still. What producers are promised is promised to clients: one that was not answered sends the same
again or aborts, one whose batch was refused aborts, and one that cannot go on asks for an epoch anew.

Sources: Sender and TransactionManager of Kafka's clients.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oracle.error_codes import ErrorCode
from oracle.steps.step import ScheduleError
from oracle.transactions.play import ABORT, COMMIT, GROUP, Play
from oracle.transactions.script import (
    KEPT_BACK,
    Add,
    CommitOffset,
    Deliver,
    End,
    Initialise,
    MarkAgain,
    ReadPartitions,
    Send,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.script import Told, TransactionAct

WAITS_FOR_EVER = "its sender would be told to wait for ever"
ADDING = "answer to "
"""How the question begins whether a producer could add a partition before it wrote there."""
TOLD_WELL = ("NONE", "epoch ")
"""How answers begin that refuse nothing."""


class ActError(ScheduleError):
    """An act that cannot come there; the message says why, ``step`` is its place in the script, from 0."""


def played(acts: Sequence[TransactionAct], rules: TransactionRules) -> tuple[Play, tuple[Told, ...]]:
    """Play a script, and return where it leads, and what was told of its last act.

    Raises:
        ActError: an act is impossible by these rules.
    """
    play, told = Play(rules), tuple[tuple[str, object], ...]()
    for number, act in enumerate(acts):
        why = _lacking(act, play)
        if why is None:
            marker = play.markers.get(0)
            told = tuple(act.play(play))
            if isinstance(act, End) and act.late_marker and play.markers.get(0) is marker:
                raise ActError("no marker is sent to partition 0", step=number)
            why = WAITS_FOR_EVER if ErrorCode.CONCURRENT_TRANSACTIONS.name in (what for _, what in told) else None
        if why is not None:
            raise ActError(why, step=number)
    return play, told


def check_possible(acts: Sequence[TransactionAct], rules: TransactionRules) -> None:
    """Check that both interpreters can do what a script says, to its end.

    Raises:
        ActError: an act is impossible by these rules, or the look that ends a script is not its last act.
    """
    played(acts, rules)
    looks = [number for number, act in enumerate(acts) if isinstance(act, ReadPartitions) and act.is_last]
    if looks != [len(acts) - 1]:
        early = looks[0] if looks and looks[0] < len(acts) - 1 else len(acts) - 1
        raise ActError("a script ends with a look at both partitions, and with that alone", step=early)


def _lacking(act: TransactionAct, play: Play) -> str | None:
    """Return what an act needs that is not there; None if it has all."""
    if isinstance(act, Add | Send | CommitOffset | End) and act.producer not in play.producers:
        return "its producer has no epoch"
    names = (getattr(act, "late", ""), getattr(act, "late_marker", ""))
    if (known := next((name for name in names if name in play.kept), None)) is not None:
        return f"another request is kept back as {known!r}"
    if isinstance(act, End) and ((act.fails_over and not act.late_marker) or (act.late and act.late_marker)):
        return "a coordinator is killed while a marker of it is kept back, and a late end has none"
    if isinstance(act, Deliver):
        return None if act.name in play.kept else f"nothing is kept back as {act.name!r}"
    if isinstance(act, MarkAgain):
        return None if _has_marker(play, act.partition) else f"partition {act.partition} has no marker"
    if isinstance(act, Send):
        return _lacking_to_send(act, play)
    if isinstance(act, CommitOffset):
        return _lacking_label(str(act.offset), GROUP, play)
    return None


def _lacking_to_send(act: Send, play: Play) -> str | None:
    if play.producers[act.producer].next_sequence(act.partition, again=act.again) + act.skips < 0:
        return "there is no batch whose sequence number it could have again"
    return _lacking_label(act.label, act.partition, play)


def _lacking_label(label: str, partition: int, play: Play) -> str | None:
    if label in {COMMIT, ABORT}:
        return f"{label} is what a marker is called"
    others = {record.partition for record, name in play.labels.items() if name == label} - {partition}
    return f"{label!r} is in another partition already" if others else None


def _has_marker(play: Play, partition: int) -> bool:
    """Return whether a partition's log has the last marker that was sent to it: brokers' logs tell that one."""
    marker = play.markers.get(partition)
    written = [batch for batch in play.logs[partition].batches if batch.record is None]
    if marker is None or not written:
        return False
    return (written[-1].epoch, written[-1].commits) == (marker.epoch, marker.commits)


# Producers, as clients are.


@dataclass(slots=True)
class Client:
    """What a producer knows of its transaction.

    Attributes:
        has_begun: it has added or sent something.
        unsure: by partition, the batch that it was not answered.
        last: by partition, the last batch that it knows is appended.
        ending: how it has asked to end the transaction without an answer; None if it has not.
        must_abort: a request of the transaction was refused.
        is_over: it can only ask for an epoch anew.
    """

    has_begun: bool = False
    unsure: dict[int, str] = field(default_factory=dict)
    last: dict[int, str] = field(default_factory=dict)
    ending: bool | None = None
    must_abort: bool = False
    is_over: bool = False

    @property
    def writes(self) -> bool:
        """Return whether it may add and send."""
        return not (self.is_over or self.must_abort) and self.ending is None


class ScriptCourse:
    """A script as far as it goes, on the same course by each of some rules.

    Args:
        rules: by which each act must be possible; the first ones are those that it is predicted by.
        acts: what happens.

    Raises:
        ActError: an act may not come there.
    """

    def __init__(self, rules: Sequence[TransactionRules], acts: Iterable[TransactionAct] = ()) -> None:
        self.rules = tuple(rules)
        self.acts: tuple[TransactionAct, ...] = ()
        self.clients: dict[int, Client] = {}
        self.play = Play(self.rules[0])
        self.told: tuple[Told, ...] = ()
        for act in acts:
            self.take(act)

    def take(self, act: TransactionAct) -> None:
        """Let an act come next.

        Raises:
            ActError: it may not; nothing is changed.
        """
        if not self._may(act):
            raise ActError("no client does that", step=len(self.acts))
        acts = (*self.acts, act)
        for other in self.rules[1:]:
            played(acts, other)
        play, told = played(acts, self.rules[0])
        if any(what.startswith(ADDING) and not _is_well(answer) for what, answer in told):
            raise ActError("no client sends to a partition that it could not add", step=len(self.acts))
        self.acts, self.play, self.told = acts, play, told
        self._note(act, is_answered=not getattr(act, "late", ""), is_well=_is_well(told[-1][1]) if told else True)

    def _may(self, act: TransactionAct) -> bool:
        """Return whether a client does that."""
        if isinstance(act, Initialise):
            return act.producer in self.clients or act.producer == len(self.clients)
        if not isinstance(act, Add | Send | CommitOffset | End):
            return True
        client = self.clients.get(act.producer)
        if client is None or client.is_over:
            return False
        if isinstance(act, End):
            is_same = client.ending is None or (client.ending == act.commits and not act.late)
            return is_same and not (act.commits and (client.must_abort or client.unsure))
        if isinstance(act, CommitOffset):
            return client.writes and self._may_commit(client, act)
        return client.writes and (isinstance(act, Add) or self._may_send(client, act))

    def _may_commit(self, client: Client, act: CommitOffset) -> bool:
        """Return whether a client commits that offset: a new one, or the one that it was not answered."""
        if GROUP in client.unsure:
            return str(act.offset) == client.unsure[GROUP] and not act.late
        return str(act.offset) not in self.play.labels.values()

    def _may_send(self, client: Client, act: Send) -> bool:
        """Return whether a client sends that: something new, or what it was not answered, or the last one again."""
        if act.partition in client.unsure:
            return act.label == client.unsure[act.partition] and not (act.again or act.skips or act.late)
        if act.again:
            is_kept = act.partition in self.play.producers[act.producer].kept
            return act.label == client.last.get(act.partition) and not (is_kept or act.skips or act.late)
        return act.label not in self.play.labels.values()

    def _note(self, act: TransactionAct, *, is_answered: bool, is_well: bool) -> None:
        if isinstance(act, Initialise):
            self.clients[act.producer] = Client(is_over=not (is_answered and is_well))
        elif isinstance(act, End):
            client = self.clients[act.producer]
            if not is_answered:
                client.ending = act.commits
            else:
                self.clients[act.producer] = Client(is_over=not is_well)
        elif isinstance(act, Add | Send | CommitOffset):
            _note_written(self.clients[act.producer], act, is_answered=is_answered, is_well=is_well)


def _note_written(client: Client, act: Add | Send | CommitOffset, *, is_answered: bool, is_well: bool) -> None:
    client.has_begun = True
    if is_answered and not is_well:
        client.must_abort = True
    elif isinstance(act, Send):
        _note_sent(client, act.partition, act.label, is_answered=is_answered)
    elif isinstance(act, CommitOffset):
        _note_sent(client, GROUP, str(act.offset), is_answered=is_answered)


def _note_sent(client: Client, partition: int, label: str, *, is_answered: bool) -> None:
    client.unsure.pop(partition, None)
    known = client.last if is_answered else client.unsure
    known[partition] = label


def _is_well(answer: object) -> bool:
    return not isinstance(answer, str) or answer.startswith(TOLD_WELL) or answer == KEPT_BACK
