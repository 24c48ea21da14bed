"""What was measured in a run, and when? ``observations.ndjson``: the probes' numbers, producers' outcomes, answers."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from conformance.record.answers import AnswerValue  # noqa: TC001 - likewise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.record.directory import RunDirectory

OBSERVATIONS_FILE = "observations.ndjson"


@dataclass(frozen=True, slots=True)
class ReplicaSeen:
    """One replica's offsets as a probe read them; those of a dead broker are what its files say."""

    log_end_offset: int
    high_watermark: int
    alive: bool
    log_start_offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredNumbers:
    """One probe of the partition at rest.

    Attributes:
        t_ns: when, monotonic nanoseconds.
        step: the step that was taken, from 0; None between the steps.
        replicas: each replica's offsets, by broker.
        leader: as the controller sees it, as are ``leader_epoch``, ``isr`` and ``elr``.
        remote_log_end_offsets: what the leader knows of each follower's log end offset, derived from its fetches.
        or_if_diverging_counts: what it knows instead if it counts a fetch that it answered with a diverging epoch.
    """

    replicas: Mapping[int, ReplicaSeen]
    leader: int | None
    leader_epoch: int
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None = None
    remote_log_end_offsets: Mapping[int, int | None] = field(default_factory=dict)
    or_if_diverging_counts: Mapping[int, int] = field(default_factory=dict)
    t_ns: int = 0
    step: int | None = None
    kind: Literal["numbers"] = "numbers"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCheckpoint(MeasuredNumbers):
    """The numbers of a checkpoint: two probes with a round of fetches between them agree.

    Attributes:
        name: the checkpoint's.
        settled: whether the two agreed.
        epoch_files: each live broker's leader-epoch-checkpoint: (epoch, start offset) in order.
        isr_notices: how many notices of ISR changes wait for the controller in ZooKeeper.
        told_leaders: whom each live broker's metadata names as leader.
    """

    name: str
    settled: bool
    epoch_files: Mapping[int, tuple[tuple[int, int], ...]] | None = None
    isr_notices: int | None = None
    told_leaders: Mapping[int, int | None] | None = None
    kind: Literal["checkpoint"] = "checkpoint"  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeSeen:
    """What a producer was told of a record.

    Attributes:
        t_ns: when, monotonic nanoseconds.
        step: the step that was taken, from 0; None between the steps.
        outcome: a value of ``oracle.vocabulary.ProduceOutcome``.
        error: its name in Kafka's ``Errors``; None of an acknowledgement.
        offset: as acknowledged; None when none was given.
    """

    label: str
    outcome: str
    error: str | None = None
    offset: int | None = None
    t_ns: int = 0
    step: int | None = None
    kind: Literal["outcome"] = "outcome"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerAnswer:
    """What a broker answered to a step that asked it.

    Attributes:
        t_ns: when, monotonic nanoseconds.
        step: the step, from 0.
        answer: every value by its name.
    """

    broker: int
    answer: Mapping[str, AnswerValue]
    t_ns: int = 0
    step: int | None = None
    kind: Literal["answer"] = "answer"


Observation: TypeAlias = MeasuredNumbers | MeasuredCheckpoint | OutcomeSeen | BrokerAnswer


@dataclass(frozen=True, slots=True)
class _Kind:
    kind: Literal["numbers", "checkpoint", "outcome", "answer"]


_FORMS = {"numbers": MeasuredNumbers, "checkpoint": MeasuredCheckpoint, "outcome": OutcomeSeen, "answer": BrokerAnswer}


def read_observations(run: RunDirectory, *, may_be_cut: bool = False) -> list[Observation]:
    """Read the observations in order; empty if there are none.

    Raises:
        RunDirectoryError: a line cannot be read.
    """
    return run.lines(OBSERVATIONS_FILE, _observation, may_be_cut=may_be_cut)


def _observation(line: bytes) -> Observation:
    form = _FORMS[msgspec.json.decode(line, type=_Kind).kind]
    seen: Observation = msgspec.json.decode(line, type=form)
    return seen


def last_probes(observations: Iterable[Observation]) -> dict[int, MeasuredNumbers]:
    """Return the last probe of each step, in the order of the steps."""
    last = {seen.step: seen for seen in observations if isinstance(seen, MeasuredNumbers) and seen.step is not None}
    return {step: last[step] for step in sorted(last)}


def checkpoints(observations: Iterable[Observation]) -> dict[str, MeasuredCheckpoint]:
    """Return what was measured at each checkpoint, by its name."""
    return {seen.name: seen for seen in observations if isinstance(seen, MeasuredCheckpoint)}
