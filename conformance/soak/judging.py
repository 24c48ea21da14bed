"""What does a soak come to? What was counted is held against what was predicted; nothing else decides."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import pyarrow.parquet as pq

from conformance.record.attached import IDS_MAX
from conformance.record.soak_counted import OF_NOTE, ComparedAs
from conformance.record.soak_tables import read_replicas
from conformance.record.soak_verdict import FaultsOfSoak, SoakVerdict
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
    faults: FaultsOfSoak | None = None,
    *,
    unrest: str | None = None,
) -> SoakVerdict:
    """Judge a soak and write its verdict.

    Args:
        run: the soak's directory, with its prediction.
        soak: of it.
        prediction: of it.
        counted: what Spark counted.
        faults: what became of those that were asked for.
        unrest: which replicas did not come back in sync after load and faults, in a sentence; None if all did.
    """
    faults, replicas = faults or FaultsOfSoak(), None
    if counted.replicas is not None:
        replicas = JudgedReplicas(counted.replicas, None if prediction.why_not else read_replicas(run))
    against = [*_restless(unrest), *_against(prediction, counted), *(() if replicas is None else replicas.against())]
    undecided = [*_undecided(prediction, counted), *_nothing_happened(counted, faults)]
    undecided += (NOT_COMPARED,) if replicas is None else replicas.undecided()
    promise, why = _promise(run, soak, prediction, counted)
    findings = (*against, *undecided)
    conformance = Conformance.DEVIATES if against else Conformance.INCONCLUSIVE if undecided else Conformance.CONFORMS
    judged = None if replicas is None else replicas.judged()
    verdict = SoakVerdict(conformance, promise, findings[0] if findings else why, findings, faults, judged)
    run.write(VERDICT_FILE, verdict)
    return verdict


def _restless(unrest: str | None) -> Iterator[str]:
    if unrest is not None:
        yield f"after load and faults not every replica came to rest: {unrest}"


def _against(prediction: SoakPrediction, counted: SoakCounted) -> Iterator[str]:
    """Yield what brokers did that the rules of the release do not do; nothing is against what was not predicted."""
    if prediction.why_not is not None:
        return
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
    most = OPEN_MAX * prediction.touched
    for what, count in (("offsets", prediction.records.get(RangeFate.EITHER, 0)), ("records", counted.left_open)):
        if count > most:
            yield f"the wire leaves open what became of {count:,} {what}; faults touched {prediction.touched:,}"
    if counted.left_open <= most and (lost := counted.total("lost").either):
        yield f"{lost:,} acknowledged records are lost of which the wire leaves open what became of them"
    if not counted.identity_holds:
        yield "what was counted does not add up to the rows that were read"
    if counted.control is not None and not counted.control.agrees:
        yield "a sample that was joined record by record is not as the comparison of blocks has it"
    for difference in counted.cross_check or ():
        yield f"DuckDB counts otherwise: {difference}"


def _nothing_happened(counted: SoakCounted, faults: FaultsOfSoak) -> Iterator[str]:
    """Yield what a soak says nothing without."""
    if not counted.told(ProduceOutcome.ACKNOWLEDGED):
        yield f"no record was acknowledged, of {counted.attempted:,} that were attempted: nothing was tried"
    if faults.left_out and not faults.done:
        yield f"none of the {faults.begun + faults.left_out} faults was carried out"


def _promise(
    run: RunDirectory, soak: Soak, prediction: SoakPrediction, counted: SoakCounted
) -> tuple[PromiseKept, str]:
    """Return whether acknowledged records were kept, and the sentence that says so."""
    acknowledged, lost = counted.told(ProduceOutcome.ACKNOWLEDGED), counted.total("lost")
    if not acknowledged:
        return PromiseKept.NO_PROMISE, "no record was acknowledged"
    if not lost.records:
        return PromiseKept.KEPT, f"all {acknowledged:,} acknowledged records are there"
    with_all = _lost_with_all(run, soak)
    whose = "all" if with_all.total() == lost.records else f"{with_all.total():,} of them"
    text = f"{lost.records:,} of {acknowledged:,} acknowledged records are lost"
    text += f", {whose} with acks=all" if with_all else ", all with acks=1"
    if prediction.why_not is not None:
        promise = PromiseKept.BROKEN if with_all else PromiseKept.ALLOWED_BY_SETTINGS
        return promise, f"{text}; nothing was predicted of them"
    if lost.against:
        return PromiseKept.BROKEN, f"{text}; {lost.against:,} against the prediction"
    how = f"{lost.either:,} where the prediction leaves it open" if lost.either else "each as predicted"
    if with_all[ComparedAs.EITHER]:
        return PromiseKept.BROKEN, f"{text}; {how}"
    promise = PromiseKept.BROKEN_AS_PREDICTED if with_all else PromiseKept.ALLOWED_BY_SETTINGS
    return promise, f"{text}, {how}"


def _lost_with_all(run: RunDirectory, soak: Soak) -> Counter[str]:
    """Return how many of the lost records were acknowledged with acks=all, by how they compare with the prediction."""
    listed = pq.read_table(run.path / OF_NOTE, columns=["record_id", "lost", "judged"])
    lost = listed.filter(listed["lost"])
    producers = pc.divide(pc.subtract(lost["record_id"], soak.base), IDS_MAX)
    counts = lost.append_column("producer", producers).group_by(["producer", "judged"]).aggregate([([], "count_all")])
    found = Counter[str]()
    for one in counts.to_pylist():
        if soak.acks.of(one["producer"]) is Acks.ALL:
            found[one["judged"]] += one["count_all"]
    return found
