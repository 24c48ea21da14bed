"""What does a report know about a run over time? Frozen views; ``reports.load_story`` fills them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.record.schedule import StepInWords
    from conformance.record.verdict import DifferingNumber, HeldRecord, StaleLeader


CONTROLLER = 0
"""Stands where a broker's number stands, for the controller."""


@dataclass(frozen=True, slots=True)
class Instant:
    """A moment of the run: the step it fell into and, if known, the monotonic time."""

    step: int
    t_ns: int | None = None


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of the schedule, with the time it took."""

    index: int
    taken: StepInWords
    started_ns: int | None = None
    finished_ns: int | None = None

    @property
    def sentence(self) -> str:
        """Return the step as a sentence."""
        words = self.taken.sentence
        return f"{words[0].upper()}{words[1:]}."

    @property
    def seconds(self) -> str:
        """Return how long the step took, as 4.6 s; empty if nobody wrote it down."""
        if self.started_ns is None or self.finished_ns is None:
            return ""
        return f"{(self.finished_ns - self.started_ns) / 1e9:.1f} s"


@dataclass(frozen=True, slots=True)
class NumbersView:
    """One replica's numbers; None where nothing was measured."""

    log_end_offset: int | None
    high_watermark: int | None
    alive: bool


@dataclass(frozen=True, slots=True)
class MomentView:
    """All numbers measured at rest after one step."""

    step: int
    replicas: Mapping[int, NumbersView]
    leader: int | None = None
    leader_epoch: int | None = None
    isr: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ProofView:
    """What shows that a fault fired, or was taken back.

    Attributes:
        step: the step that injected it, or took it back.
        text: what shows it; empty if nothing does.
        at_ns: when it fired, monotonic nanoseconds.
    """

    step: int
    text: str = ""
    at_ns: int | None = None

    @property
    def words(self) -> str:
        """Return the proof, or that there is none."""
        return f"proof: {self.text}" if self.text else "no proof: nothing that was written down shows it"

    def without(self, partition: str) -> ProofView:
        """Return the proof with the partition called so: a run has one, and its topic a long name."""
        return replace(self, text=self.text.replace(partition, "the partition"))


@dataclass(frozen=True, slots=True)
class MarkView:
    """Something that happened to one broker or at the controller, such as killed, elected or tail_lost.

    Attributes:
        detail: what the words need besides: the offsets that were lost, the kind of election.
    """

    kind: str
    broker: int
    at: Instant
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class HeldFrameView:
    """A frame that the gate froze, from caught to released or discharged.

    Attributes:
        follower: the broker that fetches; on a controller's channel the broker at its end.
        leader: the broker it fetches from, or ``CONTROLLER``.
        is_from_follower: whether the follower sent the frame.
        armed_in: the step that armed the hold; None of a hold that no step has armed.
    """

    name: str
    point: str
    label: str
    follower: int
    leader: int
    is_from_follower: bool
    caught: Instant
    ended: Instant | None
    ending: str
    armed_in: int | None = None

    @property
    def ends(self) -> tuple[int, int]:
        """Return sender and receiver."""
        return (self.follower, self.leader) if self.is_from_follower else (self.leader, self.follower)

    @property
    def between(self) -> str:
        """Return in words where the frame was held."""
        if self.leader == CONTROLLER:
            return f"between broker {self.follower} and the controller"
        return f"between follower {self.follower} and leader {self.leader}"


def end_words(end: int) -> str:
    """Return who is at an end of a frame's way."""
    return "the controller" if end == CONTROLLER else f"broker {end}"


@dataclass(frozen=True, slots=True)
class Story:
    """Everything the picture of a run shows over time.

    Attributes:
        differences: the offsets that were not as predicted; None if nobody said which.
        held_records: which record each replica held from when on, as far as the judge could tell.
        stale_leaders: after which steps which brokers had not heard of their successor, as the judge tells.
    """

    replicas: tuple[int, ...] = ()
    steps: tuple[StepView, ...] = ()
    measured: tuple[MomentView, ...] = ()
    differences: tuple[DifferingNumber, ...] | None = None
    held_records: tuple[HeldRecord, ...] = ()
    stale_leaders: tuple[StaleLeader, ...] = ()
    marks: tuple[MarkView, ...] = ()
    held_frames: tuple[HeldFrameView, ...] = ()
    raced_steps: tuple[int, ...] = ()
    proofs: tuple[ProofView, ...] = ()

    def predicted_instead(self, step: int, broker: int) -> dict[str, int]:
        """Return the numbers of a replica that were not as predicted after a step, by name: what was predicted."""
        own = (one for one in self.differences or () if (one.step, one.broker) == (step, broker))
        return {one.number: one.predicted for one in own}

    def proofs_of(self, step: int | None) -> tuple[ProofView, ...]:
        """Return what proves the faults of a step."""
        return tuple(proof for proof in self.proofs if proof.step == step)

    def said_of(self, step: int | None) -> str:
        """Return the proofs of a step in words, to be written behind what they prove; empty if it needs none."""
        return "".join(f"; {proof.words}" for proof in self.proofs_of(step))

    @property
    def shows_controller(self) -> bool:
        """Return whether the controller takes part: a frame of its own was held, or an election was asked for."""
        return any(frame.leader == CONTROLLER for frame in self.held_frames) or any(
            mark.broker == CONTROLLER for mark in self.marks
        )


# What does a report know about an open race? Every way it can end, and the one that was measured.


@dataclass(frozen=True, slots=True)
class OutcomeView:
    """One of several ways an open race can end.

    Attributes:
        moves: what has to happen, in order.
        steps: the steps in which that is decided, from 0.
        ends: the records that end otherwise than in another outcome.
        is_measured: whether it is the one that fits what was measured.
    """

    number: int
    moves: tuple[str, ...]
    ends: tuple[str, ...]
    is_measured: bool
    steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenRace:
    """What the prediction left open, and how it ended.

    Attributes:
        values: each number, log and record with the values it can have.
        assumed: the steps that only some outcomes bring about.
    """

    outcomes: tuple[OutcomeView, ...]
    values: tuple[str, ...]
    assumed: tuple[str, ...]

    @property
    def measured(self) -> OutcomeView | None:
        """Return the outcome that was measured, if any was."""
        return next((outcome for outcome in self.outcomes if outcome.is_measured), None)
