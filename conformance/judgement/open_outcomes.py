"""Which of the outcomes that a prediction leaves open did the brokers take? The one that fits what was measured.

A schedule with an open race has several outcomes. All that was measured is held against one of them at a
time, so that checkpoints, producers' outcomes and logs must be those of the same one. The frozen
prediction stays as it is; the outcome that fits best is written to ``outcome/``, where the
reconciliation finds it, and whatever differs from that one is a deviation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.interruption import GIVEN_UP
from conformance.judgement.broker_answers import answer_rows
from conformance.judgement.comparison import Row, checkpoint_rows, learned_outcomes, outcome_rows
from conformance.judgement.prediction_files import write_tables
from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow.parquet as pq

    from conformance.run_directory import RunDirectory
else:
    pq = at_first_use("pyarrow.parquet")


def measured_prediction(run: RunDirectory) -> dict[str, Any]:
    """Return the frozen prediction; of one with open outcomes the outcome that fits what was measured.

    Its ``measured_outcome`` then says which one that is: number, how many there are, and the race.
    Predictions of format 1 leave nothing open.

    Raises:
        RunDirectoryError: a file is missing.
    """
    prediction = run.read_json("prediction/prediction.json")
    alternatives: list[dict[str, Any]] = prediction.get("alternatives") or []
    if not alternatives:
        return prediction
    misfits = [sum(not row.agrees for row in _rows(run, alternative)) for alternative in alternatives]
    index = misfits.index(min(misfits))
    chosen = alternatives[index]
    which = {"number": index + 1, "of": len(alternatives), "race": chosen["race"]}
    return {**prediction, **chosen, "measured_outcome": which}


def write_measured_outcome(run: RunDirectory) -> None:
    """Write the outcome that fits to ``outcome/``, for the reconciliation and the report; nothing if none is open.

    Raises:
        RunDirectoryError: a file is missing, or the frozen prediction has changed.
    """
    run.check_frozen()
    prediction = measured_prediction(run)
    if "measured_outcome" not in prediction:
        return
    run.write_json("outcome/prediction.json", prediction)
    write_tables(run.path / "outcome", prediction, run.read_json("run.json").get("record_id_base", 0))


def _rows(run: RunDirectory, alternative: Mapping[str, Any]) -> Iterator[Row]:
    observations = observations_that_count(run)
    checkpoints = {o["name"]: o for o in observations if o["kind"] == "checkpoint"}
    for checkpoint in alternative["checkpoints"]:
        if checkpoint["name"] in checkpoints:
            yield from checkpoint_rows(checkpoint, checkpoints[checkpoint["name"]])
    is_complete = run.read_json("run.json").get("harness_failure") is None
    learned = learned_outcomes(observations, is_complete=is_complete)
    outcomes = {label: outcome for label, outcome in learned.items() if outcome["error"] != GIVEN_UP}
    yield from outcome_rows((r for r in alternative["records"] if r["label"] in outcomes), outcomes)
    yield from answer_rows(alternative, observations)
    yield from _log_rows(run, alternative)


def observations_that_count(run: RunDirectory) -> list[dict[str, Any]]:
    """Return a run's observations; if a node was lost, only those of steps that ended with every node alive.

    What came later may be the lost node's doing.
    """
    observations = run.lines("observations.ndjson")
    failure = run.read_json("run.json").get("harness_failure")
    if not (failure and failure.get("lost_node")):
        return observations
    finished = {mark["step"] for mark in run.lines("timeline.ndjson") if mark["event"] == "step_finished"}
    return [seen for seen in observations if seen["step"] in finished]


def _log_rows(run: RunDirectory, alternative: Mapping[str, Any]) -> Iterator[Row]:
    base = run.read_json("run.json").get("record_id_base", 0)
    ids = {record["label"]: base + record["id"] for record in alternative["records"]}
    measured: dict[int, list[int]] = {}
    for path in sorted((run.path / "replica_logs").glob("*.parquet")):
        for row in sorted(pq.read_table(path).to_pylist(), key=lambda row: int(row["offset"])):
            measured.setdefault(row["broker"], []).append(row["record_id"])
    for broker, log in measured.items():
        predicted = [ids[entry["label"]] for entry in alternative["logs"][str(broker)]]
        yield Row(f"log of broker {broker}", predicted, log)
