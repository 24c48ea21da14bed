"""Is a hold believed to have caught a frame only where the wire trace shows that frame?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judgement.evidence_of_frames import Frames, end_complaints, frame_complaints, frames_that_matter
from conformance.judgement.evidence_of_wire import WireStory
from conformance.record.observations import MeasuredNumbers, ReplicaSeen
from conformance.record.run import Run
from conformance.record.timeline import Event, FrameOfFault, TimelineMark
from conformance.record.wire import TracedFrame
from oracle.replacing import replace
from oracle.schedule import Schedule
from oracle.steps.brokers import Isolate, Pause, Rejoin, Resume
from oracle.steps.frames import CutLink, Drop, Heal, Hold, ReleaseHold
from oracle.vocabulary import BrokerId, PointName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.steps.step import Step

SCHEDULE = Schedule(
    id="evidence/held",
    requirement="A held frame is shown.",
    sources=("HW-03",),
    replicas=(BrokerId(1), BrokerId(2)),
    steps=(Hold("gap", PointName.FETCH_REQUEST, BrokerId(2), BrokerId(1)),),
)
FRAME = TracedFrame(
    seq=7, arrived_ns=1, forwarded_ns=2, connection=72, link="replica", source=2, destination=1, direction="request",
    api_key=1, api="Fetch", api_version=12, correlation_id=742, decoded=None, hold="gap", outcome="forwarded",
)  # fmt: skip
CAUGHT = FrameOfFault(connection=72, api="Fetch", correlation_id=742, direction="request", offset=2, at_ns=1)
STORY = (
    TimelineMark(Event.HOLD_ARMED, "gap", "armed", step=0),
    TimelineMark(Event.HOLD_CAUGHT, "gap", "caught", step=0, offset=2, frame=CAUGHT),
    TimelineMark(Event.HOLD_RELEASED, "gap", "released", step=0),
)
OF_OLD = (
    TimelineMark(Event.FAULT_ARMED, "hold", "armed", step=0, number=1),
    TimelineMark(Event.HOLD_ARMED, "gap", "armed", step=0),
    TimelineMark(Event.FAULT_FIRED, "hold", "fired", step=0, number=1, frame=CAUGHT),
    TimelineMark(Event.HOLD_RELEASED, "gap", "released", step=0),
)


def complaints(story: tuple[TimelineMark, ...], frame: TracedFrame = FRAME) -> list[str]:
    return list(frame_complaints(SCHEDULE, story, Frames([frame], {})))


@pytest.mark.parametrize("story", [STORY, OF_OLD], ids=["caught", "of old"])
def test_the_frame_that_a_hold_caught_is_looked_for_in_the_trace(story: tuple[TimelineMark, ...]) -> None:
    missing = ["the wire trace does not show the frame that hold 'gap' caught"]

    assert complaints(story) == []
    assert complaints(story, replace(FRAME, correlation_id=743)) == missing
    assert complaints(tuple(mark for mark in story if mark.frame is None)) == missing
    assert complaints(story, replace(FRAME, outcome="dropped")) == [
        "the wire trace does not show that the frame of hold 'gap' was released"
    ]


@pytest.mark.parametrize(("late", "outcome"), [(True, "late"), (False, "forwarded")])
def test_a_late_frame_is_shown_as_late_and_no_other_is(outcome: str, *, late: bool) -> None:
    schedule = replace(SCHEDULE, steps=(*SCHEDULE.steps, ReleaseHold("gap", late=late)))
    missing = ["the wire trace does not show that the frame of hold 'gap' was released"]

    for shown in ("late", "forwarded"):
        told = list(frame_complaints(schedule, STORY, Frames([replace(FRAME, outcome=shown)], {})))
        assert told == ([] if shown == outcome else missing)


def test_a_fetch_of_the_metadata_log_does_not_hold_the_end_of_the_trace() -> None:
    fetched = replace(FRAME, link="replication", source=2, destination=1, hold=None)
    of_metadata = replace(fetched, link="controller", destination=100, arrived_ns=9)

    assert _matter([fetched, of_metadata]).last_fetch_ns == {2: 1}
    assert _matter([fetched, replace(fetched, arrived_ns=9)]).last_fetch_ns == {2: 9}


def _matter(frames: Sequence[TracedFrame]) -> Frames:
    return frames_that_matter(frames, "t", WireStory(Run(kafka="4.4.0", metadata="kraft"), SCHEDULE))


@pytest.mark.parametrize(("ends", "is_told"), [((2, 1), False), ((3, 1), True)])
def test_a_cut_is_proven_by_its_own_link(ends: tuple[int, int], *, is_told: bool) -> None:
    schedule = replace(SCHEDULE, steps=(CUT,))
    fired = FrameOfFault(connection=72, api="replication", correlation_id=-1, direction="request", offset=None, at_ns=1)
    story = (
        TimelineMark(Event.FAULT_ARMED, "cut", "", step=0, number=1),
        TimelineMark(Event.FAULT_FIRED, "cut", "", step=0, number=1, frame=fired),
    )
    told = ["fault 1 (cut) is proven by a connection of other brokers than its step says"] if is_told else []

    assert list(frame_complaints(schedule, story, Frames([], {}, ends={72: ends}))) == told


ONE, TWO = BrokerId(1), BrokerId(2)
CUT = CutLink(TWO, ONE)
LAST_PROBE = MeasuredNumbers(
    step=0,
    t_ns=5,
    leader=1,
    leader_epoch=0,
    isr=(1, 2),
    replicas=dict.fromkeys((1, 2), ReplicaSeen(0, 0, alive=True)),
)


@pytest.mark.parametrize(
    ("steps", "is_told"),
    [
        ((), True),
        (SCHEDULE.steps, False),
        ((*SCHEDULE.steps, Drop("gap")), False),
        ((*SCHEDULE.steps, ReleaseHold("gap")), True),
        ((CUT,), False),
        ((CUT, Heal(TWO, ONE)), True),
        ((Pause(TWO),), False),
        ((Pause(TWO), Resume(TWO)), True),
        ((Isolate(TWO),), False),
        ((Isolate(TWO), Rejoin(TWO)), True),
        ((Pause(ONE),), True),
    ],
)
def test_a_trace_that_ends_too_early_is_told_unless_the_schedule_silences_the_follower(
    steps: tuple[Step, ...], *, is_told: bool
) -> None:
    schedule = replace(SCHEDULE, steps=steps)
    early, late = Frames([], {2: 4}), Frames([], {2: 6})
    told = ["the wire trace ends before broker 2's fetches after the last probe"] if is_told else []

    assert list(end_complaints(schedule, [LAST_PROBE], early)) == told
    assert list(end_complaints(schedule, [LAST_PROBE], late)) == []
