"""What does a soak come to? What was counted is held against what was predicted; nothing else decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc
import pyarrow.parquet as pq

from conformance.record.attached import IDS_MAX
from conformance.record.soak_counted import OF_NOTE
from conformance.record.soak_tables import read_replicas
from conformance.record.soak_verdict import SoakVerdict
from conformance.record.verdict import VERDICT_FILE, Conformance, PromiseKept
from conformance.soak.judging_replicas import JudgedReplicas
from oracle.vocabulary import Acks, ProduceOutcome, RangeFate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.directory import RunDirectory
    from conformance.record.soak import Soak
    from conformance.record.soak_counted import SoakCounted
    from conformance.record.soak_prediction import SoakPrediction

OPEN_MAX = 0.01
"""So much of what faults touched may be left open."""
NOT_COMPARED = "the logs of the replicas were not compared"


def judge_soak(
    run: RunDirectory,
    soak: Soak,
    prediction: SoakPrediction,
    counted: SoakCounted,
    *,
    done: int = 0,
    left_out: int = 0,
    notes: tuple[str, ...] = (),
) -> SoakVerdict:
    """Judge a soak and write its verdict.

    Args:
        run: the soak's directory, with its prediction.
        soak: of it.
        prediction: of it.
        counted: what Spark counted.
        done: how many faults were carried out and healed.
        left_out: how many never came.
        notes: what did not go as planned, in sentences.
    """
    against, undecided = list(_against(prediction, counted)), list(_undecided(prediction, counted))
    replicas = None
    if counted.replicas is not None:
        replicas = JudgedReplicas(counted.replicas, None if prediction.why_not else read_replicas(run))
    against += () if replicas is None else replicas.against()
    undecided += (NOT_COMPARED,) if replicas is None else replicas.undecided()
    promise, why = _promise(run, soak, counted)
    conformance = Conformance.DEVIATES if against else Conformance.INCONCLUSIVE if undecided else Conformance.CONFORMS
    findings = (*against, *undecided)
    judged = None if replicas is None else replicas.judged()
    verdict = SoakVerdict(
        conformance, promise, findings[0] if findings else why, findings, done, left_out, notes, judged
    )
    run.write(VERDICT_FILE, verdict)
    return verdict


def _against(prediction: SoakPrediction, counted: SoakCounted) -> Iterator[str]:
    """Yield what brokers did that the rules of the release do not do."""
    if counted.against:
        yield f"{counted.against:,} records are not as predicted"
    beside = sum(one.not_predicted + one.beyond_end for one in counted.partitions)
    if beside:
        yield f"{beside:,} offsets are not where the prediction has them"
    if prediction.violation is not None:
        yield f"the wire shows what no rule allows: {prediction.violation}"


def _undecided(prediction: SoakPrediction, counted: SoakCounted) -> Iterator[str]:
    """Yield what leaves it open whether all is as predicted."""
    if prediction.why_not is not None:
        yield f"nothing could be predicted: {prediction.why_not}"
    open_offsets = prediction.records.get(RangeFate.EITHER, 0)
    if open_offsets > OPEN_MAX * prediction.touched:
        yield f"the wire leaves open what became of {open_offsets:,} offsets; faults touched {prediction.touched:,}"
    if not counted.identity_holds:
        yield "what was counted does not add up to the rows that were read"
    if counted.control is not None and not counted.control.agrees:
        yield "a sample that was joined record by record is not as the comparison of blocks has it"
    for difference in counted.cross_check or ():
        yield f"DuckDB counts otherwise: {difference}"


def _promise(run: RunDirectory, soak: Soak, counted: SoakCounted) -> tuple[PromiseKept, str]:
    """Return whether acknowledged records were kept, and the sentence that says so."""
    acknowledged, lost = counted.told(ProduceOutcome.ACKNOWLEDGED), counted.total("lost")
    if not lost.records:
        return PromiseKept.KEPT, f"all {acknowledged:,} acknowledged records are there"
    with_all = _lost_with_all(run, soak)
    text = f"{lost.records:,} of {acknowledged:,} acknowledged records are lost"
    if lost.against:
        return PromiseKept.BROKEN, f"{text}, {lost.against:,} of them against the prediction"
    if with_all:
        whose = "all" if with_all == lost.records else f"{with_all:,} of them"
        return PromiseKept.BROKEN_AS_PREDICTED, f"{text}, {whose} with acks=all, each as predicted"
    return PromiseKept.ALLOWED_BY_SETTINGS, f"{text}, all with acks=1, each as predicted"


def _lost_with_all(run: RunDirectory, soak: Soak) -> int:
    """Return how many of the lost records were acknowledged with acks=all."""
    listed = pq.read_table(run.path / OF_NOTE, columns=["record_id", "lost"])
    ids = listed.filter(listed["lost"])["record_id"]
    producers = pc.value_counts(pc.divide(pc.subtract(ids, soak.base), IDS_MAX)).to_pylist()
    return sum(one["counts"] for one in producers if soak.acks.of(one["values"]) is Acks.ALL)
