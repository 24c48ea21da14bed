"""How is a run judged from its directory? Facts are gathered from files, the verdict is written beside.

Needs neither brokers nor Docker. The frozen prediction must be the one whose hash run.json names.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from conformance.catalogue.questions import compare_answers
from conformance.expectations import AcceptedFinding, accepted_for, our_findings
from conformance.interruption import HarnessError, InconclusiveError
from conformance.judgement.comparison import (
    ComparedRow,
    checkpoint_rows,
    compare_broker_answers,
    differing_numbers,
    epoch_conflicts,
    leadership_conflicts,
    learned_outcomes,
    outcome_rows,
    unexplained_probes,
)
from conformance.judgement.every_run import held_in_run
from conformance.judgement.evidence_of_faults import late_deliveries
from conformance.judgement.evidence_of_run import told_complaints
from conformance.judgement.held_records import held_records, logs_of_run, stale_leaders
from conformance.judgement.open_outcomes import fitting, observations_that_count
from conformance.judgement.promises import Facts
from conformance.judgement.verdicts import EVIDENCE_INCOMPLETE, against_expectation, judge, not_run
from conformance.observation.check import check_trace
from conformance.record.digests import check_digests, write_digests
from conformance.record.directory import FIRST_FORMAT, RunDirectoryError
from conformance.record.observations import checkpoints
from conformance.record.prediction import PREDICTION_FILE, check_frozen, read_prediction
from conformance.record.reconciliation import ComparedCheckpoint, read_counts, read_samples, write_checkpoints
from conformance.record.run import INTERRUPTED, HarnessFailure, read_run
from conformance.record.timeline import Event
from conformance.record.topic import topic_files
from conformance.record.verdict import Conformance, Verdict, write_verdict
from conformance.stages.examining import judge_examination
from conformance.stages.whole_evidence import evidence_of, in_view_of_evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from conformance.judgement.evidence import Evidence
    from conformance.record.directory import RunDirectory
    from conformance.record.observations import Observation
    from conformance.record.prediction import FrozenPrediction
    from conformance.record.replica_logs import LogEntry
    from conformance.record.run import Run
    from conformance.record.timeline import TimelineMark


UNBOUND = "not checked, for a run of format 1 has no digests: whether its files are those that it ended with"
"""What a verdict of such a run says besides."""

UNRECONCILED = f"{INTERRUPTED} before its records were reconciled: kafka-conformance judge does that"
"""What is said of a run that others were to be reconciled with."""


def judge_run(run: RunDirectory, accepted: Sequence[AcceptedFinding] = ()) -> Verdict:
    """Judge a run from its files and write verdict.json.

    Args:
        run: the run.
        accepted: what the user accepts; the tester's own accepted findings are added.

    Raises:
        RunDirectoryError: if the frozen prediction or a file of the run has changed or is missing, run.json contradicts
            what was frozen, or the tester ended before the run did.
    """
    about = read_run(run)
    if not about.not_run:
        require_finished(run, about)
    check_digests(run)
    with refusing_contradictions(run):
        if about.not_run or about.is_examination:
            _require_told(run, about)
        if about.not_run:
            _require_nothing_frozen(run, about)
            verdict = not_run(about.not_run)
        else:
            check_frozen(run)
            _require_consistent(run, about)
            judged = _judged(run, about)
            entry = _accepted(about, (*accepted, *our_findings()))
            verdict = in_view_of(
                entry, _with_second_look(_with_what_is_unchecked(judged, about), about), _day_of(about)
            )
    return _written(run, about, verdict)


@contextmanager
def refusing_contradictions(run: RunDirectory) -> Iterator[None]:
    """Files of which one names what another does not know, or tells a time that is none, are no evidence.

    Raises:
        RunDirectoryError: they do.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError) as damage:
        words = f"{EVIDENCE_INCOMPLETE}: its files contradict each other, at {damage!r}"
        raise RunDirectoryError(f"{run.path}: {words}") from damage


def _judged(run: RunDirectory, about: Run) -> Verdict:
    if about.is_examination:
        return judge_examination(run, about)
    evidence = evidence_of(run, about)
    observations = observations_that_count(about, evidence.observations, evidence.timeline)
    facts = gather_facts(run, evidence, observations)
    logs = logs_of_run(evidence, facts.prediction, observations)
    return replace(
        judge(facts),
        differences=differing_numbers(facts.prediction, observations),
        held_records=held_records(logs),
        stale_leaders=stale_leaders(logs),
    )


def _written(run: RunDirectory, about: Run, verdict: Verdict) -> Verdict:
    whole = of_run(about, verdict)
    write_verdict(run, whole)
    return whole


def of_run(about: Run, verdict: Verdict) -> Verdict:
    """Return a verdict that says what it is of."""
    return replace(
        verdict,
        scenario=about.scenario,
        kafka=about.kafka,
        metadata=about.metadata,
        backend=about.backend,
        seconds=about.seconds,
        rules_of=about.rules_of,
        rules_metadata=about.rules_metadata,
    )


def _with_what_is_unchecked(verdict: Verdict, about: Run) -> Verdict:
    """Add to the reason what cannot be said of a run of the first format."""
    if about.format > FIRST_FORMAT or verdict.conformance is Conformance.HARNESS_ERROR:
        return verdict
    return replace(verdict, reason=f"{verdict.reason}; {UNBOUND}")


def _with_second_look(verdict: Verdict, about: Run) -> Verdict:
    """Add to a finding's reason what came of trying it again on a fresh cluster, if that was done."""
    look = about.second_look
    if look is None or about.is_repredicted or verdict.conformance is not Conformance.DEVIATES:
        return verdict
    return replace(verdict, reason=f"{verdict.reason}; {look.text}")


def _require_nothing_frozen(run: RunDirectory, about: Run) -> None:
    """Refuse a run that is told not to have been run, although its prediction was frozen."""
    if about.prediction is not None:
        raise RunDirectoryError(f"{run.path}: run.json says not_run, although a prediction was frozen")


def _require_told(run: RunDirectory, about: Run) -> None:
    """Refuse a run.json that lacks something, or contradicts itself; of a run with records its evidence tells."""
    if wrong := "; ".join(told_complaints(about)):
        raise RunDirectoryError(f"{run.path}: {EVIDENCE_INCOMPLETE}: {wrong}")


def require_finished(run: RunDirectory, about: Run) -> None:
    """Refuse a run that has no end.

    Raises:
        RunDirectoryError: run.json tells none.
    """
    if about.finished is None:
        raise RunDirectoryError(f"{run.path}: incomplete, the tester ended before the run did (no finish in run.json)")


def _require_consistent(run: RunDirectory, about: Run) -> None:
    """Refuse a run.json that says another kind or release than what was frozen."""
    has_prediction = run.has(PREDICTION_FILE)
    if has_prediction == about.is_examination:
        raise RunDirectoryError(f"{run.path}: run.json says kind {about.kind}, what was frozen is another")
    if has_prediction:
        _require_release(run, about)


def _require_release(run: RunDirectory, about: Run) -> None:
    frozen = read_prediction(run)
    if about.rules != (frozen.kafka, frozen.metadata):
        was = f"Kafka {frozen.kafka} ({frozen.metadata})"
        raise RunDirectoryError(
            f"{run.path}: run.json says Kafka {about.rules[0]} ({about.rules[1]}), predicted was {was}"
        )


def _accepted(about: Run, entries: Sequence[AcceptedFinding]) -> AcceptedFinding | None:
    if about.rules_of or about.scenario is None:
        return None
    return accepted_for(entries, about.scenario, about.kafka, about.metadata, about.label)


def _day_of(about: Run) -> date:
    """Return the day of a run, in UTC: judged again, it is in view of the same entries."""
    return datetime.fromisoformat(about.started).date() if about.started else datetime.now(UTC).date()


def in_view_of(entry: AcceptedFinding | None, verdict: Verdict, day: date) -> Verdict:
    """Return the verdict of a run of some day in view of the accepted finding of its scenario, if there is one."""
    if entry is None:
        return verdict
    expired = entry.expires.isoformat() if day > entry.expires else None
    return against_expectation(verdict, entry.text, entry.codes, expired)


@contextmanager
def judged_if_interrupted(runs: Iterable[RunDirectory]) -> Iterator[None]:
    """Write down, and judge, that the tester was made to end in the middle of runs; the interruption goes on.

    Which runs they are is asked then: a generator may look at a list that has grown meanwhile. A run that had ended,
    and was being judged, is judged by its files as any other.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        for run in runs:
            _judge_interrupted(run)
        raise


def _judge_interrupted(run: RunDirectory) -> None:
    if read_run(run).finished is None:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        write_digests(run, harness_failure=HarnessFailure(HarnessError.verdict, INTERRUPTED), finished=at)
    if topic_files(run) and read_counts(run) is None:
        judge_unreadable(run, UNRECONCILED)
        return
    try:
        judge_run(run)
    except RunDirectoryError:
        judge_unreadable(run, INTERRUPTED)


def judge_unreadable(run: RunDirectory, why: str) -> Verdict:
    """Write and return the verdict of a run whose files cannot be judged."""
    return _written(run, read_run(run), Verdict(Conformance.HARNESS_ERROR, None, why))


def gather_facts(run: RunDirectory, evidence: Evidence, observations: Sequence[Observation]) -> Facts:
    """Gather everything a verdict rests on; write reconciliation/checkpoints.json and trace_check.json on the way.

    Args:
        run: where the counts and samples of the reconciliation are.
        evidence: its files.
        observations: those of them that count.
    """
    about, failure = evidence.about, evidence.about.harness_failure
    prediction = fitting(evidence.prediction, about, observations, evidence.replica_logs)
    compared = _compared_checkpoints(prediction, observations)
    write_checkpoints(run, [ComparedCheckpoint(name, tuple(row.recorded for row in rows)) for name, rows in compared])
    rows = [row for name, rows in compared for row in _named(name, rows)]
    rows += _outcome_rows(prediction, observations, is_complete=failure is None)
    rows += _end_offset_row(prediction, about)
    rows += [] if failure else unexplained_probes(prediction, observations)
    told = compare_broker_answers(prediction, observations, is_complete=failure is None)
    trace = None if failure is not None and failure.lost_node else check_trace(run)
    return Facts(
        prediction=prediction,
        rows=rows,
        conflicts=[
            *epoch_conflicts(_epoch_pairs(about, prediction, observations, evidence.replica_logs)),
            *leadership_conflicts(observations),
        ],
        counts=evidence.counts,
        samples=read_samples(run),
        interruption=in_view_of_evidence(
            _interruption(_in_view_of_races(failure, prediction, evidence.timeline), prediction, compared, about),
            evidence,
        ),
        trace=trace,
        asked=compare_answers(run, is_complete=failure is None, told=told),
        every_run=held_in_run(observations, trace, late_deliveries(evidence.schedule)),
    )


def _in_view_of_races(
    failure: HarnessFailure | None, prediction: FrozenPrediction, timeline: Iterable[TimelineMark]
) -> HarnessFailure | None:
    """Return what ended the run; where it ended by itself, awaiting one outcome of an open race, another one came."""
    if failure is None or not prediction.assumed or _is_from_outside(failure):
        return failure
    started = [mark.step for mark in timeline if mark.event is Event.STEP_STARTED]
    assumption = next((one.text for one in prediction.assumed if started[-1:] == [one.step]), None)
    if assumption is None:
        return failure
    message = f"the race ended otherwise: {assumption}; {failure.message}"
    return HarnessFailure(InconclusiveError.verdict, message)


def _is_from_outside(failure: HarnessFailure) -> bool:
    """Return whether somebody ended the tester or a node: what was awaited then might have come."""
    return failure.lost_node or failure.message == INTERRUPTED


def _interruption(
    failure: HarnessFailure | None,
    prediction: FrozenPrediction,
    compared: Sequence[tuple[str, list[ComparedRow]]],
    about: Run,
) -> tuple[str, str] | None:
    """Return what ended the run early; what a whole run never measured is a failure of ours."""
    if failure is not None:
        return failure.kind, failure.message
    measured = {name for name, _ in compared}
    missing = [f"checkpoint {c.name}" for c in prediction.checkpoints if c.name not in measured]
    missing += ["where the topic ended before it was read"] if about.end_offset is None else []
    return (HarnessError.verdict, f"never measured: {', '.join(missing)}") if missing else None


def _outcome_rows(
    prediction: FrozenPrediction, observations: Sequence[Observation], *, is_complete: bool
) -> list[ComparedRow]:
    """Compare outcomes; of a run that ended early only those that its producers learned."""
    outcomes = learned_outcomes(observations, is_complete=is_complete)
    return outcome_rows((r for r in prediction.records if is_complete or r.label in outcomes), outcomes)


def _compared_checkpoints(
    prediction: FrozenPrediction, observations: Sequence[Observation]
) -> list[tuple[str, list[ComparedRow]]]:
    measured = checkpoints(observations)
    return [
        (checkpoint.name, checkpoint_rows(checkpoint, measured[checkpoint.name]))
        for checkpoint in prediction.checkpoints
        if checkpoint.name in measured
    ]


def _named(name: str, rows: list[ComparedRow]) -> list[ComparedRow]:
    return [replace(row, what=f"{name}: {row.what}") for row in rows]


def _end_offset_row(prediction: FrozenPrediction, about: Run) -> list[ComparedRow]:
    last = prediction.steps[-1]
    if about.end_offset is None:
        return []
    predicted = None if last.leader is None else last.replicas[last.leader].high_watermark
    what = "leader's high watermark before the topic was read"
    return [ComparedRow(what, predicted, about.end_offset, code="high_watermark")]


def _epoch_pairs(
    about: Run, prediction: FrozenPrediction, observations: Sequence[Observation], entries: Iterable[LogEntry]
) -> list[tuple[int, int]]:
    measured = checkpoints(observations)
    pairs = [
        (predicted.leadership, seen.leader_epoch)
        for predicted in prediction.checkpoints
        if (seen := measured.get(predicted.name or "")) is not None and predicted.leader == seen.leader is not None
    ]
    logs = {(broker, entry.offset): entry for broker, log in prediction.logs.items() for entry in log}
    ids = {record.label: about.record_id_base + record.id for record in prediction.records}
    for entry in entries:
        expected = logs.get((entry.broker, entry.offset))
        if expected is not None and ids[expected.label] == entry.record_id:
            pairs.append((expected.leadership, entry.leader_epoch))
    return pairs
