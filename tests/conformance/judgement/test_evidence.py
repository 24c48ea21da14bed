"""Each piece of evidence that was seen to go missing without a word, by its number in the review: it is told now.

The digests are renewed after each change: what speaks is the story that the files no longer tell together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.record.digests import check_digests, write_digests
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.prediction import freeze
from conformance.record.verdict import Conformance, PromiseKept
from conformance.stages.judging import UNBOUND, judge_run
from tests.conformance.judgement.doctorings import Rows, read_rows, write_rows
from tests.conformance.judgement.recorded_runs import names, unpacked
from tests.conformance.run_files import change_run, judged

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOST, KEPT, DELETED, HELD = "0.10.2.2-tr-01", "4.4.0-tr-01", "4.4.0-rm-06-deleted", "4.4.0-regressions-kafka-7128"
CUT_OFF, FORGOT = "4.4.0-le-05-leader-kraft", "4.4.0-hw-13-shorter-log"
NAMED = "4.4.0-le-05-leader-kraft-log"
OTHER = {"broker": 3, "path": "t-0/00000000000000000000.log", "offset": 2}
ELSEWHERE = {
    "connection": 68,
    "api": "replication",
    "correlation_id": -1,
    "direction": "request",
    "offset": None,
    "at_ns": 1,
}
LOST_NODE, NOT_RUN = "4.4.0-tr-02-lost-node", "0.10.2.2-le-05-leader-kraft-not-run"
ASKED = "4.4.0-el-06-deleted-topic"
AWAITED = "0.10.2.2-hw-03"
OF_OLD = "0.10.2.2-regressions-kafka-7164-format-1"
TIMELINE, SEEN, WIRE = "timeline.ndjson", "observations.ndjson", "wire.ndjson"
ATTEMPTS, OUTCOMES, TOPIC, LOGS = "ledger/attempts", "ledger/outcomes", "topic/part", "replica_logs/replica_logs"
Change = tuple[str, "Callable[[Rows], Rows]"]


def without(**wanted: Any) -> Callable[[Rows], Rows]:  # noqa: ANN401 - JSON values
    """Return rows without those that say this."""

    def change(rows: Rows) -> Rows:
        kept = [row for row in rows if any(row.get(name) != value for name, value in wanted.items())]
        assert len(kept) < len(rows), "nothing was doctored"
        return kept

    return change


def changed(at: int, **fields: Any) -> Callable[[Rows], Rows]:  # noqa: ANN401 - JSON values
    """Return rows of which one says something else."""
    return lambda rows: [row | fields if i == at % len(rows) else row for i, row in enumerate(rows)]


def _probes(rows: Rows) -> list[int]:
    return [index for index, row in enumerate(rows) if row["kind"] == "numbers"]


def _fallen(rows: Rows) -> Rows:
    """Let the high watermark of the leader have fallen at the last probe between checkpoints."""
    at = _probes(rows)[-1]
    seen = rows[at]
    leader = str(seen["leader"])
    lower = seen["replicas"][leader] | {"high_watermark": 0}
    return changed(at, replicas=seen["replicas"] | {leader: lower})(rows)


def _other_leader(rows: Rows) -> Rows:
    at = _probes(rows)[1]
    return changed(at, leader=3 - rows[at]["leader"])(rows)


def _other_isr(rows: Rows) -> Rows:
    return changed(_probes(rows)[1], isr=[2])(rows)


def _wrong_checkpoint_first(rows: Rows) -> Rows:
    at = next(index for index, row in enumerate(rows) if row["kind"] == "checkpoint")
    return [*rows[:at], rows[at] | {"leader": 99}, *rows[at:]]


def _never_settled(rows: Rows) -> Rows:
    return [row | {"settled": False} if row["kind"] == "checkpoint" else row for row in rows]


def _cut_wire(rows: Rows) -> Rows:
    kept, end = rows[: len(rows) // 3], rows[-1]
    return [*kept, end | {"lines": len(kept), "next_seq": max(row["seq"] for row in kept) + 1}]


def _answer_dropped(rows: Rows) -> Rows:
    at = [i for i, row in enumerate(rows[:-1]) if (row["api"], row["direction"]) == ("Fetch", "response")][-4]
    return changed(at, outcome="dropped", forwarded_ns=None)(rows)


def _never_held(rows: Rows) -> Rows:
    return [row if row.get("hold") is None or row["outcome"] == "held" else row | {"hold": None} for row in rows]


def of_marks(event: str, fault: int | None = None, /, **fields: Any) -> Callable[[Rows], Rows]:  # noqa: ANN401 - JSON
    """Return rows of which the marks of an event say something else."""

    def change(rows: Rows) -> Rows:
        found = [row["event"] == event and fault in (None, row.get("number")) for row in rows]
        assert any(found), "nothing was doctored"
        return [row | fields if is_one else row for row, is_one in zip(rows, found, strict=True)]

    return change


def _process(broker: int, signal: int | None = 9) -> dict[str, Any]:
    return {"broker": broker, "exit_code": 137, "signal": signal, "is_paused": False}


PAUSED = {"broker": 2, "exit_code": None, "signal": None, "is_paused": True}
ASKED_TO = {"broker": 2, "exit_code": 143, "signal": 15, "is_paused": False}


def _of_no_step(rows: Rows) -> Rows:
    """Let every outcome have been known between the steps."""
    return [row | {"step": None} if row["kind"] == "outcome" else row for row in rows]


def _of_broker_3(rows: Rows) -> Rows:
    """Let every question have been answered by a broker that has no replica."""
    return [row | {"broker": 3} if row["kind"] == "answer" else row for row in rows]


def _without_the_second(rows: Rows) -> Rows:
    """Let an isolation in KRaft have lost one of its two faults."""
    return [row | {"number": 1} if row.get("number") == 1 else row for row in rows if row.get("number") != 2]


def _cut_replication(rows: Rows) -> Rows:
    """Take away every frame between brokers after the last probe, some 500 of all; the metadata log is fetched on."""
    end = rows[-1]
    kept = [r for r in rows[:-1] if r["link"] != "replication" or r["seq"] <= end["next_seq"] - 514]
    numbers = {old: end["first_seq"] + i for i, old in enumerate(sorted({row["seq"] for row in kept}))}
    last = {"lines": len(kept), "next_seq": end["first_seq"] + len(numbers)}
    return [*(row | {"seq": numbers[row["seq"]]} for row in kept), end | last]


def _released_elsewhere(rows: Rows) -> Rows:
    """Let a hold have been let go two steps before its step."""
    at = next(i for i, row in enumerate(rows) if row["event"] in ("hold_released", "hold_dropped"))
    return [row | {"step": row["step"] - 2} if i == at else row for i, row in enumerate(rows)]


def _failed(**fields: Any) -> Callable[[Rows], Rows]:  # noqa: ANN401 - JSON values
    return lambda rows: [rows[0] | {"harness_failure": rows[0]["harness_failure"] | fields}]


def _shorter(rows: Rows) -> Rows:
    """Let a log be predicted without its last entry."""
    logs = rows[0]["logs"]
    return [rows[0] | {"logs": {broker: log[:-1] for broker, log in logs.items()}}]


CASES: list[tuple[str, str, Change, str]] = [
    ("E1 no timeline", KEPT, (TIMELINE, lambda _: []), "step 1 (produce) started"),
    ("E1 a step", KEPT, (TIMELINE, without(step=3)), "step 4 (await_hold) started"),
    ("E1 a kill", KEPT, (TIMELINE, without(event="broker_killed", step=5)), "broker killed 2 in step 6"),
    ("E1 a start", KEPT, (TIMELINE, without(event="broker_started", step=8)), "broker started 2 in step 9"),
    ("E1 a caught hold", KEPT, (TIMELINE, without(event="hold_caught", subject="gap")), "hold 'gap' was not armed, ca"),
    ("E1 a fault's proof", KEPT, (TIMELINE, without(event="fault_fired", number=2)), "fault 2 was not armed, fired"),
    ("E1 all after step 10", KEPT, (TIMELINE, lambda rows: [r for r in rows if (r.get("step") or 0) < 10]), "step 11"),
    ("E1 steps of the schedule", KEPT, ("schedule.json", lambda r: [r[0] | {"steps": r[0]["steps"][:-2]}]), "steps"),
    ("E2 the probes", KEPT, (SEEN, without(kind="numbers")), "step 1 was measured 0 times"),
    ("E2 a high watermark fell", KEPT, (SEEN, _fallen), "high watermark"),
    ("E2 another leader", KEPT, (SEEN, _other_leader), "leader: predicted 1, measured 2"),
    ("E2 another ISR", KEPT, (SEEN, _other_isr), "isr: predicted [1, 2], measured [2]"),
    ("E2 a wrong checkpoint first", KEPT, (SEEN, _wrong_checkpoint_first), "was measured 2 times"),
    ("E2 never settled", KEPT, (SEEN, _never_settled), "never settled"),
    ("E3 where the topic ended", LOST, ("run.json", changed(0, end_offset=None)), "where the topic ended"),
    ("E3 the last acknowledged record", KEPT, (TOPIC, lambda rows: rows[:-1]), "is not the log of its leader"),
    ("E4 a frame not decoded", KEPT, ("run.json", changed(0, undecodable_frames=5)), "5 frames that nobody could"),
    ("E4 the user's settings", KEPT, ("run.json", changed(0, settings={"user": {}, "imposed": {}})), "settings.user"),
    ("E4 the topic's id", KEPT, ("run.json", changed(0, topic_id="00000000-0000-0000-0000-00000000000a")), "topic id"),
    (
        "E4 the first record's id",
        KEPT,
        ("run.json", changed(0, record_id_base=1)),
        "prediction.json and records.parquet beside it differ",
    ),
    ("E4 the release", KEPT, ("run.json", changed(0, kafka="4.3.1")), "predicted was Kafka 4.4.0"),
    ("E4 the kind", KEPT, ("run.json", changed(0, kind="examination")), "says kind examination"),
    ("E5 a leader by name", NAMED, (TIMELINE, of_marks("record_sent", None, leader=3)), "than in step 8 is asked for"),
    ("E5 acks", KEPT, (ATTEMPTS, changed(0, acks=1)), "the attempt of m0 is another than step 1 makes"),
    ("E5 the topic of an attempt", KEPT, (ATTEMPTS, changed(0, topic="other")), "the attempt of m0 is another"),
    ("E5 a label", KEPT, (ATTEMPTS, changed(0, label="mx")), "mx was attempted, and no step sends it"),
    ("E5 a step", KEPT, (ATTEMPTS, changed(0, step=4)), "the attempt of m0 is another than step 1 makes"),
    ("E5 attempted late", KEPT, (ATTEMPTS, changed(0, attempted_ns=2**62)), "in this order"),
    ("E5 attempted twice", KEPT, (ATTEMPTS, lambda rows: [rows[0], *rows]), "the attempt of m0 is there 2 times"),
    ("E5 completed twice", KEPT, (OUTCOMES, lambda rows: [rows[0], *rows]), "is there 2 times"),
    ("E5 never attempted", KEPT, (ATTEMPTS, lambda rows: rows[1:]), "m0 has an outcome, and no attempt"),
    ("E5 an offset", KEPT, (OUTCOMES, changed(0, offset=None)), "m0 was acknowledged without an offset"),
    ("E5 another partition", KEPT, (TOPIC, changed(0, partition=3)), "a record in partition 3"),
    ("E5 a row twice", KEPT, (LOGS, lambda rows: [*rows, rows[0]]), "is not every offset up to"),
    ("E6 the end of the wire", KEPT, (WIRE, _cut_wire), "the wire trace"),
    ("E6 an answer that was dropped", KEPT, (WIRE, _answer_dropped), "was dropped, and no step"),
    ("E6 a hold that never was", HELD, (WIRE, _never_held), "the wire trace does not show"),
    ("E8 answers nobody asked", KEPT, ("answers.ndjson", lambda _: [{"what": "x", "value": 1}]), "nobody asked: x"),
    ("E8 the requirement", KEPT, ("run.json", changed(0, requirement="Nothing is kept.")), "says requirement"),
    (
        "a fault of another broker",
        KEPT,
        (TIMELINE, of_marks("fault_fired", 2, processes=[_process(3)])),
        "other brokers",
    ),
    ("a fault without proof", KEPT, (TIMELINE, of_marks("fault_fired", 2, processes=None)), "has no proof"),
    ("a process that did not end", KEPT, (TIMELINE, of_marks("fault_fired", 2, processes=[_process(2, None)])), "both"),
    ("a kill that paused", KEPT, (TIMELINE, of_marks("fault_fired", 2, processes=[PAUSED])), "proves another fault"),
    ("a kill that asked", KEPT, (TIMELINE, of_marks("fault_fired", 2, processes=[ASKED_TO])), "proves another fault"),
    ("healed after the steps", CUT_OFF, (TIMELINE, of_marks("fault_healed", None, step=None)), "healed no fault"),
    ("an outcome of no step", AWAITED, (SEEN, _of_no_step), "waits for outcomes that were not observed"),
    ("an answer of another broker", CUT_OFF, (SEEN, _of_broker_3), "by broker 3, which it does not ask"),
    ("a line of the wire", KEPT, (WIRE, lambda rows: [*rows, {}, rows[-1]]), "wire.ndjson cannot be read"),
    ("another fault", KEPT, (TIMELINE, of_marks("fault_armed", 2, subject="stop")), "step 6 (kill) injected 2 stop"),
    ("another number", KEPT, (TIMELINE, of_marks("fault_armed", 2, number=3)), "fault 3 was not armed"),
    (
        "healed elsewhere",
        KEPT,
        (TIMELINE, of_marks("fault_healed", 2, step=13)),
        "in a step that does not take it back",
    ),
    ("an isolation's second fault", CUT_OFF, (TIMELINE, _without_the_second), "step 2 (isolate) injected 1 isolate"),
    ("another connection", CUT_OFF, (TIMELINE, of_marks("fault_fired", 1, frame=ELSEWHERE)), "proven by a connection"),
    (
        "a file of another broker",
        FORGOT,
        (TIMELINE, of_marks("fault_fired", 2, file=OTHER)),
        "a file of another broker",
    ),
    (
        "a tail at another offset",
        FORGOT,
        (TIMELINE, of_marks("tail_lost", offset=1)),
        "another than in step 5 is asked",
    ),
    ("the end of replication", CUT_OFF, (WIRE, _cut_replication), "the wire trace ends before broker"),
    ("a hold let go elsewhere", HELD, (TIMELINE, _released_elsewhere), "in step"),
    ("lines out of order", KEPT, (SEEN, lambda rows: [rows[1], rows[0], *rows[2:]]), "not in the order of time"),
    ("E10 not somebody else's doing", LOST_NODE, ("run.json", _failed(lost_node=False)), "whether a node was lost"),
    ("E10 the brokers' doing", LOST_NODE, ("run.json", _failed(kind="DEVIATES")), "whether a node was lost"),
    ("E10 nobody's doing", LOST_NODE, ("run.json", changed(0, harness_failure=None)), "never measured"),
    ("the seed", KEPT, ("run.json", changed(0, seed=1)), "ids of records of another one"),
    ("another run's name", KEPT, ("run.json", changed(0, run="20260101T000000-4.4.0-kraft-tr-01")), "says topic tr-01"),
    ("another scenario", KEPT, ("run.json", changed(0, scenario="TR-02")), "which is none of TR-02"),
    ("the controller", KEPT, ("run.json", changed(0, controller=7)), "which no frame knows"),
    ("an environment", KEPT, ("run.json", changed(0, environment=None)), "does not say environment"),
    ("the time it took", KEPT, ("run.json", changed(0, seconds=1.0)), "how long the run took in two ways"),
    ("fetch sessions", KEPT, ("schedule.json", changed(0, fetch_sessions=False)), "fetched in sessions, or did not"),
    ("an option", KEPT, ("run.json", changed(0, no_fetch_sessions=True)), "fetched in sessions, or did not"),
    (
        "the wait of a fetch",
        KEPT,
        ("schedule.json", changed(0, fetch_wait_max_ms=7)),
        "says replica.fetch.wait.max.ms 100",
    ),
    (
        "a log that was predicted",
        KEPT,
        ("prediction/prediction.json", _shorter),
        "and replica_logs.parquet beside it differ",
    ),
    ("the seed of an examination", ASKED, ("run.json", changed(0, seed=1)), "ids of records of another one"),
    ("the scenario of a run that was not", NOT_RUN, ("run.json", changed(0, scenario="X")), "which is none of X"),
    ("E11 no end", KEPT, ("run.json", changed(0, finished=None)), "incomplete, the tester ended"),
    ("E12 not run", KEPT, ("run.json", changed(0, not_run="no")), "says not_run"),
]


def told_of(run: RunDirectory) -> tuple[Conformance, str]:
    """Return a verdict with everything that it says, a refusal as the harness error that it is told as."""
    try:
        verdict = judged(run)
    except RunDirectoryError as refused:
        return Conformance.HARNESS_ERROR, str(refused)
    return verdict.conformance, "; ".join([verdict.reason, *(finding.text for finding in verdict.findings)])


@pytest.mark.parametrize("name", names())
def test_a_recorded_run_is_whole(tmp_path: Path, name: str) -> None:
    run = unpacked(name, tmp_path)
    check_digests(run)
    expected = {"interrupted": Conformance.HARNESS_ERROR, "node": Conformance.HARNESS_ERROR, "run": Conformance.NOT_RUN}
    verdict = judge_run(run)

    assert verdict.conformance is expected.get(name.rpartition("-")[2], Conformance.CONFORMS)
    assert "evidence incomplete" not in verdict.reason


@pytest.mark.parametrize(("case", "name", "change", "words"), CASES, ids=[case[0] for case in CASES])
def test_what_went_missing_is_told(tmp_path: Path, case: str, name: str, change: Change, words: str) -> None:
    run = unpacked(name, tmp_path)
    file, doctor = change
    write_rows(run, file, doctor(read_rows(run, file) if (run.path / file).exists() or "/" in file else []))
    if file.startswith("prediction"):
        freeze(run)
    conformance, told = told_of(run)

    assert conformance in (Conformance.HARNESS_ERROR, Conformance.DEVIATES), case
    assert words in told


def test_e4_an_interruption_cannot_be_removed(tmp_path: Path) -> None:
    run = unpacked("4.4.0-tr-03-interrupted", tmp_path)
    change_run(run, harness_failure=None)
    conformance, told = told_of(run)

    assert conformance is not Conformance.CONFORMS
    assert "never measured" in told


def test_what_could_not_be_healed_was_armed_and_fired(tmp_path: Path) -> None:
    run = unpacked(KEPT, tmp_path)
    change_run(run, not_healed="broker 2 does not start")
    write_rows(run, TIMELINE, without(event="fault_healed")(read_rows(run, TIMELINE)))
    assert "fault" not in told_of(run)[1]

    write_rows(run, TIMELINE, without(event="fault_fired", number=2)(read_rows(run, TIMELINE)))
    assert "fault 2 was not armed, fired" in told_of(run)[1]


def test_e7_a_lost_record_cannot_be_put_back(tmp_path: Path) -> None:
    run = unpacked(LOST, tmp_path)
    first = read_rows(run, TOPIC)[0]
    m1 = read_rows(run, ATTEMPTS)[1]["record_id"]
    write_rows(run, TOPIC, [*read_rows(run, TOPIC), first | {"offset": 2, "record_id": m1}])
    conformance, told = told_of(run)

    assert conformance is Conformance.HARNESS_ERROR
    assert "is not the log of its leader" in told


@pytest.mark.parametrize("name", ["run.json", "schedule.json", "prediction/prediction.json"])
def test_e9_half_a_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    run = unpacked(KEPT, tmp_path)
    content = (run.path / name).read_bytes()
    (run.path / name).write_bytes(content[: len(content) // 2])

    with pytest.raises(RunDirectoryError, match=r"cannot be read|has changed"):
        judge_run(run)


@pytest.mark.parametrize("file", [TIMELINE, SEEN, WIRE, "schedule.json", ATTEMPTS, TOPIC, LOGS])
def test_a_file_that_has_changed_is_refused_by_name(tmp_path: Path, file: str) -> None:
    run = unpacked(KEPT, tmp_path)
    rows = read_rows(run, file)
    write_rows(run, file, [rows[0] | {"id": "x"}] if file == "schedule.json" else [*rows, rows[-1]])

    with pytest.raises(RunDirectoryError, match=rf"{file.partition('/')[0]} has changed since the run ended"):
        judge_run(run)


def test_a_run_of_format_2_needs_its_digests(tmp_path: Path) -> None:
    run = unpacked(KEPT, tmp_path)
    change_run(run, evidence=None)
    with pytest.raises(RunDirectoryError, match=r"has no digests .* run it again"):
        judge_run(run)

    write_digests(run)
    change_run(run, requirement="Nothing is kept.")
    with pytest.raises(RunDirectoryError, match=r"run\.json has changed"):
        judge_run(run)


def test_a_run_of_format_1_is_judged_and_the_verdict_says_what_was_not_checked(tmp_path: Path) -> None:
    verdict = judge_run(unpacked(OF_OLD, tmp_path))

    assert (verdict.conformance, verdict.promise) == (Conformance.CONFORMS, PromiseKept.BROKEN_AS_PREDICTED)
    assert verdict.reason.endswith(UNBOUND)


def test_digests_are_not_turned_off_by_naming_format_1(tmp_path: Path) -> None:
    run = unpacked(KEPT, tmp_path)
    (about,) = read_rows(run, "run.json")
    write_rows(run, "run.json", [about | {"format": 1, "evidence": None}])
    with pytest.raises(RunDirectoryError, match=r"it says format 1, and run\.json has build"):
        judge_run(run)

    of_old = {name: value for name, value in about.items() if name not in ("build", "label", "evidence")}
    write_rows(run, "run.json", [of_old | {"format": 1}])
    with pytest.raises(RunDirectoryError, match=r"it says format 1, and timeline\.ndjson tells more"):
        judge_run(run)


def test_a_fault_that_could_not_be_healed_is_no_gap_where_run_json_says_so(tmp_path: Path) -> None:
    run = unpacked(LOST, tmp_path)
    write_rows(run, TIMELINE, without(event="fault_healed")(read_rows(run, TIMELINE)))

    assert judged(run).conformance is Conformance.HARNESS_ERROR
    change_run(run, not_healed="broker 1 did not start again")
    assert judged(run).conformance is Conformance.CONFORMS
