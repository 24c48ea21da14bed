"""Is the evidence of a run on brokers whole? Its files are read for ``judgement.evidence``, which compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.interruption import HarnessError
from conformance.judgement.evidence import Evidence, what_is_wrong
from conformance.judgement.evidence_of_frames import Frames, frames_that_matter
from conformance.judgement.evidence_of_wire import WireStory
from conformance.judgement.verdicts import EVIDENCE_INCOMPLETE
from conformance.observation.errors import TraceUnreadableError
from conformance.observation.wire_moments import trace_end
from conformance.record.answers import read_measured, read_predicted
from conformance.record.ledger import read_attempts, read_outcomes
from conformance.record.observations import read_observations
from conformance.record.prediction import read_prediction
from conformance.record.reconciliation import read_counts
from conformance.record.replica_logs import read_replica_logs
from conformance.record.schedule import read_schedule
from conformance.record.timeline import read_timeline
from conformance.record.topic import read_topic
from conformance.record.wire import WIRE_FILE, frame_of

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory
    from conformance.record.run import Run
    from oracle.schedule import Schedule

NAMED = 3
"""How many pieces of evidence that are missing are named."""


def in_view_of_evidence(interruption: tuple[str, str] | None, evidence: Evidence) -> tuple[str, str] | None:
    """Return what ended the run, or what of its evidence is wrong; what a whole run never measured is told already."""
    wrong = what_is_wrong(evidence)
    if not wrong or (evidence.is_complete and interruption is not None):
        return interruption
    more = f" (and {len(wrong) - NAMED} more)" if len(wrong) > NAMED else ""
    incomplete = f"{EVIDENCE_INCOMPLETE}: {'; '.join(wrong[:NAMED])}{more}"
    if interruption is None:
        return HarnessError.verdict, incomplete
    return interruption[0], f"{interruption[1]}; {incomplete}"


def evidence_of(run: RunDirectory, about: Run) -> Evidence:
    """Read the files of a run on brokers, to be compared with each other.

    Raises:
        RunDirectoryError: one cannot be read.
    """
    may_be_cut = about.harness_failure is not None
    schedule = read_schedule(run)
    frames, unreadable = _frames(run, about, schedule)
    return Evidence(
        about=about,
        schedule=schedule,
        prediction=read_prediction(run),
        timeline=read_timeline(run, may_be_cut=may_be_cut),
        observations=read_observations(run, may_be_cut=may_be_cut),
        attempts=read_attempts(run),
        outcomes=read_outcomes(run),
        topic=read_topic(run),
        replica_logs=read_replica_logs(run),
        frames=frames,
        unreadable=unreadable,
        counts=read_counts(run),
        answers=tuple(answer.what for answer in read_measured(run)),
        asked=tuple(question.what for question in read_predicted(run) or ()),
    )


def _frames(run: RunDirectory, about: Run, schedule: Schedule) -> tuple[Frames | None, str | None]:
    """Read the frames that holds caught, and why they cannot be read; a trace without end has neither."""
    path = run.path / WIRE_FILE
    try:
        trace_end(path)
        with path.open("rb") as file:
            frames = (frame for line in file if (frame := frame_of(line)) is not None)
            return frames_that_matter(frames, about.topic, WireStory(about, schedule)), None
    except TraceUnreadableError:
        return None, None
    except ValueError as damage:
        return None, f"{WIRE_FILE} cannot be read: {damage}"
