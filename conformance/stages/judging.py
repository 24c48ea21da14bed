"""How is a run judged from its directory? Facts are gathered from files, the verdict is written beside.

Needs neither brokers nor Docker. The frozen prediction must be the one whose hash run.json names.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from conformance.catalogue.answers import compare_answers
from conformance.expectations import AcceptedDeviation, accepted_deviation
from conformance.interruption import INTERRUPTED, HarnessError, NeverAtRestError
from conformance.judgement.broker_answers import compare_broker_answers
from conformance.judgement.comparison import Row, checkpoint_rows, epoch_conflicts, learned_outcomes, outcome_rows
from conformance.judgement.facts import Facts
from conformance.judgement.open_outcomes import measured_prediction, observations_that_count
from conformance.judgement.verdicts import Conformance, Verdict, against_expectation, judge, not_run
from conformance.observation.check import check_trace
from conformance.run_directory import RunDirectoryError
from conformance.spark_extra import at_first_use
from conformance.stages.beginning import EXAMINATION
from conformance.stages.examining import judge_examination

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow.parquet as pq

    from conformance.run_directory import RunDirectory
else:
    pq = at_first_use("pyarrow.parquet")


def judge_run(run: RunDirectory) -> Verdict:
    """Judge a run from its files and write verdict.json.

    Raises:
        RunDirectoryError: if the frozen prediction has changed, a file is missing, run.json contradicts what was
            frozen, or the tester ended before the run did.
    """
    about = run.read_json("run.json")
    if about.get("not_run"):
        _require_nothing_frozen(run, about)
        verdict = not_run(about["not_run"])
    else:
        run.check_frozen()
        _require_consistent(run, about)
        is_examination = about.get("kind") == EXAMINATION
        judged = judge_examination(run, about) if is_examination else judge(gather_facts(run, about))
        verdict = in_view_of(_accepted(about), _with_second_look(judged, about))
    run.write_json("verdict.json", as_json(verdict, about))
    return verdict


def _with_second_look(verdict: Verdict, about: dict[str, Any]) -> Verdict:
    """Add to a finding's reason what came of trying it again on a fresh cluster, if that was done."""
    look = about.get("second_look")
    if look is None or about.get("rules_of") or verdict.conformance is not Conformance.DEVIATES:
        return verdict
    return replace(verdict, reason=f"{verdict.reason}; {look['text']}")


def _require_nothing_frozen(run: RunDirectory, about: dict[str, Any]) -> None:
    """Refuse a run that is told not to have been run, although its prediction was frozen."""
    if "prediction" in about:
        raise RunDirectoryError(f"{run.path}: run.json says not_run, although a prediction was frozen")


def _require_consistent(run: RunDirectory, about: dict[str, Any]) -> None:
    """Refuse a run.json that has no end, or says another kind or release than what was frozen."""
    if about.get("finished") is None:
        raise RunDirectoryError(f"{run.path}: incomplete, the tester ended before the run did (no finish in run.json)")
    has_prediction = (run.path / "prediction/prediction.json").exists()
    if has_prediction == (about.get("kind") == EXAMINATION):
        raise RunDirectoryError(f"{run.path}: run.json says kind {about.get('kind')}, what was frozen is another")
    if has_prediction:
        _require_release(run, about)


def _require_release(run: RunDirectory, about: dict[str, Any]) -> None:
    frozen = run.read_json("prediction/prediction.json")
    said = about.get("rules_of") or about.get("kafka"), about.get("rules_metadata") or about.get("metadata")
    if said != (frozen.get("kafka"), frozen.get("metadata")):
        was = f"Kafka {frozen.get('kafka')} ({frozen.get('metadata')})"
        raise RunDirectoryError(f"{run.path}: run.json says Kafka {said[0]} ({said[1]}), predicted was {was}")


def _accepted(about: dict[str, Any]) -> AcceptedDeviation | None:
    if about.get("rules_of"):
        return None
    return accepted_deviation(about["kafka"], about["metadata"], about["scenario"])


def in_view_of(entry: AcceptedDeviation | None, verdict: Verdict) -> Verdict:
    """Return a verdict in view of the accepted deviation of its scenario, if there is one."""
    if entry is None:
        return verdict
    return against_expectation(verdict, f"{entry.issue}: {entry.reason}", entry.codes)


@contextmanager
def judged_if_interrupted(run: RunDirectory) -> Iterator[None]:
    """Write down, and judge, that the tester was made to end in the middle of a run; the interruption goes on."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        failure = {"kind": HarnessError.verdict, "message": INTERRUPTED}
        run.update_run(harness_failure=failure, finished=datetime.now(UTC).isoformat(timespec="seconds"))
        try:
            judge_run(run)
        except RunDirectoryError:
            judge_unreadable(run, INTERRUPTED)
        raise


def judge_unreadable(run: RunDirectory, why: str) -> Verdict:
    """Write and return the verdict of a run whose files cannot be judged."""
    verdict = Verdict(Conformance.HARNESS_ERROR, None, why)
    run.write_json("verdict.json", as_json(verdict, run.read_json("run.json")))
    return verdict


def gather_facts(run: RunDirectory, about: dict[str, Any]) -> Facts:
    """Read everything a verdict rests on; write reconciliation/checkpoints.json and trace_check.json on the way."""
    prediction = measured_prediction(run)
    failure = about.get("harness_failure")
    is_lost = bool(failure and failure.get("lost_node"))
    observations = observations_that_count(run)
    compared = _compared_checkpoints(prediction, observations)
    run.write_json(
        "reconciliation/checkpoints.json",
        [{"name": name, "rows": [row.as_json() for row in rows]} for name, rows in compared],
    )
    rows = [row for name, rows in compared for row in _named(name, rows)]
    rows += _outcome_rows(prediction, observations, is_complete=failure is None)
    rows += _end_offset_row(prediction, about)
    told = compare_broker_answers(prediction, observations, is_complete=failure is None)
    has_counts = (run.path / "reconciliation/counts.json").exists()
    return Facts(
        prediction=prediction,
        rows=rows,
        conflicts=epoch_conflicts(_epoch_pairs(run, prediction, observations)),
        counts=run.read_json("reconciliation/counts.json") if has_counts else None,
        samples=run.read_json("reconciliation/samples.json") if has_counts else {},
        interruption=_interruption(_in_view_of_races(failure, prediction, run), prediction, compared, about),
        trace=None if is_lost else check_trace(run),
        asked=compare_answers(run, is_complete=failure is None, told=told),
    )


def _in_view_of_races(
    failure: dict[str, Any] | None, prediction: dict[str, Any], run: RunDirectory
) -> dict[str, Any] | None:
    """Return what ended the run; where it ended by itself, awaiting one outcome of an open race, another one came."""
    if failure is None or not prediction.get("assumed") or _is_from_outside(failure):
        return failure
    started = [mark["step"] for mark in run.lines("timeline.ndjson") if mark["event"] == "step_started"]
    assumption = next((a["text"] for a in prediction["assumed"] if started[-1:] == [a["step"]]), None)
    if assumption is None:
        return failure
    message = f"the race ended otherwise: {assumption}; {failure['message']}"
    return {"kind": NeverAtRestError.verdict, "message": message}


def _is_from_outside(failure: dict[str, Any]) -> bool:
    """Say whether somebody ended the tester or a node: what was awaited then might have come."""
    return bool(failure.get("lost_node")) or failure["message"] == INTERRUPTED


def _interruption(
    failure: dict[str, Any] | None,
    prediction: dict[str, Any],
    compared: list[tuple[str, list[Row]]],
    about: dict[str, Any],
) -> tuple[str, str] | None:
    """Tell what ended the run early; what a whole run never measured is a failure of ours."""
    if failure is not None:
        return failure["kind"], failure["message"]
    measured = {name for name, _ in compared}
    missing = [f"checkpoint {c['name']}" for c in prediction["checkpoints"] if c["name"] not in measured]
    missing += ["where the topic ended before it was read"] if about.get("end_offset") is None else []
    return (HarnessError.verdict, f"never measured: {', '.join(missing)}") if missing else None


def _outcome_rows(prediction: dict[str, Any], observations: list[dict[str, Any]], *, is_complete: bool) -> list[Row]:
    """Compare outcomes; of a run that ended early only those that its producers learned."""
    outcomes = learned_outcomes(observations, is_complete=is_complete)
    return outcome_rows((r for r in prediction["records"] if is_complete or r["label"] in outcomes), outcomes)


def _compared_checkpoints(
    prediction: dict[str, Any], observations: list[dict[str, Any]]
) -> list[tuple[str, list[Row]]]:
    measured = {o["name"]: o for o in observations if o["kind"] == "checkpoint"}
    return [
        (checkpoint["name"], checkpoint_rows(checkpoint, measured[checkpoint["name"]]))
        for checkpoint in prediction["checkpoints"]
        if checkpoint["name"] in measured
    ]


def _named(name: str, rows: list[Row]) -> list[Row]:
    return [replace(row, what=f"{name}: {row.what}") for row in rows]


def _end_offset_row(prediction: dict[str, Any], about: dict[str, Any]) -> list[Row]:
    if about.get("end_offset") is None:
        return []
    last = prediction["steps"][-1]
    predicted = last["replicas"][str(last["leader"])]["high_watermark"]
    what = "leader's high watermark before the topic was read"
    return [Row(what, predicted, about["end_offset"], code="high_watermark")]


def _epoch_pairs(
    run: RunDirectory, prediction: dict[str, Any], observations: list[dict[str, Any]]
) -> list[tuple[int, int]]:
    measured = {o["name"]: o for o in observations if o["kind"] == "checkpoint"}
    pairs = [
        (c["leadership"], measured[c["name"]]["leader_epoch"])
        for c in prediction["checkpoints"]
        if c["name"] in measured and c["leader"] is not None and measured[c["name"]]["leader"] == c["leader"]
    ]
    predicted_logs = {
        (int(broker), entry["offset"]): entry for broker, log in prediction["logs"].items() for entry in log
    }
    base = run.read_json("run.json").get("record_id_base", 0)
    ids = {record["label"]: base + record["id"] for record in prediction["records"]}
    for path in sorted((run.path / "replica_logs").glob("*.parquet")):
        for row in pq.read_table(path).to_pylist():
            entry = predicted_logs.get((row["broker"], row["offset"]))
            if entry is not None and ids[entry["label"]] == row["record_id"]:
                pairs.append((entry["leadership"], row["leader_epoch"]))
    return pairs


def as_json(verdict: Verdict, about: dict[str, Any]) -> dict[str, Any]:
    """Return verdict.json."""
    return {
        "scenario": about.get("scenario"),
        "kafka": about.get("kafka"),
        "metadata": about.get("metadata"),
        "backend": about.get("backend"),
        "conformance": verdict.conformance.value,
        "promise": verdict.promise.value if verdict.promise else None,
        "reason": verdict.reason,
        "findings": [{"kind": f.kind, "text": f.text} for f in verdict.findings],
        "codes": list(verdict.codes),
        "losses": list(verdict.losses),
        "accepted": verdict.accepted,
        "seconds": about.get("seconds"),
    }
