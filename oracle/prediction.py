"""What does a prediction say? Numbers at every checkpoint, every record's fate, every replica's log.

``Prediction.as_json`` is the machine format of ``predict --json``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oracle.vocabulary import Offset

if TYPE_CHECKING:
    from oracle.asking import StepAnswer
    from oracle.guarantees import Promise
    from oracle.predicting.wording import Chronicle
    from oracle.vocabulary import BrokerId, Fate, Label, Leadership, ProduceOutcome


FORMAT_VERSION = 2
"""Of the machine format. 1 had neither this number nor ``assumed`` nor ``alternatives``."""


@dataclass(frozen=True, slots=True)
class ReplicaNumbers:
    """One replica's numbers; those of a dead broker are what its files say."""

    log_end_offset: Offset
    high_watermark: Offset
    alive: bool
    log_start_offset: Offset = field(default=Offset(0))

    def as_json(self) -> dict[str, Any]:
        """Return the numbers; where the log starts only if records were deleted."""
        start = {"log_start_offset": self.log_start_offset} if self.log_start_offset else {}
        numbers = {"log_end_offset": self.log_end_offset, "high_watermark": self.high_watermark, "alive": self.alive}
        return {**numbers, **start}


@dataclass(frozen=True, slots=True)
class Moment:
    """The partition at rest: after a step, or at a checkpoint.

    Attributes:
        leadership: ordinal of the latest leadership, counted from 0.
        remote_log_end_offsets: the leader's copies of its followers' end offsets; None: unknown yet.
        hung: the brokers that are down and whose processes stay, with their ports closed (KAFKA-7414 in 0.10).
        is_open: links raced, and these numbers are one of several that lead to the same end; never at a checkpoint.
    """

    step: int
    name: str | None
    replicas: dict[BrokerId, ReplicaNumbers]
    leader: BrokerId | None
    leadership: Leadership
    isr: tuple[BrokerId, ...]
    elr: tuple[BrokerId, ...]
    remote_log_end_offsets: dict[BrokerId, Offset | None]
    hung: tuple[BrokerId, ...] = ()
    is_open: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the moment with string keys, as JSON has them; who hangs, and that it is open, only if so."""
        replicas = {str(broker): numbers.as_json() for broker, numbers in self.replicas.items()}
        return {
            "step": self.step,
            "name": self.name,
            "replicas": replicas,
            "leader": self.leader,
            "leadership": self.leadership,
            "isr": list(self.isr),
            "elr": list(self.elr),
            "remote_log_end_offsets": {str(b): o for b, o in self.remote_log_end_offsets.items()},
            **({"hung": list(self.hung)} if self.hung else {}),
            **({"is_open": True} if self.is_open else {}),
        }


@dataclass(frozen=True, slots=True)
class RecordPrediction:
    """What becomes of one record.

    Attributes:
        id: position of its label in the schedule.
        offset: where it will be readable; None unless the fate is present.
        leadership: ordinal of the leadership it was written in; None if it was never appended.
        decided_by: the step and the rule that decided the fate, in words.
        promise: whether its loss, if any, breaks what the settings promise.
    """

    id: int
    label: Label
    fate: Fate
    was_committed: bool
    outcome: ProduceOutcome
    error: str | None
    offset: Offset | None
    leadership: Leadership | None
    acks: int
    decided_by: str
    promise: Promise

    def as_json(self) -> dict[str, Any]:
        """Return the record's row of the machine format."""
        return {
            "id": self.id,
            "label": self.label,
            "fate": self.fate.value,
            "was_committed": self.was_committed,
            "outcome": self.outcome.value,
            "error": self.error,
            "offset": self.offset,
            "leadership": self.leadership,
            "acks": int(self.acks),
            "decided_by": self.decided_by,
            "promise": self.promise.verdict.value,
            "promise_reason": self.promise.reason,
        }


@dataclass(frozen=True, slots=True)
class LoggedRecord:
    """One offset of one replica's log."""

    offset: Offset
    label: Label
    leadership: Leadership


@dataclass(frozen=True, slots=True)
class Divergence:
    """An offset below both high watermarks where two replicas hold different records."""

    offset: Offset
    labels: dict[BrokerId, Label]


@dataclass(frozen=True, slots=True)
class Assumption:
    """A step that only some of the open outcomes bring about.

    Attributes:
        step: its index.
        text: the step, and what the others would be and why.
    """

    step: int
    text: str

    def as_json(self) -> dict[str, Any]:
        """Return the assumption as the machine format has it."""
        return {"step": self.step, "text": self.text}


@dataclass(frozen=True, slots=True)
class Prediction:
    """Everything that one rule set says about one schedule.

    Attributes:
        checkpoints: the numbers at each; where a race is open, those of the first alternative.
        moments: the numbers after every step, likewise.
        answers: what brokers answer to the steps that ask them; likewise.
        races: what is open, each number, log and record with the values it can have.
        unregistrable: brokers that the cluster cannot register again after a crash, once the topic is deleted: what
            the schedule leaves behind (``oracle.rules.eligible_leaders``); of all alternatives.
        assumed: the awaits that only some of the open outcomes bring about: the others are left out.
        alternatives: every outcome that is open, two or more, or none where all is determined.
        chronicle: what happened and why; not part of the machine format.
    """

    scenario: str
    kafka: str
    metadata: str
    rules: tuple[str, ...]
    checkpoints: tuple[Moment, ...]
    moments: tuple[Moment, ...]
    records: tuple[RecordPrediction, ...]
    logs: dict[BrokerId, tuple[LoggedRecord, ...]]
    diverged: tuple[Divergence, ...] = ()
    answers: tuple[StepAnswer, ...] = ()
    unregistrable: frozenset[BrokerId] = frozenset()
    races: tuple[str, ...] = ()
    assumed: tuple[Assumption, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    chronicle: Chronicle = ()

    def as_json(self) -> dict[str, Any]:
        """Return the machine format of ``predict --json``."""
        return {
            "format": FORMAT_VERSION,
            "scenario": self.scenario,
            "kafka": self.kafka,
            "metadata": self.metadata,
            "rules": list(self.rules),
            **self.numbers_as_json(),
            **({"unregistrable": sorted(self.unregistrable)} if self.unregistrable else {}),
            "races": list(self.races),
            "assumed": [assumption.as_json() for assumption in self.assumed],
            "alternatives": [alternative.as_json() for alternative in self.alternatives],
        }

    def numbers_as_json(self) -> dict[str, Any]:
        """Return what can be measured: numbers, records and logs."""
        logs = {
            str(broker): [{"offset": r.offset, "label": r.label, "leadership": r.leadership} for r in records]
            for broker, records in self.logs.items()
        }
        diverged = [
            {"offset": d.offset, "replicas": {str(b): label for b, label in d.labels.items()}} for d in self.diverged
        ]
        return {
            "checkpoints": [moment.as_json() for moment in self.checkpoints],
            "records": [record.as_json() for record in self.records],
            "logs": logs,
            "diverged": diverged,
            **({"answers": [answer.as_json() for answer in self.answers]} if self.answers else {}),
            "steps": [moment.as_json() for moment in self.moments],
        }


@dataclass(frozen=True, slots=True)
class Decision:
    """A move that decides for one outcome and against others.

    Attributes:
        step: in which step, from 0.
        text: the step and the move in words.
    """

    step: int
    text: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of several outcomes that are open.

    Attributes:
        race: the moves that decide for it, in order.
        prediction: what is measured then.
    """

    race: tuple[Decision, ...]
    prediction: Prediction

    def as_json(self) -> dict[str, Any]:
        """Return the alternative as a prediction with the race that leads to it."""
        told = {"race": [one.text for one in self.race], "raced_steps": sorted({one.step for one in self.race})}
        return told | self.prediction.numbers_as_json()
