"""What happened over time, and what was left open? Steps, numbers after each step, marks, held frames, races."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from conformance.record.observations import last_probes
from conformance.record.timeline import HOLD_ENDS, Event
from oracle.vocabulary import PointName, frame_words
from reports.load_faults import proofs_of
from reports.story import (
    CONTROLLER,
    HeldFrameView,
    Instant,
    MarkView,
    MomentView,
    NumbersView,
    OpenRace,
    OutcomeView,
    StepView,
    Story,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.record.observations import MeasuredNumbers, Observation
    from conformance.record.prediction import FrozenPrediction, PredictedRecord
    from conformance.record.schedule import ScheduleInWords, StepInWords
    from conformance.record.timeline import TimelineMark
    from reports.model import Files

_MARK_KINDS = {
    Event.BROKER_KILLED: "killed",
    Event.BROKER_STOPPED: "stopped",
    Event.BROKER_ENDED: "ended",
    Event.BROKER_STARTED: "started",
    Event.LEADER_ELECTED: "elected",
    Event.TAIL_LOST: "tail_lost",
    Event.CHECKPOINT_LOST: "checkpoint_lost",
    Event.ELECTION_REQUESTED: "election_requested",
    Event.BROKER_PAUSED: "paused",
    Event.BROKER_RESUMED: "resumed",
    Event.BROKER_ISOLATED: "isolated",
    Event.BROKER_REJOINED: "rejoined",
    Event.LINK_CUT: "link_cut",
    Event.LINK_HEALED: "link_healed",
}


def story_of(files: Files, partition: str = "") -> Story:
    """Return the run's story; without a schedule or observations it is empty or short.

    Args:
        files: what it is made of.
        partition: the partition as faults name it.
    """
    steps = _steps(files.schedule, files.timeline)
    measured = _moments(files.observations)
    marks = tuple(_mark(noted, steps) for noted in files.timeline if noted.event in _MARK_KINDS)
    return Story(
        replicas=_replicas(files.schedule, measured),
        steps=steps,
        measured=measured,
        differences=None if files.verdict is None else files.verdict.differences,
        held_records=() if files.verdict is None else files.verdict.held_records or (),
        stale_leaders=() if files.verdict is None else files.verdict.stale_leaders or (),
        marks=marks + _unmarked_elections(measured, marks, steps),
        held_frames=load_held_frames(files.timeline, steps),
        proofs=proofs_of(files.timeline, steps, partition),
    )


def instant_of(noted: TimelineMark, steps: Sequence[StepView]) -> Instant:
    """Return when an event happened; an event outside any step belongs to the last one begun."""
    if noted.step is not None:
        return Instant(noted.step, noted.t_ns)
    begun = [step.started_ns for step in steps if step.started_ns is not None]
    return Instant(max(0, bisect_right(begun, noted.t_ns) - 1), noted.t_ns)


def _replicas(schedule: ScheduleInWords | None, measured: Sequence[MomentView]) -> tuple[int, ...]:
    if schedule is not None and schedule.replicas:
        return schedule.replicas
    return tuple(sorted(measured[0].replicas)) if measured else ()


def _steps(schedule: ScheduleInWords | None, timeline: Sequence[TimelineMark]) -> tuple[StepView, ...]:
    started = {noted.step: noted.t_ns for noted in timeline if noted.event is Event.STEP_STARTED}
    finished = {noted.step: noted.t_ns for noted in timeline if noted.event is Event.STEP_FINISHED}
    taken = () if schedule is None else schedule.steps
    return tuple(StepView(index, step, started.get(index), finished.get(index)) for index, step in enumerate(taken))


def _moments(observations: Sequence[Observation]) -> tuple[MomentView, ...]:
    return tuple(_measured(step, seen) for step, seen in last_probes(observations).items())


def _measured(step: int, seen: MeasuredNumbers) -> MomentView:
    replicas = {
        broker: NumbersView(one.log_end_offset, one.high_watermark, one.alive) for broker, one in seen.replicas.items()
    }
    return MomentView(step, replicas, seen.leader, seen.leader_epoch, seen.isr)


def _mark(noted: TimelineMark, steps: Sequence[StepView]) -> MarkView:
    kind, at = _MARK_KINDS[noted.event], instant_of(noted, steps)
    if noted.event is Event.ELECTION_REQUESTED:
        return MarkView(kind, CONTROLLER, at, noted.text, detail=noted.subject)
    broker = int(noted.subject) if noted.subject.isdecimal() else -1
    return MarkView(kind, broker, at, noted.text, _lost_offsets(noted) if noted.event is Event.TAIL_LOST else "")


def _lost_offsets(noted: TimelineMark) -> str:
    """Return which offsets a disk forgot, as words; of a run of format 1, from where on."""
    if noted.last_offset is None:
        return f"{noted.offset} on"
    return str(noted.offset) if noted.offset == noted.last_offset else f"{noted.offset} to {noted.last_offset}"


def _unmarked_elections(
    measured: Sequence[MomentView], marks: Sequence[MarkView], steps: Sequence[StepView]
) -> tuple[MarkView, ...]:
    """Return a mark for every new leader that no event announced: elected by the end of that step."""
    announced = {(mark.broker, mark.at.step) for mark in marks if mark.kind == "elected"}
    found = []
    for before, after in pairwise(measured):
        if after.leader is None or after.leader == before.leader or (after.leader, after.step) in announced:
            continue
        finished = steps[after.step].finished_ns if after.step < len(steps) else None
        found.append(MarkView("elected", after.leader, Instant(after.step, finished), f"broker {after.leader} leads"))
    return tuple(found)


def load_held_frames(timeline: Sequence[TimelineMark], steps: Sequence[StepView]) -> tuple[HeldFrameView, ...]:
    """Return every frame that was caught, named by the schedule; one that never ended is held to the end of the run."""
    armed = {step.taken.subject: (step.index, step.taken) for step in steps if step.taken.word == "hold"}
    frames = []
    for position, noted in enumerate(timeline):
        if noted.event is Event.HOLD_CAUGHT:
            later = timeline[position + 1 :]
            ended = next((one for one in later if one.event in HOLD_ENDS and one.subject == noted.subject), None)
            frames.append(_frame(noted, ended, steps, *armed.get(noted.subject, (None, None))))
    return tuple(frame for frame in frames if frame is not None)


def _frame(
    caught: TimelineMark,
    ended: TimelineMark | None,
    steps: Sequence[StepView],
    armed_in: int | None,
    hold: StepInWords | None,
) -> HeldFrameView | None:
    follower, leader = _ends(caught, hold)
    if follower is None or leader is None:
        return None
    point = (None if hold is None else hold.point) or caught.point or PointName.FETCH_REQUEST.value
    offset = hold.fetch_offset if hold is not None and caught.offset is None else caught.offset
    return HeldFrameView(
        name=caught.subject,
        point=point,
        label=f"{frame_words(point, offset)} held",
        follower=follower,
        leader=leader,
        is_from_follower=point.endswith("request"),
        caught=instant_of(caught, steps),
        ended=None if ended is None else instant_of(ended, steps),
        ending="still held" if ended is None else ended.event.removeprefix("hold_"),
        armed_in=armed_in,
    )


def _ends(caught: TimelineMark, hold: StepInWords | None) -> tuple[int | None, int | None]:
    """Return follower and leader; of a controller's channel the broker and the controller."""
    armed = (None, None, None) if hold is None else (hold.broker, hold.follower, hold.leader)
    seen = (caught.broker, caught.follower, caught.leader)
    broker, follower, leader = (own if other is None else other for own, other in zip(armed, seen, strict=True))
    return (follower, leader) if broker is None else (broker, CONTROLLER)


def race_of(prediction: FrozenPrediction | None) -> OpenRace | None:
    """Return the open race with every outcome's moves, or None where everything was determined."""
    if prediction is None or not (prediction.alternatives or prediction.assumed):
        return None
    measured = None if prediction.measured_outcome is None else prediction.measured_outcome.number
    open_records = prediction.open_records
    ends = [
        tuple(_end(record) for record in one.records if record.label in open_records) for one in prediction.alternatives
    ]
    return OpenRace(
        outcomes=tuple(
            OutcomeView(number, alternative.race, ends[number - 1], number == measured, alternative.raced_steps)
            for number, alternative in enumerate(prediction.alternatives, start=1)
        ),
        values=prediction.races,
        assumed=tuple(one.text for one in prediction.assumed),
    )


def raced_steps(race: OpenRace | None) -> tuple[int, ...]:
    """Return the steps, counted from 0, in which the measured outcome, or any, was decided."""
    if race is None:
        return ()
    outcomes = [race.measured] if race.measured else race.outcomes
    return tuple(sorted({step for outcome in outcomes for step in outcome.steps}))


def _end(record: PredictedRecord) -> str:
    where = f"at offset {record.offset}" if record.fate == "present" else record.called
    return (
        f"{record.label} {where}" if record.outcome == "acknowledged" else f"{record.label} {where}, {record.outcome}"
    )
