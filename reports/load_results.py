"""What did a run end with? The verdict, the checkpoints, what became of every record, and each replica's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.record.observations import OutcomeSeen
from conformance.record.replica_logs import disagreeing_offsets, logs_by_broker
from conformance.record.run import INTERRUPTED
from conformance.record.verdict import Conformance, Finding
from reports.model import (
    CheckpointView,
    ClassCount,
    ComparisonView,
    EntryView,
    FinalLogs,
    Ghost,
    Records,
    RecordView,
    ReplicaLogView,
    VerdictView,
)
from reports.version_matrix import metadata_words
from reports.wire import Wire, WireFrame, WireInvariant, WireViolation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.record.prediction import FrozenPrediction, PredictedRecord
    from conformance.record.reconciliation import ComparedCheckpoint, Counts, RecordClass
    from conformance.record.replica_logs import LogEntry
    from conformance.record.run import Run
    from conformance.record.trace_check import TraceResult, TraceViolation
    from conformance.record.verdict import Verdict
    from reports.model import Files


RECORDS_MAX = 200
"""A page lists this many records; of a longer run the remarkable ones come first."""
ENTRIES_MAX = 20_000
"""Logs of more records than this are counted, never drawn."""
GONE = frozenset({"lost", "absent"})


def records_of(about: Run, files: Files) -> Records:
    """Return the records with the reconciliation's counts."""
    predicted = () if files.prediction is None else files.prediction.records
    classes, told = _classes(about, files), _told(files)
    rows = [_row(record, classes.get(record.id), told.get(record.label)) for record in predicted]
    if len(rows) > RECORDS_MAX:
        rows.sort(key=_is_unremarkable)
    counts = files.counts
    return Records(
        rows=tuple(rows[:RECORDS_MAX]),
        total=len(rows),
        acks=tuple(sorted({row.acks for row in rows if row.acks}, reverse=True)),
        classes=() if counts is None else _counted(counts),
        totals={} if counts is None else counts.totals.by_name,
        identity_holds=None if counts is None else counts.identity_holds,
    )


def _classes(about: Run, files: Files) -> dict[int, RecordClass]:
    """Return the records' classes by record id without the run's base."""
    return {one.record_id - about.record_id_base: one for one in files.classes}


def _told(files: Files) -> dict[str, OutcomeSeen]:
    """Return what producers were told, by label: of a run that was never reconciled there is nothing else."""
    return {seen.label: seen for seen in files.observations if isinstance(seen, OutcomeSeen)}


def _is_unremarkable(row: RecordView) -> bool:
    return not row.deviates and row.predicted_fate == "present" and row.measured_outcome.startswith("acknowledged")


def _row(record: PredictedRecord, found: RecordClass | None, told: OutcomeSeen | None) -> RecordView:
    learned = found or told
    return RecordView(
        label=record.label,
        acks=acks_words(record.acks),
        predicted_outcome=_outcome_words(record.outcome, record.error),
        measured_outcome="" if learned is None else _outcome_words(learned.outcome, learned.error),
        predicted_fate=record.called,
        measured_fate="" if found is None else _fate(found),
        offset=None if found is None else found.offset,
        decided_by=record.decided_by,
        promise=record.promise,
        promise_reason=record.promise_reason or "",
        deviates=found is not None and found.deviates,
        acknowledged_offset=_acknowledged_at(found, told),
    )


def _acknowledged_at(found: RecordClass | None, told: OutcomeSeen | None) -> int | None:
    if found is not None:
        return found.acknowledged_offset
    return None if told is None else told.offset


def _fate(found: RecordClass) -> str:
    """Return where a record is: its class if it is gone."""
    if not found.copies:
        return found.measured
    return "present" if found.copies == 1 else "present more than once"


def _outcome_words(outcome: str | None, error: str | None) -> str:
    return f"{outcome}: {error}" if error else outcome or ""


def _counted(counts: Counts) -> tuple[ClassCount, ...]:
    return tuple(
        ClassCount(name, counts.predicted.get(name), count, name in counts.differing)
        for name, count in counts.classes.items()
    )


def final_logs(about: Run, files: Files, records: Records) -> FinalLogs:
    """Return the measured logs, or the predicted ones if none were read; ``note`` says which."""
    prediction, entries = files.prediction, files.replica_logs
    if entries is not None and len(entries) > ENTRIES_MAX:
        return FinalLogs(note=f"The replicas hold {len(entries):,} records: too many to draw.")
    labels = {} if prediction is None else {record.id: record.label for record in prediction.records}
    if entries is not None:
        brokers = set() if prediction is None else set(prediction.logs)
        logs, note = _measured_logs(entries, labels, about.record_id_base, brokers), ""
    else:
        logs, note = _predicted_logs(prediction), "Not measured: these are the logs the model predicts."
    if not logs:
        return FinalLogs()
    fates = _fates(records, is_measured=entries is not None)
    ghosts = _ghosts(fates, _classes(about, files), prediction)
    deleted = frozenset(label for label, fate in fates.items() if fate == "deleted")
    return FinalLogs(logs, ghosts, _disagreeing(entries, prediction), entries is not None, note, deleted)


def _measured_logs(
    entries: Sequence[LogEntry], labels: Mapping[int, str], base: int, brokers: set[int]
) -> tuple[ReplicaLogView, ...]:
    """Return every replica's log; a replica that was read and holds nothing is among ``brokers`` alone."""
    logs = []
    measured = logs_by_broker(entries)
    for broker in sorted(measured.keys() | brokers):
        own = measured.get(broker, [])
        shown = tuple(_entry(entry, labels, base) for entry in own)
        logs.append(ReplicaLogView(broker, shown, own[0].high_watermark if own else None))
    return tuple(logs)


def _entry(entry: LogEntry, labels: Mapping[int, str], base: int) -> EntryView:
    record_id = None if entry.record_id is None else entry.record_id - base
    is_known = record_id in labels and entry.value_matches
    label = labels.get(record_id, f"#{record_id}") if record_id is not None else "?"
    return EntryView(entry.offset, label, None if entry.leader_epoch == -1 else entry.leader_epoch, is_known)


def _predicted_logs(prediction: FrozenPrediction | None) -> tuple[ReplicaLogView, ...]:
    if prediction is None:
        return ()
    last = prediction.steps[-1].replicas if prediction.steps else {}
    return tuple(
        ReplicaLogView(
            broker=broker,
            entries=tuple(EntryView(entry.offset, entry.label, entry.leadership) for entry in entries),
            high_watermark=last[broker].high_watermark if broker in last else None,
        )
        for broker, entries in prediction.logs.items()
    )


def _disagreeing(entries: Sequence[LogEntry] | None, prediction: FrozenPrediction | None) -> frozenset[int]:
    """Return the offsets at which replicas hold different records, measured or, if no log was read, predicted."""
    if entries is not None:
        return disagreeing_offsets((entry.offset, entry.record_id) for entry in entries)
    logs = () if prediction is None else prediction.logs.values()
    return disagreeing_offsets((entry.offset, entry.label) for log in logs for entry in log)


def _fates(records: Records, *, is_measured: bool) -> dict[str, str]:
    """Return what became of each record shown: as measured beside measured logs, else as predicted."""
    return {row.label: row.measured_fate if is_measured else row.predicted_fate for row in records.rows}


def _ghosts(
    fates: Mapping[str, str], classes: Mapping[int, RecordClass], prediction: FrozenPrediction | None
) -> tuple[Ghost, ...]:
    """Return the records that are gone and whose offset is known: told to the producer, or predicted."""
    offsets = {} if prediction is None else {record.label: _offset(record, classes) for record in prediction.records}
    return tuple(
        Ghost(label, offset, fate)
        for label, fate in fates.items()
        if fate in GONE and (offset := offsets.get(label)) is not None
    )


def _offset(record: PredictedRecord, classes: Mapping[int, RecordClass]) -> int | None:
    found = classes.get(record.id)
    return record.offset if found is None or found.acknowledged_offset is None else found.acknowledged_offset


def acks_words(acks: object) -> str:
    """Return acks as a producer's setting spells it: 0, 1 or all."""
    return "all" if str(acks) in {"-1", "all", "None"} else str(acks)


# What was the verdict, what did the wire check find, and what did each checkpoint compare?


def verdict_view(verdict: Verdict | None, about: Run) -> VerdictView:
    """Return both answers with their reasons; a run without verdict.json is a harness error."""
    failure = about.harness_failure
    if verdict is None:
        reason = failure.message if failure else "The run ended before it was judged: there is no verdict.json."
        findings = (Finding(failure.kind, reason),) if failure else ()
        is_cut_short = failure is None or reason == INTERRUPTED
        return VerdictView(Conformance.HARNESS_ERROR, None, reason, findings, is_cut_short=is_cut_short)
    is_cut_short = failure is not None and failure.message == INTERRUPTED
    return VerdictView(
        conformance=verdict.conformance,
        promise=verdict.promise,
        reason=verdict.reason,
        findings=verdict.findings,
        losses=verdict.losses,
        promise_reason=verdict.promise_reason or "",
        is_cut_short=is_cut_short and verdict.conformance is Conformance.HARNESS_ERROR,
    )


def wire_of(checked: TraceResult | None) -> Wire | None:
    """Return what the check of the wire trace found; None for a run that was never checked."""
    if checked is None:
        return None
    version, _, metadata = checked.rules_of.partition(" ")
    return Wire(
        rules_of=f"{version} {metadata_words(metadata)}".strip(),
        frames=checked.frames,
        shown=checked.checked,
        events=checked.events,
        invariants=tuple(WireInvariant(each.number, each.statement, each.held) for each in checked.invariants),
        violation=None if checked.violation is None else _violation(checked.violation),
        why_not=checked.why_not or "",
    )


def _violation(said: TraceViolation) -> WireViolation:
    return WireViolation(
        where=f"At {said.at_s:.3f} s" if said.frame is None else f"Frame {said.frame}",
        observed=said.observed,
        allowed=said.allowed,
        invariant=f"{said.invariant}, {said.name.replace('_', ' ')}",
        rule=said.rule,
        frames=tuple(
            WireFrame(each.seq, each.at_s, each.text, is_the_one=each.seq == said.frame) for each in said.frames
        ),
    )


def checkpoint_views(compared: Iterable[ComparedCheckpoint]) -> tuple[CheckpointView, ...]:
    """Return the checkpoints in schedule order, as the judge compared them."""
    return tuple(
        CheckpointView(
            number,
            one.name,
            tuple(
                ComparisonView(row.what, number_words(row.predicted), number_words(row.measured), agrees=row.agrees)
                for row in one.rows
            ),
        )
        for number, one in enumerate(compared, start=1)
    )


def number_words(value: object) -> str:
    """Return a checkpoint's value as words: none, 2, or {1, 2}."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return "{" + ", ".join(str(item) for item in value) + "}"
        case _:
            return str(value)
