"""Which of the outcomes that a prediction leaves open did the brokers take? The one that fits what was measured.

A schedule with an open race has several outcomes. All that was measured is held against one of them at a
time, so that checkpoints, probes, producers' outcomes and logs must be those of the same one. The frozen
prediction stays as it is; the outcome that fits best is written to ``outcome/``, where the
reconciliation finds it, and whatever differs from that one is a deviation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.interruption import GIVEN_UP
from conformance.judgement.comparison import (
    ComparedRow,
    answer_rows,
    checkpoint_rows,
    learned_outcomes,
    outcome_rows,
    unexplained_probes,
)
from conformance.record.observations import checkpoints, read_observations
from conformance.record.prediction import OUTCOME_FILE, check_frozen, read_prediction, write_prediction
from conformance.record.replica_logs import logs_by_broker, read_replica_logs
from conformance.record.run import read_run
from conformance.record.timeline import Event, read_timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.record.directory import RunDirectory
    from conformance.record.observations import Observation
    from conformance.record.prediction import FrozenPrediction, PredictedOutcome
    from conformance.record.replica_logs import LogEntry
    from conformance.record.run import Run
    from conformance.record.timeline import TimelineMark


def measured_prediction(run: RunDirectory) -> FrozenPrediction:
    """Return the frozen prediction; of one with open outcomes the outcome that fits what was measured.

    Its ``measured_outcome`` then says which one that is. Predictions of format 1 leave nothing open.

    Raises:
        RunDirectoryError: a file is missing.
    """
    prediction = read_prediction(run)
    if not prediction.alternatives:
        return prediction
    about = read_run(run)
    may_be_cut = about.harness_failure is not None
    seen, timeline = read_observations(run, may_be_cut=may_be_cut), read_timeline(run, may_be_cut=may_be_cut)
    return fitting(prediction, about, observations_that_count(about, seen, timeline), read_replica_logs(run))


def fitting(
    prediction: FrozenPrediction, about: Run, observations: Sequence[Observation], entries: Sequence[LogEntry]
) -> FrozenPrediction:
    """Return the same of what was read already: the observations that count, and every replica's log."""
    if not prediction.alternatives:
        return prediction
    misfits = [
        sum(not row.agrees for row in _rows(alternative, about, observations, entries))
        for alternative in prediction.alternatives
    ]
    return prediction.ending(misfits.index(min(misfits)) + 1)


def write_measured_outcome(run: RunDirectory) -> None:
    """Write the outcome that fits to ``outcome/``, for the reconciliation and the report; nothing if none is open.

    Raises:
        RunDirectoryError: a file is missing, or the frozen prediction has changed.
    """
    check_frozen(run)
    prediction = measured_prediction(run)
    if prediction.measured_outcome is not None:
        write_prediction(run, prediction, read_run(run).record_id_base, OUTCOME_FILE)


def _rows(
    alternative: PredictedOutcome, about: Run, observations: Sequence[Observation], entries: Sequence[LogEntry]
) -> Iterator[ComparedRow]:
    measured = checkpoints(observations)
    for checkpoint in alternative.checkpoints:
        if checkpoint.name in measured:
            yield from checkpoint_rows(checkpoint, measured[checkpoint.name])
    learned = learned_outcomes(observations, is_complete=about.harness_failure is None)
    outcomes = {label: outcome for label, outcome in learned.items() if outcome.error != GIVEN_UP}
    yield from outcome_rows((r for r in alternative.records if r.label in outcomes), outcomes)
    yield from answer_rows(alternative, observations)
    yield from unexplained_probes(alternative, observations)  # two outcomes may end alike
    yield from _log_rows(alternative, about, entries)


def observations_that_count(
    about: Run, observations: Sequence[Observation], timeline: Iterable[TimelineMark]
) -> Sequence[Observation]:
    """Return a run's observations; if a node was lost, only those of steps that ended with every node alive.

    What came later may be the lost node's doing.
    """
    if about.harness_failure is None or not about.harness_failure.lost_node:
        return observations
    finished = {mark.step for mark in timeline if mark.event is Event.STEP_FINISHED}
    return [seen for seen in observations if seen.step in finished]


def _log_rows(alternative: PredictedOutcome, about: Run, entries: Iterable[LogEntry]) -> Iterator[ComparedRow]:
    ids = {record.label: about.record_id_base + record.id for record in alternative.records}
    for broker, log in logs_by_broker(entries).items():
        predicted = [ids[entry.label] for entry in alternative.logs[broker]]
        yield ComparedRow(f"log of broker {broker}", predicted, [entry.record_id for entry in log])
